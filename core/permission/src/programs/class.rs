//! What running a program does, and the one policy about it.

use crate::verdict::Decision;

/// What running a program does, seen from the person who let an agent work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Computes and prints.
    Prints,
    /// Reads files; which ones is judged.
    Reads,
    /// Writes files that its arguments name; which ones is judged.
    Writes,
    /// Builds the project with the rules the project has for it.
    Builds,
    /// Opens files that it finds itself, also where links lead out of the project.
    Finds,
    /// Changes history or the index of the repository in a way that can be taken back; files at most by
    /// removing them.
    Records,
    /// The same, and writes files of the working tree.
    Updates,
    /// Files issues, pull requests and the like through the forge's own client.
    Reports,
    /// Asks a service for what it has, and changes nothing.
    Queries,
    /// Runs another command, which is judged by itself.
    Wraps,
    /// Changes files of the project that its arguments do not name.
    Changes,
    /// Deletes files or data.
    Deletes,
    /// Runs code that cannot be judged: scripts, packages, interpreters.
    Runs,
    /// Takes code from where an option says.
    NamesCode,
    /// Fetches from a network.
    Fetches,
    /// Describes the machine and what runs on it.
    Describes,
    /// Sends to a network, or controls a service of the machine.
    Connects,
    /// Installs programs outside the project.
    Installs,
    /// Changes what git itself relies on: its settings, its other checkouts.
    Rewires,
    /// Makes something public, or changes something that others use.
    Publishes,
    /// Ends, starts or configures processes and services.
    Administers,
    /// Shows what may be secret.
    Reveals,
    /// Destroys on purpose.
    Destroys,
    /// Gains the rights of another user.
    Escalates,
    /// Throws away work that is not committed, or rewrites what others have.
    Discards,
}

/// What the policy says about a class.
struct Policy {
    decision: Decision,
    /// Whether a sandbox holds what it does: one that may write the checkout, a temporary folder
    /// and caches, and hides what is private.
    containable: bool,
    sentence: &'static str,
}

impl Class {
    /// The policy: what a program of this class may do before any rule of the user.
    pub fn decision(self) -> Decision {
        self.policy().decision
    }

    /// Whether a program of this class runs unasked.
    pub(crate) fn is_allowed(self) -> bool {
        self.decision() == Decision::Allow
    }

    /// Whether a program of this class uses files that are not judged, though it runs unasked.
    pub(crate) fn finds_files(self) -> bool {
        matches!(self, Class::Builds | Class::Finds)
    }

    /// Whether everything that a program of this class does stays inside a sandbox.
    pub(crate) fn is_containable(self) -> bool {
        self.policy().containable
    }

    /// Whether a program of this class may lose work, or sends something away, for good.
    pub(crate) fn is_lasting(self) -> bool {
        matches!(
            self,
            Class::Deletes
                | Class::Changes
                | Class::Connects
                | Class::Rewires
                | Class::Administers
                | Class::Installs
                | Class::Publishes
                | Class::Destroys
                | Class::Discards
        )
    }

    /// Whether a program of this class changes nothing by itself.
    pub fn only_reads(self) -> bool {
        matches!(
            self,
            Class::Prints | Class::Reads | Class::Queries | Class::Wraps | Class::Describes
        )
    }

    /// Whether the files that a program of this class uses are known by its table.
    pub(crate) fn knows_files(self) -> bool {
        self.only_reads() || matches!(self, Class::Records | Class::Updates | Class::Reports)
    }

    /// The class in a sentence: “it …”.
    pub fn sentence(self) -> &'static str {
        self.policy().sentence
    }

    fn policy(self) -> Policy {
        const fn allows(sentence: &'static str) -> Policy {
            Policy { decision: Decision::Allow, containable: true, sentence }
        }
        const fn reaches(sentence: &'static str) -> Policy {
            Policy { decision: Decision::Allow, containable: false, sentence }
        }
        const fn containable(sentence: &'static str) -> Policy {
            Policy { decision: Decision::Ask, containable: true, sentence }
        }
        const fn asks(sentence: &'static str) -> Policy {
            Policy { decision: Decision::Ask, containable: false, sentence }
        }
        const fn denies(sentence: &'static str) -> Policy {
            Policy { decision: Decision::Deny, containable: false, sentence }
        }
        match self {
            Class::Prints => reaches("only prints"),
            Class::Reads => allows("reads files"),
            Class::Writes => allows("writes the files that it names"),
            Class::Builds => allows("builds the project"),
            Class::Finds => allows("opens files that it finds itself"),
            Class::Wraps => allows("runs another command"),
            Class::Records | Class::Updates => reaches("records work in git"),
            Class::Reports => reaches("files issues and pull requests"),
            Class::Queries => reaches("asks a service and changes nothing"),
            Class::Changes => containable("changes files that it does not name"),
            Class::Deletes => containable("deletes"),
            Class::Runs => containable("runs code that cannot be judged"),
            Class::NamesCode => asks("takes code from where an option says"),
            Class::Fetches => containable("fetches from a network"),
            Class::Describes => containable("describes the machine"),
            Class::Connects => asks("talks to a network or a service"),
            Class::Installs => asks("installs programs outside the project"),
            Class::Rewires => asks("changes what git relies on"),
            Class::Publishes => asks("changes what others use"),
            Class::Administers => asks("controls processes or services"),
            Class::Reveals => asks("shows what may be secret"),
            Class::Destroys => denies("destroys data"),
            Class::Escalates => denies("gains the rights of another user"),
            Class::Discards => denies("throws work away"),
        }
    }
}
