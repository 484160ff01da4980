//! Commands that are written for a shell of Windows.

use onloop_effect::Shell;

use super::{Shape, outside_quotes, words};

/// Programs and built-in commands of cmd that have no namesake elsewhere.
const CMD: [&str; 16] = [
    "attrib", "cls", "chcp", "copy", "del", "erase", "findstr", "icacls", "md", "rd", "ren",
    "robocopy", "schtasks", "taskkill", "tasklist", "xcopy",
];

/// The first part of `command` that a POSIX shell does not understand, and the shell that does.
pub(crate) fn windows_part(command: &str) -> Option<(&str, Shell)> {
    // The lines of a heredoc are not commands.
    if command.contains("<<") {
        return None;
    }
    Shape::of(command).pieces.iter().find_map(|(_, piece)| in_piece(piece))
}

/// The first path on a drive that not every Windows has.
pub(super) fn drive_path(command: &str) -> Option<&str> {
    let everywhere = |path: &str| {
        let lower = path.trim_start_matches(['"', '\'']).to_ascii_lowercase();
        ["c:\\windows", "c:\\program"].iter().any(|known| lower.starts_with(known))
    };
    let pieces = Shape::of(command).pieces;
    pieces
        .iter()
        .flat_map(|(_, piece)| words(piece))
        .find(|word| is_drive_path(word) && !everywhere(word))
}

fn in_piece(piece: &str) -> Option<(&str, Shell)> {
    let mut each = words(piece);
    let first = each.next()?;
    let second = each.next().unwrap_or_default();
    let is = |word: &str, known: &str| word.eq_ignore_ascii_case(known);
    if is_powershell(first) {
        return Some((first, Shell::Pwsh));
    }
    let lower = first.to_ascii_lowercase();
    let is_cmd = CMD.contains(&lower.as_str())
        || [".bat", ".cmd"].iter().any(|end| lower.ends_with(end))
        || (lower == "cd" && is(second, "/d"))
        || (lower == "if" && ["exist", "errorlevel"].iter().any(|known| is(second, known)));
    if is_cmd {
        let both = lower == "cd" || lower == "if";
        let end = if both { second } else { first };
        let from = first.as_ptr() as usize - piece.as_ptr() as usize;
        let to = end.as_ptr() as usize - piece.as_ptr() as usize + end.len();
        return Some((&piece[from..to], Shell::Cmd));
    }
    let bare = outside_quotes(piece);
    words(piece).find_map(|word| {
        if is_drive_path(word) || is_null_device(word) {
            return Some((word, Shell::Cmd));
        }
        let (name, shell) = variable(word)?;
        bare.contains(name).then_some((word, shell))
    })
}

/// `.\gradlew` and `Select-String`: bash drops the backslash or finds no program.
fn is_powershell(word: &str) -> bool {
    if word.starts_with(".\\") {
        return true;
    }
    let pascal = |word: &str| {
        word.len() > 1
            && word.as_bytes()[0].is_ascii_uppercase()
            && word.as_bytes()[1].is_ascii_lowercase()
            && word.bytes().all(|byte| byte.is_ascii_alphabetic())
    };
    word.split_once('-').is_some_and(|(verb, noun)| pascal(verb) && pascal(noun))
}

/// `e:\app`, of which bash removes the backslash. Between quotes, two folders tell a path from a
/// pattern such as `a:\s`.
fn is_drive_path(word: &str) -> bool {
    let bare = word.trim_start_matches(['"', '\'']);
    let [drive, b':', b'\\', path @ ..] = bare.as_bytes() else { return false };
    let in_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-. ".contains(byte);
    let name = path.iter().take_while(|byte| in_name(byte)).count();
    let is_quoted = bare.len() != word.len();
    drive.is_ascii_alphabetic() && name > 1 && (!is_quoted || path.get(name) == Some(&b'\\'))
}

/// `>nul`, which bash takes for a file.
fn is_null_device(word: &str) -> bool {
    word.trim_start_matches(['1', '2']).eq_ignore_ascii_case(">nul")
}

/// The variable of `%PATH%` or `$env:PATH`.
fn variable(word: &str) -> Option<(&str, Shell)> {
    const POWERSHELL: &str = "$env:";
    if word.contains(POWERSHELL) {
        return Some((POWERSHELL, Shell::Pwsh));
    }
    let (_, rest) = word.split_once('%')?;
    let (name, _) = rest.split_once('%')?;
    let is_name = |byte: u8| byte.is_ascii_uppercase() || byte == b'_';
    // `date +%Y%m` is a format.
    let is_variable = name.len() > 2 && name.bytes().all(is_name) && !word.starts_with('+');
    is_variable.then_some((name, Shell::Cmd))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_only_windows_understands() {
        let table = [
            (
                r"cd /d e:\projects\app && gradlew.bat test -q 2>&1 | findstr /C:x",
                "cd /d",
                Shell::Cmd,
            ),
            ("gradlew.bat test", "gradlew.bat", Shell::Cmd),
            ("npm.cmd test", "npm.cmd", Shell::Cmd),
            (r"npm test && del build\x", "del", Shell::Cmd),
            ("dotnet test | findstr /C:x", "findstr", Shell::Cmd),
            ("if exist out.txt (exit 0)", "if exist", Shell::Cmd),
            ("make test >nul 2>&1", ">nul", Shell::Cmd),
            ("make 2>NUL", "2>NUL", Shell::Cmd),
            (r"python e:\app\test.py", r"e:\app\test.py", Shell::Cmd),
            (r#"python "E:\my_app\test.py""#, r#""E:\my_app\test.py""#, Shell::Cmd),
            (r"python %USERPROFILE%\x.py", r"%USERPROFILE%\x.py", Shell::Cmd),
            (r".\gradlew.bat test", r".\gradlew.bat", Shell::Pwsh),
            ("Get-ChildItem -Path out", "Get-ChildItem", Shell::Pwsh),
            ("type x | Select-String y", "Select-String", Shell::Pwsh),
            ("test $env:CI -eq 1", "$env:CI", Shell::Pwsh),
        ];
        for (command, part, shell) in table {
            assert_eq!(windows_part(command), Some((part, shell)), "{command}");
        }
        for command in [
            "npm test",
            "cd sub && ./gradlew test",
            "grep -q 'del; copy x' f",
            r"grep -E 'a:\s+b' f",
            r#"grep -E "a:\w\d" f"#,
            "date +%Y%m%d",
            "date +%FT%T%Z%ABC%",
            "git log --format=%H%n%an",
            "grep '%PATH%' f",
            "if test -f x; then make; fi",
            "make >null",
            "curl http://a:80/b",
            "python3 - <<E\ndel x\nE",
            "scp a:b c:d",
        ] {
            assert_eq!(windows_part(command), None, "{command}");
        }
    }
}
