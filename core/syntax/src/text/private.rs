//! Names of files and variables that hold secrets.

/// Places below a home folder with keys, tokens, wallets and browser data, in lower case: files,
/// and folders with everything in them.
pub const HOME_SECRETS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".age",
    ".azure",
    ".bitcoin",
    ".bluemix",
    ".cargo/credentials",
    ".codex/auth.json",
    ".config/age",
    ".config/chromium",
    ".config/configstore",
    ".config/containers/auth.json",
    ".config/doctl",
    ".config/gcloud",
    ".config/gh",
    ".config/git/credentials",
    ".config/github-copilot",
    ".config/glab-cli",
    ".config/google-chrome",
    ".config/heroku",
    ".config/hub",
    ".config/keepassxc",
    ".config/microsoft-edge",
    ".config/netlify",
    ".config/ngrok",
    ".config/op",
    ".config/pip/pip.conf",
    ".config/rclone",
    ".config/solana",
    ".config/sops",
    ".config/stripe",
    ".docker/config.json",
    ".electrum",
    ".ethereum",
    ".fly",
    ".gcloud",
    ".gem/credentials",
    ".gradle/gradle.properties",
    ".kube",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".local/share/opencode/auth.json",
    ".m2/settings.xml",
    ".minikube",
    ".mozilla",
    ".nuget/nuget.config",
    ".oci",
    ".password-store",
    ".putty",
    ".rancher",
    ".terraform.d",
    ".thunderbird",
    ".wrangler",
];

/// Words that name a secret anywhere in the name of a variable.
const SECRET_WORDS: [&str; 9] = [
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "TOKEN",
    "CREDENTIAL",
    "APIKEY",
    "ACCESSKEY",
    "PRIVATEKEY",
];
/// Words that name a secret as a whole part between underscores.
const SECRET_PARTS: [&str; 3] = ["PAT", "PWD", "COOKIE"];
/// Words that name a secret as the last part.
const SECRET_ENDS: [&str; 6] = ["PW", "JWT", "CRED", "CREDS", "BEARER", "AUTHORIZATION"];
/// Words with `PASS` at their end that name no password.
const OTHER_PASS: [&str; 6] = ["ASKPASS", "BYPASS", "COMPASS", "OVERPASS", "TRESPASS", "MULTIPASS"];

/// Whether the name of a variable says that its value is a secret: `GITHUB_TOKEN`, `DB_PASSWORD`,
/// `AWS_SECRET_ACCESS_KEY`, `OPENAI_API_KEY`. `KEY` alone does not: scripts use it as a loop
/// variable.
pub fn says_secret(name: &str) -> bool {
    let name = name.as_bytes();
    // The shell sets these itself.
    if is_one_of(name, &["PWD", "OLDPWD"]) {
        return false;
    }
    let parts = || name.rsplit(|&byte| byte == b'_');
    let is_key = parts().next().is_some_and(|last| is_one_of(last, &["KEY", "KEYS"]))
        && parts().nth(1).is_some();
    (is_key && !ends_with(name, "PUBLIC_KEY"))
        || ends_with(name, "_AUTH")
        || is_pass(name)
        || parts().next().is_some_and(|last| is_one_of(last, &SECRET_ENDS))
        || has_secret_word(name)
        || parts().any(|part| is_one_of(part, &SECRET_PARTS))
}

/// Whether a name ends in `PASS` for a password. `PASS` alone counts what passes.
fn is_pass(name: &[u8]) -> bool {
    ends_with(name, "PASS")
        && name.len() > "PASS".len()
        && !OTHER_PASS.iter().any(|word| ends_with(name, word))
}

fn is_one_of(name: &[u8], words: &[&str]) -> bool {
    words.iter().any(|word| name.eq_ignore_ascii_case(word.as_bytes()))
}

fn ends_with(name: &[u8], end: &str) -> bool {
    let begin = name.len().checked_sub(end.len());
    begin.is_some_and(|begin| name[begin..].eq_ignore_ascii_case(end.as_bytes()))
}

/// Reads each letter once and copies nothing: every process checks its whole environment.
fn has_secret_word(name: &[u8]) -> bool {
    (0..name.len()).any(|at| {
        let begins = name[at].to_ascii_uppercase();
        SECRET_WORDS.iter().map(|word| word.as_bytes()).any(|word| {
            word[0] == begins
                && name.get(at..at + word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_variables_that_say_secret() {
        for name in [
            "GITHUB_TOKEN",
            "DB_PASSWORD",
            "db_passwd",
            "AWS_SECRET_ACCESS_KEY",
            "OPENAI_API_KEY",
            "GH_PAT",
            "DB_PWD",
            "NPM_CONFIG__AUTH",
            "SESSION_COOKIE",
            "ENCRYPTION_KEYS",
            "secrets",
            "MyPassphrase",
            "xTOKENx",
            "éTOKEN",
            "_KEY",
            "APIKEY",
            "_auth",
            "DB_PASS",
            "DB_PW",
            "SSHPASS",
            "MY_JWT",
            "MY_CREDS",
            "BEARER",
            "AUTHORIZATION",
            "HTTP_AUTHORIZATION",
            "OPENAIAPIKEY",
            "AwsAccessKey",
        ] {
            assert!(says_secret(name), "{name}");
        }
        for name in [
            "PWD",
            "OLDPWD",
            "KEY",
            "key",
            "PATH",
            "PUBLIC_KEY",
            "SSH_PUBLIC_KEY",
            "PATTERN",
            "",
            "AUTH",
            "TOKE",
            "éKEY",
            "KEY_ID",
            "PASS",
            "GIT_ASKPASS",
            "COMPASS",
            "BYPASS",
            "PASSENGERS",
            "JWT_ISSUER",
            "CREDIT",
            "PWSH",
            "SACRED",
            "oldpwd",
        ] {
            assert!(!says_secret(name), "{name}");
        }
    }
}
