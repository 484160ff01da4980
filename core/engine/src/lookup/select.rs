//! Which run is meant, and its record.

use crate::error::{CommandError, unusable_record};
use crate::lookup::runs::{
    Found, FoundRecord, all_ids, find_all, find_everywhere, is_of, is_own, untrusted_copy,
};
use crate::run::advice::{discard_command, first_command};
use crate::state::auto_runs::{self, AutoRun};
use crate::state::remote_owner::is_fleets;
use crate::state::store::{Paths, StateHome, Store, StoreError};
use crate::state::untrusted::{read_untrusted, untrusted_run};
use crate::terminal::ask::is_attended;
use onloop_effect::Io;
use onloop_run::{Disposition, Run, is_run_id};
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_workflow::suggest::nearest;

/// The run that a verb is about, as every verb takes it.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct RunName {
    /// Run id or the beginning of one, workflow name or file
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// The same as an option [default: ONLOOP_RUN_ID, HOTL_RUN_ID]
    #[arg(long = "run-id", value_name = "RUN", conflicts_with = "run")]
    pub run_id: Option<String>,
}

impl RunName {
    /// What was named.
    pub fn as_deref(&self) -> Option<&str> {
        self.run.as_deref().or(self.run_id.as_deref())
    }
}

impl From<Option<String>> for RunName {
    fn from(run_id: Option<String>) -> RunName {
        RunName { run: None, run_id }
    }
}

/// Which runs a verb is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fitting {
    /// Verbs that show: any run, the one that changed last.
    Latest,
    /// Verbs that continue: unfinished runs. Of the runs of a workflow the one that changed last.
    Unfinished,
    /// Verbs that decide or remove: unfinished runs, never one among several.
    OnlyUnfinished,
    /// `onloop finish`: runs whose work can have this outcome and has none yet, never one among several.
    OnlyFor(Disposition),
}

impl Fitting {
    fn fits(self, run: &Run) -> bool {
        match self {
            Fitting::Latest => true,
            Fitting::Unfinished | Fitting::OnlyUnfinished => !run.is_over(),
            Fitting::OnlyFor(disposition) => {
                let outcome = run.finish.as_ref().map(|finish| finish.outcome.disposition);
                run.accepts(disposition) && matches!(outcome, None | Some(Disposition::Kept))
            }
        }
    }

    /// Whether the latest run is meant where several fit.
    fn takes_latest(self, is_named: bool) -> bool {
        match self {
            Fitting::Latest => true,
            Fitting::Unfinished => is_named,
            Fitting::OnlyUnfinished | Fitting::OnlyFor(_) => false,
        }
    }

    fn nothing(self) -> &'static str {
        match self {
            Fitting::Latest => "no run was found here",
            Fitting::Unfinished | Fitting::OnlyUnfinished => "no unfinished run was found here",
            Fitting::OnlyFor(_) => "no finished run waits for this outcome here",
        }
    }
}

/// Opens the record of the run that is meant.
///
/// # Errors
///
/// No run is meant, or several are, or its record cannot be used.
pub async fn open(io: &Io, wanted: Option<&str>, fitting: Fitting) -> Result<Store, CommandError> {
    let Selected { id, store } = select(io, wanted, fitting).await?;
    let store = match store {
        Some(store) => *store,
        None => match Store::open(io, &id).await {
            Ok(store) => store,
            Err(error) => return Err(unusable_record(io, &id, error).await),
        },
    };
    if fitting != Fitting::Latest {
        demand_whole(store.run())?;
    }
    Ok(store)
}

/// Refuses a step that works beside others where a whole run is meant: its run drives it.
///
/// # Errors
///
/// The run is such a step; names its run.
pub fn demand_whole(run: &Run) -> Result<(), CommandError> {
    let Some(fork) = &run.fork_of else { return Ok(()) };
    let whole = &fork.run;
    let what = format!("run `{}` is step {} of run `{whole}`, which drives it", run.id, fork.step);
    Err(CommandError::refused(what).fix_by("name that run", format!("onloop status {whole}")))
}

/// The run that is meant.
pub struct Selected {
    /// Its id.
    pub id: String,
    /// Its record, where that had to be read in order to tell.
    pub(crate) store: Option<Box<Store>>,
}

/// Whether this machine has handed a run of this name over to a fleet.
async fn is_handed_over(io: &Io, name: &str) -> bool {
    let Some(home) = StateHome::of(io).ok().filter(|_| is_run_id(name)) else { return false };
    is_fleets(io, &Paths::new(&home, "", name)).await
}

/// The run that is meant: by id, workflow file, workflow name or the beginning of an id, in this
/// order, else the one that fits. Never an untrusted one.
///
/// # Errors
///
/// No run is meant, or several are and no person chooses.
pub async fn select(
    io: &Io,
    wanted: Option<&str>,
    fitting: Fitting,
) -> Result<Selected, CommandError> {
    let wanted = wanted.or_else(|| io.env("ONLOOP_RUN_ID")).or_else(|| io.env("HOTL_RUN_ID"));
    let Some(name) = wanted else {
        let Candidates { runs, untrusted, mut broken } =
            candidates(io, |run| fitting.fits(run)).await;
        if runs.is_empty()
            && untrusted.is_empty()
            && let Some((id, error)) = broken.pop()
            && broken.is_empty()
        {
            return Err(unusable_record(io, &id, error).await);
        }
        return one_of(io, runs, &untrusted, fitting, None).await;
    };
    match find_named(io, name, fitting).await? {
        Some(selected) => Ok(selected),
        None => Err(unknown(io, name).await),
    }
}

/// The run with this name, as in [`select`]; `None`: nothing has the name.
///
/// # Errors
///
/// Several runs are meant and no person chooses, or the one that is meant cannot be used.
pub async fn find_named(
    io: &Io,
    name: &str,
    fitting: Fitting,
) -> Result<Option<Selected>, CommandError> {
    if let Some(selected) = by_id(io, name).await? {
        return Ok(Some(selected));
    }
    let file = match io.stat(name).await {
        Ok(_) => Some(io.canonical(name).await.unwrap_or_else(|_| name.to_owned())),
        Err(_) => None,
    };
    // A file may have the name of a workflow by chance.
    let of_workflow =
        |run: &Run| run.place.slug == name || file.as_deref().is_some_and(|file| is_of(run, file));
    let Candidates { mut runs, untrusted, broken: _ } = candidates(io, of_workflow).await;
    if runs.iter().any(|store| fitting.fits(store.run())) {
        runs.retain(|store| fitting.fits(store.run()));
    } else {
        // The verb says of the latest one why it does not fit.
        runs.truncate(1);
    }
    if !runs.is_empty() || !untrusted.is_empty() || file.is_some() {
        return one_of(io, runs, &untrusted, fitting, Some(name)).await.map(Some);
    }
    by_beginning(io, name).await
}

/// The run with exactly this id.
async fn by_id(io: &Io, id: &str) -> Result<Option<Selected>, CommandError> {
    if !is_run_id(id) {
        return Ok(None);
    }
    match is_own(io, id).await {
        Ok(true) => return Ok(Some(Selected { id: id.to_owned(), store: None })),
        Ok(false) => {}
        Err(error) => return Err(unusable_record(io, id, error).await),
    }
    if let Some((root, path)) = untrusted_copy(io, id).await {
        return Err(match read_untrusted(io, &root, id).await {
            Ok(_) => untrusted_run(id, &path),
            // Damaged, or of a newer onloop: it could not be adopted either.
            Err(error) => CommandError::from(error).context(format!("run `{id}` cannot be read")),
        });
    }
    if is_handed_over(io, id).await {
        let what = format!("run `{id}` was handed over to a fleet, and no worker has begun it yet");
        return Err(CommandError::refused(what).fix_by("see how it stands", "onloop fleet status"));
    }
    Ok(None)
}

/// The only run on this machine whose id begins with `name`.
async fn by_beginning(io: &Io, name: &str) -> Result<Option<Selected>, CommandError> {
    let ids = all_ids(io).await;
    let is_fork = |id: &str| {
        id.rsplit_once(".step-").is_some_and(|(run, _)| ids.iter().any(|other| other == run))
    };
    let mut begun: Vec<&String> =
        ids.iter().filter(|id| id.starts_with(name) && !is_fork(id)).collect();
    match begun.as_slice() {
        [only] if !name.is_empty() => Ok(Some(Selected { id: (*only).clone(), store: None })),
        [] | [_] => Ok(None),
        _ => {
            let shown = text::ellipsis(&text::one_line(name), 60);
            begun.truncate(limits::RUNS_LISTED);
            let lines = begun.iter().map(|id| format!("- {id}"));
            Err(CommandError::usage(format!("several runs have an id that begins with `{shown}`"))
                .listing(lines)
                .fix("name more of the id"))
        }
    }
}

/// The shortest names of what a person decides: each is the beginning of one id alone, and every verb
/// takes it.
pub struct ShortNames(Vec<String>);

impl ShortNames {
    /// Those of all runs on this machine, beside others.
    pub async fn of(io: &Io, others: impl IntoIterator<Item = String>) -> ShortNames {
        ShortNames(all_ids(io).await.into_iter().chain(others).collect())
    }

    /// The name of `id`, not shorter than `least`, where its id begins with that.
    pub fn name<'i>(&self, id: &'i str, least: &str) -> &'i str {
        let fork = format!("{id}.step-");
        let is_other = |other: &&String| *other != id && !other.starts_with(&fork);
        let others: Vec<&String> = self.0.iter().filter(is_other).collect();
        let is_enough = |name: &&str| !others.iter().any(|other| other.starts_with(*name));
        let least = if id.starts_with(least) { least.len() } else { id.len() };
        (least..id.len()).filter_map(|end| id.get(..end)).find(is_enough).unwrap_or(id)
    }
}

/// The error of a name that no run of a workflow has.
async fn unknown(io: &Io, name: &str) -> CommandError {
    if let Some(auto) = auto_runs::named(io, name).await {
        let what = format!("`{}` is a run of rw-auto, not of a workflow", auto.id());
        return with_auto(CommandError::refused(what), &auto);
    }
    let ids = all_ids(io).await;
    let mut known: Vec<&str> = ids.iter().map(String::as_str).collect();
    let here = own_runs(io).await;
    known.extend(here.iter().map(|store| store.run().place.slug.as_str()));
    known.dedup();
    let near =
        nearest(name, &known).map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    let shown = text::ellipsis(&text::one_line(name), 60);
    CommandError::usage(format!("no run `{shown}` was found{near}"))
        .fix_by("list the runs of every folder", "onloop list --everywhere")
}

/// `error` with what can be done about a run of rw-auto.
fn with_auto(error: CommandError, auto: &AutoRun) -> CommandError {
    let id = auto.id();
    let error = error.fix_by(format!("end run `{id}` of rw-auto"), format!("onloop stop {id}"));
    match auto.process {
        Some(_) => error,
        None => error.fix_by("then start rw-auto again in its folder", "onloop auto"),
    }
}

/// Runs that may be meant, the one that changed last first, untrusted ones with their files, and those
/// whose ledger cannot be read.
struct Candidates {
    runs: Vec<Store>,
    untrusted: Vec<(String, String)>,
    broken: Vec<(String, StoreError)>,
}

async fn candidates(io: &Io, is_meant: impl Fn(&Run) -> bool) -> Candidates {
    let mut candidates = Candidates { runs: Vec::new(), untrusted: Vec::new(), broken: Vec::new() };
    for found in find_all(io).await {
        match found.record {
            FoundRecord::Own(store) if is_meant(store.run()) => candidates.runs.push(*store),
            FoundRecord::Own(_) => {}
            FoundRecord::Untrusted(Ok(record)) if is_meant(&record.run) => {
                candidates.untrusted.push((found.id, record.path));
            }
            FoundRecord::Untrusted(Ok(_)) => {}
            // A record that cannot be read may be the one that is meant.
            FoundRecord::Broken(error) => {
                io.note(format!("warning: run {}: {error}", found.id)).await;
                candidates.broken.push((found.id, error));
            }
            FoundRecord::Untrusted(Err(error)) => {
                io.note(format!("warning: run {}: {error}", found.id)).await;
            }
        }
    }
    candidates
}

/// The runs that can be read; those that cannot were named when the one that is meant was looked for.
async fn own_runs(io: &Io) -> Vec<Store> {
    let store = |found: Found| match found.record {
        FoundRecord::Own(store) => Some(*store),
        FoundRecord::Untrusted(_) | FoundRecord::Broken(_) => None,
    };
    find_all(io).await.into_iter().filter_map(store).collect()
}

/// The one run among those that fit.
async fn one_of(
    io: &Io,
    mut runs: Vec<Store>,
    untrusted: &[(String, String)],
    fitting: Fitting,
    name: Option<&str>,
) -> Result<Selected, CommandError> {
    if fitting.takes_latest(name.is_some()) {
        runs.truncate(1);
    }
    if runs.len() > 1 && is_attended(io) {
        runs = chosen(io, runs).await?;
    }
    if runs.len() == 1
        && let Some(store) = runs.pop()
    {
        return Ok(Selected { id: store.run().id.clone(), store: Some(Box::new(store)) });
    }
    if runs.is_empty() {
        if let [(id, path)] = untrusted {
            return Err(untrusted_run(id, path));
        }
        let none = match name {
            None => nothing_fits(io, fitting).await,
            Some(name) => {
                CommandError::refused(format!("`{}` has no run here", text::one_line(name)))
            }
        };
        return Err(untrusted.iter().fold(none, |error, (id, _)| {
            error
                .fix_by(format!("take over the untrusted run `{id}`"), format!("onloop adopt {id}"))
        }));
    }
    Err(CommandError::usage("several runs fit, and none was named")
        .listing(runs.iter().map(|store| format!("- {}", line(store.run()))))
        .fix("name one of them"))
}

/// Why no run fits, and the command for the one that changed last.
async fn nothing_fits(io: &Io, fitting: Fitting) -> CommandError {
    let mut error = CommandError::refused(fitting.nothing());
    let Some(store) = own_runs(io).await.into_iter().next() else {
        let cwd = &io.start().cwd;
        let autos = auto_runs::all(io).await;
        for auto in autos.iter().filter(|auto| auto.is_around(cwd)) {
            error = with_auto(error, auto);
        }
        let is_open = |found: &Found| found.run().is_ok_and(Run::is_open);
        if find_everywhere(io).await.iter().any(is_open) {
            let what = "list the runs of other folders";
            error = error.fix_by(what, "onloop list --everywhere");
        }
        return error.fix_by("begin one", "onloop do 'Fix the failing test'");
    };
    let run = store.run();
    if !run.is_over() {
        let (what, command) = first_command(run);
        return error.fix_by(what, command);
    }
    let id = &run.id;
    let fits = |disposition| Fitting::OnlyFor(disposition).fits(run);
    if fits(Disposition::Merged) {
        return error
            .fix_by(format!("merge the work of run `{id}`"), format!("onloop finish {id} merge"));
    }
    match fits(Disposition::Discarded) {
        true => error.fix_by(format!("discard the work of run `{id}`"), discard_command(run)),
        false => error.fix_by("list the runs that have ended", "onloop list"),
    }
}

/// A run in a list to choose from.
fn line(run: &Run) -> String {
    let (status, file) = (run.status.as_str(), &run.place.workflow_path);
    format!("{} [{status}] workflow={file}", run.id)
}

/// The run that the person at the terminal chooses; all of them without an understood answer.
async fn chosen(io: &Io, mut runs: Vec<Store>) -> Result<Vec<Store>, CommandError> {
    let lines =
        (1..).zip(&runs).map(|(number, store)| format!("  {number}. {}\n", line(store.run())));
    io.note(format!("Several runs fit:\n{}", lines.collect::<String>())).await;
    for _ in 0..limits::ANSWERS_PER_QUESTION {
        match io.ask("Number of the run: ").await {
            Ok(typed) => match typed.trim().parse::<usize>() {
                Ok(number) if (1..=runs.len()).contains(&number) => {
                    return Ok(vec![runs.swap_remove(number - 1)]);
                }
                Ok(_) | Err(_) => {
                    io.note(format!("Please answer a number from 1 to {}.", runs.len())).await;
                }
            },
            Err(failure) if failure.is_interrupted() => return Err(CommandError::interrupted()),
            Err(_) => break,
        }
    }
    Ok(runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_name_is_the_beginning_of_one_id_alone() {
        let ids = ["a-2026", "a-2027", "ab-2026", "c-2026", "c-2026.step-2", "c-2026.step-2-2"];
        let names = ShortNames(ids.map(str::to_owned).to_vec());
        for (id, least, name) in [
            ("a-2026", "a", "a-2026"),
            ("a-2027", "a", "a-2027"),
            ("ab-2026", "ab", "ab"),
            ("c-2026", "c", "c"),
            ("c-2026", "x", "c-2026"),
        ] {
            assert_eq!(names.name(id, least), name, "{id}");
        }
    }
}
