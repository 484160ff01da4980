//! Names that say that what they stand for is nobody else's business.

/// Places below a home folder with keys, tokens, wallets and what browsers remember, in lower case:
/// folders with all that is in them, and files.
pub(crate) const HOME_SECRETS: &[&str] = &[
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

/// Words that are telling wherever they stand in the name of a variable.
const SECRET_WORDS: [&str; 6] =
    ["SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "TOKEN", "CREDENTIAL"];
/// Words that are telling as a whole part between underscores.
const SECRET_PARTS: [&str; 4] = ["APIKEY", "PAT", "PWD", "COOKIE"];

/// Whether the name of a variable says that its value is a secret: `GITHUB_TOKEN`, `DB_PASSWORD`,
/// `AWS_SECRET_ACCESS_KEY`, `OPENAI_API_KEY`. `KEY` alone does not, since scripts call what they
/// loop over so.
pub(crate) fn says_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    // The shell's own.
    if matches!(name.as_str(), "PWD" | "OLDPWD") {
        return false;
    }
    let parts: Vec<&str> = name.split('_').collect();
    let is_key = matches!(parts.as_slice(), [_, .., "KEY" | "KEYS"]);
    (is_key && !name.ends_with("PUBLIC_KEY"))
        || name.ends_with("_AUTH")
        || SECRET_WORDS.iter().any(|word| name.contains(word))
        || parts.iter().any(|part| SECRET_PARTS.contains(part))
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
        ] {
            assert!(says_secret(name), "{name}");
        }
        for name in
            ["PWD", "OLDPWD", "KEY", "key", "PATH", "PUBLIC_KEY", "SSH_PUBLIC_KEY", "PATTERN"]
        {
            assert!(!says_secret(name), "{name}");
        }
    }
}
