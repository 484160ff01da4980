//! Names of variables that say that they hold a secret.

/// Parts of names of variables that hold secrets.
const SECRET_PARTS: [&str; 12] = [
    "TOKEN",
    "TOKENS",
    "SECRET",
    "SECRETS",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "CREDENTIALS",
    "APIKEY",
    "PAT",
    "PWD",
];

/// Whether the name of a variable says that it holds a secret: `GITHUB_TOKEN`, `DB_PASSWORD`,
/// `AWS_SECRET_ACCESS_KEY`, `OPENAI_API_KEY`.
pub(crate) fn says_secret(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    // The shell's own.
    if matches!(upper.as_str(), "PWD" | "OLDPWD") {
        return false;
    }
    let parts: Vec<&str> = upper.split('_').collect();
    let keyed =
        matches!(parts.as_slice(), [_, .., "KEY" | "KEYS"]) && !upper.ends_with("PUBLIC_KEY");
    let joined = ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL"];
    keyed
        || parts.iter().any(|part| SECRET_PARTS.contains(part))
        || joined.iter().any(|word| upper.contains(word))
}
