//! The names of judgements that go beyond what the table can say.

/// The judgement that a program's arguments need besides their roles. The table only names it;
/// the judge makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArgCheck {
    /// gh with a filter, which can show the environment.
    ForgeQuery,
    /// `git reflog`: showing it, not expiring it.
    Reflog,
    /// `git branch` and `git tag`: with an option that lists, they only list.
    Listing,
    /// `git stash`, `git worktree` and others, some of whose sub-commands only show.
    NestedListing,
    /// `git fetch`: from the project's remotes, into its remote-tracking branches.
    Fetch,
    /// `git rebase`: on top of the main branch of a remote.
    Rebase,
    /// `git push`: where to, what over what, and whether it is forced.
    Push,
    /// `git checkout` and `git switch`: throwing changes away on the way is worse than changing branch.
    Checkout,
    /// `git add` and `git commit -a`, which take more than they name.
    Stage,
    /// git's options before the sub-command.
    GitOptions,
    /// `gh issue edit`: what a planning workflow may do.
    IssueEdit,
    /// `gh label create --force`: for setting up a board.
    Label,
    /// `gh repo view --json owner`: for setting up a board.
    RepositoryView,
    /// `gh auth status`: for setting up a board, and without the token.
    ForgeAuth,
    /// `gh api graphql`: for setting up a board.
    ForgeApi,
    /// printf: `-v` names a variable, and its subscript is evaluated.
    Printf,
    /// test: looking at variables evaluates their subscripts.
    Test,
    /// set: options that are known not to change what later commands mean.
    Set,
    /// shopt: options of file name patterns that only match more or fewer names.
    Shopt,
    /// export, declare and the like: assignments in disguise.
    Declare,
    /// Builtins whose arguments are names of variables.
    VariableNames,
    /// module load: by name, not by path.
    Module,
    /// date: an argument without `+` sets the clock.
    Date,
    /// grep and rg: with a pattern in an option, the first argument is a file.
    PatternOption,
    /// jq: filters that read the environment or other files.
    Jq,
    /// yq: as jq, and functions that load files.
    Yq,
    /// awk: programs that start others, or read and write files of their own choice.
    Awk,
    /// sed: scripts that run commands or read and write files.
    Sed,
    /// make: the usual goals, and no variables that name programs.
    Make,
    /// ninja: targets that leave the build folder.
    Ninja,
    /// cmake: definitions that choose programs.
    Cmake,
    /// Scripts of a project, by what their names say.
    Task,
    /// python, node and other interpreters: a file of the project or code in an argument.
    Interpreter,
    /// exit, shift and the like, whose argument some shells evaluate.
    Steers,
    /// source: runs a file in this shell.
    Source,
    /// cd: within the checkout.
    Folder,
    /// fd -x: the command gets what was found.
    Fd,
    /// mktemp: where the file is made.
    Temporary,
    /// tar: what is packed and where.
    Tar,
    /// kill: jobs of the line itself.
    Kill,
    /// nc -z: only looks whether a port is open.
    Probe,
    /// kubectl: what is shown must not be secrets.
    Cluster,
    /// aws: lists and descriptions.
    Cloud,
    /// git restore: from the index, or files.
    Restore,
    /// git clean: a dry run shows.
    Clean,
    /// git branch: lists, makes, deletes.
    Branch,
    /// git clone: from an address of the web or of ssh.
    Clone,
    /// git config: shows settings.
    GitConfig,
    /// git remote: lists.
    GitRemote,
    /// gh before the sub-command: another repository.
    ForgeOptions,
    /// Texts that gh publishes.
    ForgeText,
    /// find: where it starts, and what it does with what it finds.
    Find,
    /// chmod: making files of the project executable.
    Chmod,
    /// cp, mv, ln: every argument is read or written.
    Copy,
    /// rm: deleting folders without asking cannot be undone.
    Rm,
    /// dd: `of=` is written.
    Dd,
    /// eval: its arguments are a line of shell.
    Eval,
    /// command and builtin: `command -v` only looks.
    Builtin,
    /// trap: its first argument is run later.
    Trap,
    /// alias: a definition is code for later lines.
    Alias,
    /// env: assignments, then a command; alone it shows everything.
    Env,
    /// nice and similar programs: `nice -5 command` is an old spelling.
    LeadingNumber,
    /// xargs: a command whose last words, or the marked ones, come from the input.
    Xargs,
    /// watch: its arguments are a line of shell.
    Watch,
    /// parallel: what it runs is put together from its input.
    Parallel,
    /// sh, bash and other shells: code in an argument or on the standard input is judged, a file
    /// or a terminal is not.
    Shell,
    /// sudo and similar programs are forbidden; what they run is judged all the same.
    Privileged,
    /// A wrapper whose own options are not known: every way to read the rest is looked at, and
    /// can only forbid.
    UnknownWrapper,
    /// ssh: the words after the host are a line for the remote shell.
    Remote,
    /// docker and kubectl: the command that runs inside is looked at as well.
    Container,
    /// `onloop session done ID`, for the session that makes this call.
    OwnSession,
    /// `onloop step N start|verify|retry|block`: it records what an agent does in a run that a
    /// person has begun, and runs the checks that the record holds.
    DrivesRun,
    /// `onloop gate N approved --mode auto`: the record takes it only where its own rules approve
    /// the gate. Every other decision is a person's.
    DecidesByRule,
    /// `onloop auto begin`, `resume` and `route`, which start nobody; `onloop auto` itself does.
    StepsAuto,
    /// `onloop gate`, `finish` and others: a person decides about a run, or whether there is one.
    DecidesAboutRun,
    /// `onloop approve` and `permit trust`: what they record is a person's word, and the agent
    /// whose calls are judged cannot give it. `permit` also explains, which changes nothing.
    AnswersForPerson,
    /// `onloop install` and `uninstall`: an agent does not choose who judges it. Asking would not
    /// do, because some hosts run what we ask about.
    ChangesGuard,
}
