//! Finds and reads the configuration: the project's rules, and the developer's own file.

mod untrusted;

pub use untrusted::load_below;

use crate::git::ancestors::Ancestors;
use onloop_documents::permission::TrustList;
use onloop_effect::{Failure, FailureKind, Io, OptionalExt, names_with_secrets};
use onloop_permission::Context;
use onloop_permission::rules::{GivenRules, Source};
use onloop_sessions::handsoff::config::Config;
use onloop_syntax::limits;
use onloop_syntax::text;
use untrusted::{UntrustedFile, untrusted_origin};

/// The file of a project's rules.
pub const PROJECT_FILE: &str = ".agentize.yaml";
/// The developer's own file: rules, and everything else.
const LOCAL_FILE: &str = ".agentize.local.yaml";

/// Everything that is configured for a folder.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// What the developer's file and the environment say.
    pub config: Config,
    /// The developer's file, if there is one.
    pub local_path: Option<String>,
    /// The project's file, if there is one.
    pub project_path: Option<String>,
    /// Why a file by the developer's name counts as the project's, for people.
    pub untrusted_file: Option<String>,
    /// Why a file that is there could not be read. Its rules allow nothing then.
    pub failure: Option<Failure>,
    /// The rules of all files, for a hook that cannot read them.
    pub given: GivenRules,
    /// What is wrong with the rules in the developer's file.
    rule_notes: Vec<String>,
    context: Context,
}

/// Mistakes that are said at once; `onloop doctor` shows all of them.
const MISTAKES_SAID: usize = 5;

impl Loaded {
    /// Everything that is wrong with the developer's file and with the variables that go before it,
    /// one line each, fit for a terminal.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        self.config.notes.iter().chain(&self.rule_notes).map(String::as_str)
    }

    /// What a person is told who has not asked; `None`: nothing is wrong.
    pub fn mistakes(&self) -> Option<String> {
        let notes: Vec<&str> = self.notes().collect();
        if notes.is_empty() {
            return None;
        }
        let place = self
            .local_path
            .as_deref()
            .map_or(String::new(), |path| format!(" (`{}`)", text::one_line(path)));
        let mut said = format!("onloop: your configuration has mistakes{place}:\n");
        for note in notes.iter().take(MISTAKES_SAID) {
            said += &format!("  - {note}\n");
        }
        if let Some(more @ 1..) = notes.len().checked_sub(MISTAKES_SAID) {
            said += &format!("  - and {more} more\n");
        }
        Some(said + "  `onloop doctor` shows them again.")
    }

    /// What a call in this folder is judged against: the rules, which of them are trusted, and the
    /// places. Without session and branch, which the caller adds.
    pub fn context(&self) -> Context {
        self.context.clone()
    }
}

/// Reads what is configured for `cwd`, each file once. It never fails: a file that cannot be read
/// takes permissions away and grants none.
pub async fn load(io: &Io, cwd: &str) -> Loaded {
    let mut loaded = nothing(io, cwd);
    match project_rules(io, cwd).await {
        Ok(Some(project)) => {
            let (path, trusted, yaml) = project;
            loaded = loaded.with_rules(Source::Project { trusted }, &yaml);
            loaded.project_path = Some(path);
        }
        Ok(None) => {}
        Err(failure) => loaded.fail(failure),
    }
    let Developers { untrusted, own } = developers(io, cwd).await;
    for file in &untrusted {
        loaded.take_as_the_projects(file);
    }
    loaded.config = config_of(io, &own);
    match own {
        Ok(Some((path, yaml))) => {
            loaded = loaded.with_own_rules(&yaml);
            loaded.local_path = Some(path);
        }
        Ok(None) => {}
        Err(failure) => loaded.fail(failure),
    }
    loaded
}

/// What the developer's own file and the environment say for `cwd`, without any rule for calls.
pub async fn own(io: &Io, cwd: &str) -> Config {
    config_of(io, &developers(io, cwd).await.own)
}

/// Files by the developer's name.
struct Developers {
    /// Those that are somebody else's.
    untrusted: Vec<UntrustedFile>,
    /// The developer's own, or why it cannot be read.
    own: Result<Option<(String, String)>, Failure>,
}

async fn developers(io: &Io, cwd: &str) -> Developers {
    let mut untrusted = Vec::new();
    let mut ancestors = Ancestors::from(io, cwd);
    loop {
        match local_file(io, cwd.trim_end_matches('/'), &mut ancestors).await {
            // The developer's own may be above it.
            Ok(Some((path, yaml))) => match untrusted_origin(io, cwd, &path).await {
                // The last place is asked for again and again.
                Some(_) if untrusted.iter().any(|known: &UntrustedFile| known.path == path) => {
                    return Developers { untrusted, own: Ok(None) };
                }
                Some(by) => untrusted.push(UntrustedFile { path, yaml, by }),
                None => return Developers { untrusted, own: Ok(Some((path, yaml))) },
            },
            own => return Developers { untrusted, own },
        }
    }
}

fn config_of(io: &Io, own: &Result<Option<(String, String)>, Failure>) -> Config {
    let config = match own {
        Ok(Some((path, yaml))) => Config::read(yaml, folder_of(path)),
        Ok(None) => Config::default(),
        Err(failure) => Config::unusable(&format!("cannot be read: {}", failure.message)),
    };
    config.with_environment(|name| io.env(name))
}

/// What a hook goes by that cannot read the configuration: these rules, without a person to ask.
pub fn given(io: &Io, cwd: &str, rules: &GivenRules) -> Loaded {
    let mut loaded = Loaded { config: Config::safe(), given: rules.clone(), ..nothing(io, cwd) };
    loaded.context.rules = rules.rules();
    loaded.context.places.temporary = loaded.context.rules.temporary();
    loaded
}

/// What is known where nothing is configured.
fn nothing(io: &Io, cwd: &str) -> Loaded {
    let mut context = Context::new(cwd);
    context.places.user_home = io.env("HOME").map(str::to_owned);
    context.exported = io.env_all().keys().cloned().collect();
    context.secret_variables = names_with_secrets(io.env_all()).cloned().collect();
    context.places.ledger_home = io.start().state_home();
    if let Some(home) = io.start().agentize_home() {
        context.places.state_homes.insert(0, home);
    }
    Loaded {
        config: Config::default(),
        local_path: None,
        project_path: None,
        untrusted_file: None,
        failure: None,
        given: GivenRules::default(),
        rule_notes: Vec::new(),
        context,
    }
}

impl Loaded {
    fn with_rules(mut self, source: Source, yaml: &str) -> Loaded {
        self.given.add_file(source, yaml);
        self.context = self.context.with_rules(source, yaml);
        self
    }

    /// Adds the rules of the developer's own file, and what is wrong with them.
    fn with_own_rules(self, yaml: &str) -> Loaded {
        let known = self.context.rules.notes().len();
        let mut loaded = self.with_rules(Source::Local, yaml);
        loaded.rule_notes = loaded.context.rules.notes()[known..].to_vec();
        let own = format!("the {} configuration", Source::Local.as_str());
        // A file that cannot be read at all has been noted.
        let is_noted = loaded.config.notes.iter().any(|note| note.starts_with(&own));
        let fault = loaded.context.rules.fault().filter(|fault| fault.starts_with(&own));
        let fault = fault.filter(|_| !is_noted).map(text::one_line);
        loaded.rule_notes.extend(fault);
        loaded
    }

    fn fail(&mut self, failure: Failure) {
        self.context.rules.add_unreadable(&failure.message);
        self.given.unreadable.push(failure.message.clone());
        self.failure.get_or_insert(failure);
    }
}

/// The path of the project's file, whether its present content is trusted, and the content.
async fn project_rules(io: &Io, cwd: &str) -> Result<Option<(String, bool, String)>, Failure> {
    let Some((path, bytes)) = find_in_ancestors(io, cwd, PROJECT_FILE).await? else {
        return Ok(None);
    };
    let trusted = match trust_path(io) {
        Ok(list) => read_if_there(io, list)
            .await?
            .is_some_and(|(_, list)| TrustList::read(&list).contains(&bytes)),
        // Without a home there is no list, and nothing on it.
        Err(_) => false,
    };
    let yaml = utf8(&path, bytes)?;
    Ok(Some((path, trusted, yaml)))
}

/// `AGENTIZE_HOME` and `HOME`, as far as they are set.
fn homes(io: &Io) -> impl Iterator<Item = String> {
    let homes = [io.start().agentize_home(), io.env("HOME").map(str::to_owned)];
    homes.into_iter().flatten().map(|home| home.trim_end_matches('/').to_owned())
}

/// The first of: what is left of the way up, `AGENTIZE_HOME`, `HOME`.
async fn local_file(
    io: &Io,
    start: &str,
    ancestors: &mut Ancestors<'_>,
) -> Result<Option<(String, String)>, Failure> {
    // Homes come after the project, in their own order.
    let is_home = |folder: &str| homes(io).any(|home| home == folder);
    let mut above = ancestors.filter(|folder| *folder == start || !is_home(folder));
    let mut found = next_file(io, &mut above, LOCAL_FILE).await?;
    for home in homes(io) {
        if found.is_none() {
            found = read_if_there(io, format!("{home}/{LOCAL_FILE}")).await?;
        }
    }
    let Some((path, bytes)) = found else { return Ok(None) };
    let yaml = utf8(&path, bytes)?;
    Ok(Some((path, yaml)))
}

/// A rule whose letters were replaced would match something else, so such a file is not used.
fn utf8(path: &str, bytes: Vec<u8>) -> Result<String, Failure> {
    String::from_utf8(bytes)
        .map_err(|_| Failure::new(FailureKind::Invalid, format!("`{path}` is not UTF-8")))
}

/// Where the list of trusted project files is.
pub fn trust_path(io: &Io) -> Result<String, Failure> {
    if let Some(folder) = io.env("XDG_CONFIG_HOME") {
        return Ok(format!("{folder}/onloop/trusted"));
    }
    match io.env("HOME").or_else(|| io.env("USERPROFILE")) {
        Some(home) => Ok(format!("{home}/.config/onloop/trusted")),
        None => {
            Err(Failure::new(FailureKind::Invalid, "neither `HOME` nor `XDG_CONFIG_HOME` is set"))
        }
    }
}

/// The nearest file of that name in `cwd` or above it, as far as `Ancestors` leads, and its content.
pub async fn find_in_ancestors(
    io: &Io,
    cwd: &str,
    name: &str,
) -> Result<Option<(String, Vec<u8>)>, Failure> {
    next_file(io, &mut Ancestors::from(io, cwd), name).await
}

/// The next file of that name on the way up, and its content.
async fn next_file<'a>(
    io: &Io,
    ancestors: &mut impl Iterator<Item = &'a str>,
    name: &str,
) -> Result<Option<(String, Vec<u8>)>, Failure> {
    for folder in ancestors {
        if let Some(found) = read_if_there(io, format!("{folder}/{name}")).await? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

async fn read_if_there(io: &Io, path: String) -> Result<Option<(String, Vec<u8>)>, Failure> {
    let read = io.read(&path, limits::CONFIG_BYTES as u64).await.optional()?;
    Ok(read.map(|(bytes, _)| (path, bytes)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::git::index::tests::index;
    use onloop_effect::{
        Exit, FileKind, Outcome, Program, Reply, Request, Start, Stat, Turn, Version,
    };
    use onloop_permission::{Call, Decision, decide};
    use onloop_syntax::time::Timestamp;

    /// How a file of another user begins.
    const THEIRS: &str = "# theirs\n";

    /// Loads in `/srv/repo/src` from these files; a file `!` cannot be read.
    fn loaded(env: &[(&str, &str)], files: &[(&'static str, &'static str)]) -> Loaded {
        let mut start = Start::example(["onloop"]);
        start.env = env.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let files: BTreeMap<&str, &str> = files.iter().copied().collect();
        let slot = std::rc::Rc::new(std::cell::RefCell::new(None));
        let out = slot.clone();
        let mut program = Program::new(start, |io| async move {
            *out.borrow_mut() = Some(load(&io, "/srv/repo/src").await);
            Exit::Done
        });
        let mut reply = None;
        while let Turn::Request(request) = program.resume(reply.take()) {
            let missing = |path: &str| Failure::new(FailureKind::NotFound, path);
            let outcome = match request {
                Request::Canonical { path } => Ok(Outcome::Path { path }),
                Request::Stat { path } => {
                    let text = files.get(path.as_str());
                    // The folder of a repository is there if its index is.
                    let is_folder = files.contains_key(format!("{path}/index").as_str());
                    match is_folder || text.is_some() {
                        true => Ok(Outcome::Stat(Stat {
                            kind: if is_folder { FileKind::Folder } else { FileKind::File },
                            size_bytes: 0,
                            modified: Timestamp::EPOCH,
                            executable: false,
                            foreign: text.is_some_and(|text| text.starts_with(THEIRS)),
                        })),
                        false => Err(missing(&path)),
                    }
                }
                Request::ReadTail { path, .. } => {
                    let names: Vec<&str> = files[path.as_str()].split(' ').collect();
                    let bytes = index(2, 20, &names, b"");
                    Ok(Outcome::Tail { size_bytes: bytes.len() as u64, bytes: bytes.into() })
                }
                Request::Read { path, .. } => match files.get(path.as_str()) {
                    Some(&"!") => Err(Failure::new(FailureKind::Denied, "permission denied")),
                    Some(text) => {
                        Ok(Outcome::File { bytes: (*text).into(), version: Version(String::new()) })
                    }
                    None => Err(missing(&path)),
                },
                // No confined command runs.
                Request::List { path } => Err(missing(&path)),
                request => panic!("{request:?}"),
            };
            reply = Some(Reply { at: Timestamp::EPOCH, outcome });
        }
        slot.take().expect("it was loaded")
    }

    fn decision(loaded: &Loaded, line: &str) -> Decision {
        decide(&Call::shell(line), &loaded.context()).decision
    }

    #[test]
    fn the_first_file_wins_and_the_environment_wins_over_it() {
        let one = "handsoff: {max_continuations: 1}\npermissions: {allow: ['^frob']}";
        let (two, three) = ("handsoff: {max_continuations: 2}", "handsoff: {max_continuations: 3}");
        let homes = [("AGENTIZE_HOME", "/a"), ("HOME", "/h")];
        let all = [
            ("/srv/repo/.agentize.local.yaml", one),
            ("/a/.agentize.local.yaml", two),
            ("/h/.agentize.local.yaml", three),
        ];
        let first = loaded(&homes, &all);
        assert_eq!(first.config.max_continuations, 1);
        assert_eq!(first.local_path.as_deref(), Some("/srv/repo/.agentize.local.yaml"));
        assert_eq!(decision(&first, "frob x"), Decision::Allow);
        assert_eq!(loaded(&homes, &all[1..]).config.max_continuations, 2);
        assert_eq!(loaded(&homes, &all[2..]).config.max_continuations, 3);
        assert_eq!(loaded(&homes, &[]).config, Config::default());
        // A project below both homes does not change their order.
        let below = [("HOME", "/srv"), ("AGENTIZE_HOME", "/a")];
        let around = [("/srv/.agentize.local.yaml", three), ("/a/.agentize.local.yaml", two)];
        assert_eq!(loaded(&below, &around).config.max_continuations, 2);
        assert_eq!(loaded(&below, &around[..1]).config.max_continuations, 3);
        let env = [("HANDSOFF_MAX_CONTINUATIONS", "9")];
        assert_eq!(loaded(&env, &all).config.max_continuations, 9);
        // As an `.env` file has it.
        let unexpanded = [("AGENTIZE_HOME", "~/a"), ("HOME", "/h")];
        let below = [("/h/a/.agentize.local.yaml", two), ("/h/.agentize.local.yaml", three)];
        assert_eq!(loaded(&unexpanded, &below).config.max_continuations, 2);
    }

    #[test]
    fn what_is_wrong_with_the_own_file_is_found_wherever_it_stands() {
        let path = "/srv/repo/.agentize.local.yaml";
        let project =
            ("/srv/repo/.agentize.yaml", "permissions: {allow: ['^frob'], deny: ['('], odd: 1}");
        let table: [(&str, &[&str]); 5] = [
            ("handsoff: {enabled: true}", &[]),
            (
                "handsof: {enabled: true}",
                &["line 1, column 1: `handsof` is not known; did you mean `handsoff`?"],
            ),
            ("telegram: {enabled: true}", &["`telegram` is off: it needs `token` and `chat_id`"]),
            ("permissions: {alow: ['^frob']}", &["`permissions.alow` is not known"]),
            (
                "permissions: {deny: '^frob'}",
                &["the local configuration has `permissions.deny` that is not a list"],
            ),
        ];
        for (yaml, expected) in table {
            let found = loaded(&[], &[project, (path, yaml)]);
            assert_eq!(found.notes().collect::<Vec<_>>(), expected, "{yaml}");
        }
        let found = loaded(&[], &[project, (path, "telegram: {enabled: true}")]);
        assert_eq!(
            found.mistakes().as_deref(),
            Some(
                "onloop: your configuration has mistakes (`/srv/repo/.agentize.local.yaml`):\n  \
                 - `telegram` is off: it needs `token` and `chat_id`\n  \
                 `onloop doctor` shows them again."
            )
        );
        let broken = loaded(&[], &[(path, "handsoff: [")]);
        assert_eq!(broken.notes().count(), 1, "{:?}", broken.mistakes());
        let many: &'static str = "a: 1\nb: 1\nc: 1\nd: 1\ne: 1\nf: 1\ng: 1\n";
        let said = loaded(&[], &[(path, many)]).mistakes().unwrap();
        assert!(said.contains("\n  - and 2 more\n"), "{said}");
    }

    #[test]
    fn a_damaged_or_unreadable_file_takes_and_never_gives() {
        let deny = ("/srv/repo/.agentize.yaml", "permissions: {deny: ['^frob']}");
        for local in ["!", "a: [", "[]", "permissions: {deny: {}}"] {
            let found = loaded(&[], &[deny, ("/srv/.agentize.local.yaml", local)]);
            assert_eq!(decision(&found, "frob x"), Decision::Deny, "{local}");
            assert_eq!(decision(&found, "rm -rf /"), Decision::Deny, "{local}");
            assert_eq!(decision(&found, "git status"), Decision::Ask, "{local}");
            assert_eq!(found.failure.is_some(), local == "!");
        }
        let found = loaded(&[], &[("/srv/.agentize.local.yaml", "!")]);
        assert_eq!(found.config.max_continuations, 0);
        assert!(!found.config.auto_permission && found.config.enabled);
        assert!(found.config.notes[0].contains("permission denied"));
    }

    #[test]
    fn a_rule_whose_letters_are_damaged_is_not_replaced_by_another() {
        assert_eq!(utf8("/r/x", "permissions: ü".into()), Ok("permissions: ü".to_owned()));
        let failure = utf8("/r/x", b"permissions: {deny: ['^f\xfc']}".to_vec()).unwrap_err();
        assert_eq!(
            (failure.kind, failure.message.as_str()),
            (FailureKind::Invalid, "`/r/x` is not UTF-8")
        );
    }

    #[test]
    fn a_project_file_sets_nothing_but_rules() {
        let yaml = "handsoff: {enabled: false, max_continuations: 3}\ntelegram: {enabled: true}";
        let found = loaded(&[], &[("/srv/repo/.agentize.yaml", yaml)]);
        assert_eq!(found.config, Config::default());
    }

    #[test]
    fn a_repository_grants_itself_nothing_by_committing_the_developers_file() {
        let yaml = "handsoff: {enabled: false, max_continuations: 99}\n\
            permissions: {allow: ['^frob'], deny: ['^git status'], temporary: allow}";
        let (untrusted_file, own) = ("/srv/repo/.agentize.local.yaml", "/h/.agentize.local.yaml");
        let mine = "handsoff: {max_continuations: 2}\npermissions: {allow: ['^mine']}";
        let home = [("HOME", "/h")];
        let with = |index: &'static str| {
            loaded(&home, &[(untrusted_file, yaml), (own, mine), ("/srv/repo/.git/index", index)])
        };
        let found = with(".agentize.local.yaml a.txt");
        assert_eq!(decision(&found, "frob x"), Decision::Ask);
        assert_eq!(decision(&found, "git status"), Decision::Deny);
        // What it says of the developer's own file is not there for anybody.
        assert_eq!(decision(&found, "mine x"), Decision::Allow);
        assert!(found.config.enabled && found.config.max_continuations == 2);
        assert_eq!(found.local_path.as_deref(), Some(own));
        assert!(found.untrusted_file.as_ref().is_some_and(|why| why.contains("is tracked by git")));
        // One that git does not know is the developer's.
        let found = with("a.txt src/.agentize.local.yaml");
        assert_eq!(decision(&found, "frob x"), Decision::Allow);
        assert_eq!((found.config.enabled, found.untrusted_file), (false, None));
        // A home that is a repository is a person's own all the same.
        let found = loaded(&home, &[(own, mine), ("/h/.git/index", ".agentize.local.yaml")]);
        assert_eq!((decision(&found, "mine x"), found.untrusted_file), (Decision::Allow, None));
    }

    #[test]
    fn another_user_grants_nothing_where_somebody_else_works() {
        let yaml = "# theirs\nhandsoff: {enabled: false}\n\
            permissions: {allow: ['^frob'], deny: ['^git status']}";
        let above = "/srv/.agentize.local.yaml";
        let inside = "/srv/repo/.agentize.local.yaml";
        let git = ("/srv/repo/.git/index", "a.txt");
        for path in [above, inside] {
            let found = loaded(&[], &[(path, yaml), git]);
            assert_eq!(decision(&found, "frob x"), Decision::Ask);
            assert_eq!(decision(&found, "git status"), Decision::Deny);
            assert_eq!((found.config.enabled, found.local_path), (true, None));
            let why = format!(
                "`{path}` belongs to another user, so it is not taken for yours: of what is in it \
                 only the rules that deny or ask count; a file of your own in the checkout or in \
                 your home is taken"
            );
            assert_eq!(found.untrusted_file, Some(why));
        }
        // The search continues above it.
        let mine = ("/.agentize.local.yaml", "permissions: {allow: ['^mine']}");
        let found = loaded(&[], &[(above, yaml), mine, git]);
        assert_eq!(decision(&found, "mine x"), Decision::Allow);
        // A repository of theirs around the work makes it no better, and neither does one of ours.
        for git in [("/srv/.git/index", "a.txt"), ("/srv/.git/index", "# theirs\n")] {
            let found = loaded(&[], &[(above, yaml), git]);
            assert_eq!(decision(&found, "frob x"), Decision::Ask);
        }
        // One's own; in a home; and of the owner of the folder itself, as in a container that
        // mounts a checkout.
        let own = yaml.strip_prefix(THEIRS).expect("it begins so");
        let home = [("HOME", "/srv")];
        type Pairs<'p> = &'p [(&'static str, &'static str)];
        let none: Pairs<'_> = &[];
        let yours: [(Pairs<'_>, Pairs<'_>); 3] = [
            (none, &[(above, own), git]),
            (&home, &[(above, yaml), git]),
            (none, &[(inside, yaml), ("/srv/repo/src", THEIRS), git]),
        ];
        for (env, files) in yours {
            let found = loaded(env, files);
            assert_eq!(decision(&found, "frob x"), Decision::Allow, "{files:?}");
            assert_eq!((found.config.enabled, &found.untrusted_file), (false, &None), "{files:?}");
        }
    }
}
