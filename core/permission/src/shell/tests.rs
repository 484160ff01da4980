use super::*;

/// The words of every command, one command a line, `…` for what is not literal.
fn commands(text: &str) -> String {
    let script = read(text);
    assert_eq!(script.unparsed, None, "{text}");
    let word = |word: &Word| word.as_literal().unwrap_or("…").to_owned();
    let line = |simple: &Simple| simple.words.iter().map(word).collect::<Vec<_>>().join(" ");
    let lines = script.commands.iter().filter(|s| !s.words.is_empty()).map(line);
    lines.collect::<Vec<_>>().join("; ")
}

#[test]
fn commands_are_found_wherever_they_hide() {
    for (text, expected) in [
        ("a b", "a b"),
        ("a;b&&c||d|e&f\ng", "a; b; c; d; e; f; g"),
        ("(a; b) | { c; d; }", "a; b; c; d"),
        ("if a; then b; elif c; then d; else e; fi", "a; b; c; d; e"),
        ("while a; do b; done; until c; do d; done", "a; b; c; d"),
        ("for x in 1 $(a); do b; done", "a; b"),
        ("case $(a) in x|y) b;; (*) c;& z) d; esac", "a; b; c; d"),
        ("f() { a; }; function g { b; }; f", "a; b; f"),
        (
            "echo $(a) `b` <(c) ${x:-$(d)} \"$(e \"$(f)\")\"",
            "a; b; c; d; f; e …; echo … … /dev/fd/63 … …",
        ),
        ("echo '$(a)' \\$\\(b\\) \"\\$(c)\"", "echo $(a) $(b) $(c)"),
        ("x=$(a) b; y=(1 $(c)); d", "a; b; c; d"),
        ("a > $(b) 2>&1 < <(c) <<< \"$(d)\"", "b; c; d; a"),
        ("cat <<E\n$(a) `b` $x \\$(c)\nE\nd", "cat; a; b; d"),
        ("cat <<'E' <<-\"F\"\n$(a)\nE\n\t$(b)\n\tF\nc", "cat; c"),
        ("a $((1 + $(b))) $((2))", "b; a … …"),
        ("$((a) | (b))", "a; b; …"),
        ("[[ -f $(a) && x =~ (y|z) ]] && b", "a; b"),
        ("! a; time -p b; coproc c", "a; b; c"),
        ("a # $(b)\nc#d", "a; c#d"),
        ("a \\\n b\\\nc", "a bc"),
        ("$'\\x72\\155' $\"x\" r\"\"m ''rm \\rm", "rm x rm rm rm"),
        ("{ a; } > x; (b) 2>&1", "a; b"),
        // Lines are joined first.
        ("\"$\\\n(a)\"", "a; …"),
        ("$\\\n(a)", "a; …"),
        ("$(\\\n(1)\\\n) a", "… a"),
        ("a $((1 + \\\n$(b)))", "b; a …"),
        ("i\\\nf a; th\\\nen b; fi", "a; b"),
        ("a &\\\n& b |\\\n| c", "a; b; c"),
        ("A\\\n=x a; f\\\n() { b; }", "a; b"),
        ("a 'b\\\nc' # \\\nd", "a b\\\nc; d"),
        ("cat <<'E'\n$\\\n(a)\nE\nb", "cat; b"),
        ("cat <<E\n$\\\n(a)\nE\nb", "cat; a; b"),
        ("`: # \\\na`", ":; …"),
        // Quotes within `${…}`.
        ("a ${x-$'\\''}; b #'}", "a …; b"),
        ("\"${x-'$(a)'}\" \"${x:-\"b c\"}\"", "a; … …"),
        ("a ${x-`echo \\\"; b #\\\"`}", "echo \"; b; a …"),
    ] {
        assert_eq!(commands(text), expected, "{text}");
    }
}

#[test]
fn what_is_not_understood_is_refused() {
    for text in [
        "'",
        "\"",
        "`",
        "$(",
        "${x",
        "$((1)",
        "(a",
        "{ a",
        "a)",
        "if a; then b",
        "fi",
        "}",
        "a;;",
        "case x in",
        "case x in a",
        "for",
        "for x in <",
        "[[ a",
        "| a",
        "a |",
        "&& a",
        "a &&",
        "a >",
        "a \\",
        "cat <<E",
        "cat <<E\nx",
        "cat <<$x\n",
        "@(a)",
        "x=1(a)",
        "${ a; }",
        "$[1]",
        "$'\\xff'",
        "$'\\0'",
        "cat <<A $(cat <<B\nx\nA\nB\n)",
        "a ()",
        "f\"\"() { a; }",
        "A=(a)#b; c",
        "A=(a)b",
        "A=(a)'b'",
        "a \"${x#'\"'}\"; b } # \"",
        "a \"${x-'}'}\"",
        "a \"${x:-don't}\"",
        "a \"${x-$'\\''}\"; b #'}\"",
        "a $(cat <<'E'\nE) ; b #\nE\n)",
        "cat <<E\n`a \\\"; b #\\\"`\nE",
        "a $b{c,d}",
        "a {$b,c}d",
        "a {$,c}d",
        "a ~{b,c}",
        "${\\x}",
        "a[\"]=\"]=x; b; c=\" # \"",
        "a[ # ]; b",
        "a[x\\]=]=1",
        "a=([\"x\"]=1)",
        "a {b[$1]}<c",
        "a {PATH[0]}<c; b",
        "coproc A [[ x ]]",
        "coproc A { b; }",
        "coproc A if b; then c; fi",
        "coproc A (b)",
    ] {
        assert!(read(text).unparsed.is_some(), "{text:?}");
    }
}

#[test]
fn delimiters_spread_over_lines_end_the_document() {
    assert_eq!(commands("cat <<E\nx\\\nE\nE\na"), "cat; a");
    assert_eq!(commands("cat <<EF\nE\\\nF\na"), "cat; a");
    assert_eq!(commands("cat <<'EF'\nE\\\nF\nEF\na"), "cat; a");
}

#[test]
fn evaluations_that_can_hide_code_are_concerns() {
    for text in [
        "echo $((x))",
        "((x++))",
        "echo ${!x}",
        "echo ${x@P}",
        "echo ${x[y]}",
        "echo ${x:y}",
        "echo ${x:$1}",
        "echo ${x[$1]}",
        "echo ${@:$1}",
        "echo ${x\\\n@P}",
        "[[ $x -eq 1 ]]",
        "[[ -v x ]]",
        "a[x]=1",
        "a=([$1]=1)",
        "a=(1 [x]+=1)",
        "for ((i=0;;)); do a; done",
    ] {
        assert!(!read(text).concerns.is_empty(), "{text}");
    }
    for text in [
        "echo $((1+2))",
        "echo ${x}",
        "echo ${x:-y}",
        "echo ${x:0:2}",
        "[[ 1 -eq 2 ]]",
        "[[ -f x ]]",
        "a=([0]=x [a-z]*); a[1]=2",
    ] {
        assert!(read(text).concerns.is_empty(), "{text}");
    }
}

#[test]
fn a_quoted_list_is_as_many_words_as_it_has() {
    let quoted = |word: &str| {
        let script = read(&format!("echo \"{word}\""));
        let Word::Pieces(pieces) = &script.commands[0].words[1] else { panic!("{word}") };
        pieces.iter().all(|piece| match piece {
            Piece::Unknown { quoted, .. } => *quoted,
            _ => true,
        })
    };
    for word in ["$@", "${@}", "${a[@]}", "${a[@]:1}", "${!x@}", "x${@:2}y"] {
        assert!(!quoted(word), "{word}");
    }
    for word in ["$*", "${#a[@]}", "${x#*@}", "$1", "${a[1]}", "${a[*]}"] {
        assert!(quoted(word), "{word}");
    }
}
