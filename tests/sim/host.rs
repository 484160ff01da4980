//! A host in memory that does what it is told, including the worst.

mod absent;
mod locks;
mod processes;
mod serve;
mod terminal;
mod together;

use std::collections::{BTreeMap, VecDeque};

use onloop::host::Host;
use onloop_core::effect::{
    Exit, Expect, Failure, FailureKind, GitRequest, HttpAnswer, HttpSpec, LaunchSpec, Outcome,
    ProcessGroup, ProcessIdentity, ProcessSpec, Program, Reply, Request, Say, Start, Terminal,
    Turn,
};
use onloop_core::text;
use onloop_core::time::Timestamp;

use crate::process::Scripts;
use crate::{Disk, SimProcess};
use absent::{no_network, no_repository};
use locks::Holder;
use processes::LeftRunning;
pub use serve::SimServer;

/// A simulated machine. It outlives the programs that run on it: after a power cut the next
/// program finds what the disk kept.
pub struct SimHost {
    /// Its files.
    pub disk: Disk,
    /// Everything that was said, in order.
    pub said: Vec<Say>,
    /// Every request so far, in order, failed ones included, unless they are only counted.
    pub requests: Vec<Request>,
    keeps_requests: bool,
    request_count: usize,
    /// What programs find their streams connected to.
    pub terminal: Terminal,
    /// Who started the programs, nearest first.
    pub ancestors: Vec<ProcessIdentity>,
    /// When all of these have exited.
    pub client_leaves_at: Option<Timestamp>,
    /// What is over so soon is recorded with what it has done.
    pub quick_ms: u64,
    /// Programs that outlive the one that started them, in the order of their starts.
    pub launched: Vec<LaunchSpec>,
    /// What programs find in their environment.
    pub env: BTreeMap<String, String>,
    cwd: String,
    now: Timestamp,
    tick_ms: u64,
    pid: u32,
    /// Programs that wait in the middle of their work while another one runs.
    suspended: Vec<u32>,
    /// Programs that another one has interrupted, and that have not noticed.
    signals: Vec<u32>,
    /// Command lines of launched drivers that have not begun; `None`: launched programs are scripted.
    drivers: Option<Vec<Vec<String>>>,
    /// What launched drivers have said.
    pub said_by_drivers: Vec<Say>,
    locks: BTreeMap<String, Holder>,
    /// Folders in which changes are waited for, and what was in them; `None`: they are not there.
    watched: BTreeMap<String, Option<String>>,
    answers: VecDeque<String>,
    /// Standard input that is not read yet.
    pub input: Vec<u8>,
    /// Why no result can be written.
    pub results_fail: Option<FailureKind>,
    scripts: Scripts,
    left: Option<LeftRunning>,
    survivors: Vec<ProcessGroup>,
    /// How often the machine was started again.
    boots: u32,
    git: GitScript,
    http: HttpScript,
    /// What a program that is a server has said.
    pub server: SimServer,
    refusals: Vec<Refusal>,
    meddlers: Vec<Meddler>,
    interrupt_at: Option<usize>,
    interrupted: bool,
    power_loss: Option<PowerLoss>,
    kill: Option<Kill>,
}

type GitScript = Box<dyn FnMut(&mut Disk, &GitRequest) -> Result<Outcome, Failure>>;
type HttpScript = Box<dyn FnMut(&mut Disk, &HttpSpec) -> Result<HttpAnswer, Failure>>;
type Refusal = Box<dyn FnMut(usize, &Request) -> Option<FailureKind>>;
type Meddler = Box<dyn FnMut(&mut Disk)>;

/// When the power goes, counted in requests of this machine from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerLoss {
    /// The request during which it goes.
    pub at_request: usize,
    /// How far that request has come.
    pub moment: Moment,
    /// Whether relaxed writes are lost; a real disk may do either.
    pub lose_relaxed: bool,
}

/// When a program is killed, counted in requests of this machine from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kill {
    /// The request during which that happens.
    pub at_request: usize,
    /// How far that request has come.
    pub moment: Moment,
    /// Whether what the program has left running goes on without it, as the programs do that an
    /// agent has started.
    pub leaves_processes: bool,
}

/// How far a request has come when the power goes, or its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// It has not begun.
    Before,
    /// A change of the disk has reached it in part; everything else has not begun.
    Within,
    /// The effect is done, but the reply is lost.
    After,
}

/// How a program came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself.
    Exit(Exit),
    /// With the power.
    PowerCut,
    /// By `kill -9`.
    Killed,
}

impl Default for SimHost {
    fn default() -> SimHost {
        SimHost::new()
    }
}

impl SimHost {
    /// A machine with an empty folder `/demo`, nobody at the terminal and no repository, in
    /// 2026.
    pub fn new() -> SimHost {
        let now = Timestamp::from_millis(1_774_000_000_000);
        let cwd = "/demo".to_owned();
        let mut disk = Disk::new(&cwd);
        disk.now = now;
        SimHost {
            disk,
            said: Vec::new(),
            requests: Vec::new(),
            keeps_requests: true,
            request_count: 0,
            quick_ms: 0,
            launched: Vec::new(),
            terminal: Terminal { columns: 80, ..Terminal::default() },
            ancestors: Vec::new(),
            client_leaves_at: None,
            env: [
                ("ONLOOP_STATE_HOME", "/state"),
                ("ONLOOP_CONFINE", "off"),
                ("ONLOOP_CONTINUE", "never"),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
            cwd,
            now,
            tick_ms: 1,
            pid: 100,
            suspended: Vec::new(),
            signals: Vec::new(),
            drivers: None,
            said_by_drivers: Vec::new(),
            locks: BTreeMap::new(),
            watched: BTreeMap::new(),
            answers: VecDeque::new(),
            input: Vec::new(),
            results_fail: None,
            scripts: Scripts::default(),
            left: None,
            survivors: Vec::new(),
            boots: 0,
            git: Box::new(no_repository),
            http: Box::new(no_network),
            server: SimServer::default(),
            refusals: Vec::new(),
            meddlers: Vec::new(),
            interrupt_at: None,
            interrupted: false,
            power_loss: None,
            kill: None,
        }
    }

    /// Scripts the programs whose command line contains `part`. Scripts may change the disk
    /// and count their calls; the one added last wins.
    pub fn on(
        &mut self,
        part: &str,
        behaviour: impl FnMut(&mut Disk, &ProcessSpec) -> SimProcess + 'static,
    ) {
        self.scripts.add(part, Box::new(behaviour));
    }

    /// Scripts git.
    pub fn on_git(
        &mut self,
        git: impl FnMut(&mut Disk, &GitRequest) -> Result<Outcome, Failure> + 'static,
    ) {
        self.git = Box::new(git);
    }

    /// Scripts every server. An answer takes no time, unless the script moves the clock of the disk
    /// on; one that comes too late is a failure of kind `Closed`, and then the whole timeout goes by.
    pub fn on_http(
        &mut self,
        http: impl FnMut(&mut Disk, &HttpSpec) -> Result<HttpAnswer, Failure> + 'static,
    ) {
        self.http = Box::new(http);
    }

    /// A person sits down at the terminal and gives these answers, then leaves.
    pub fn answer<const N: usize>(&mut self, answers: [&str; N]) {
        self.terminal.stdin = true;
        self.answers.extend(answers.map(str::to_owned));
    }

    /// Every request takes `tick_ms` at least.
    pub fn tick(&mut self, tick_ms: u64) {
        self.tick_ms = tick_ms;
    }

    /// Programs are started in this folder from now on.
    pub fn stand_in(&mut self, folder: &str) {
        folder.clone_into(&mut self.cwd);
    }

    /// Refuses requests: `refuse` gets the number of the request from 0 and the request. A
    /// refused request has no effect, unless it is refused as `Unknown`: then it has happened, or,
    /// with an odd number, as much of it as a power cut would leave.
    pub fn refuse(&mut self, refuse: impl FnMut(usize, &Request) -> Option<FailureKind> + 'static) {
        self.refusals.push(Box::new(refuse));
    }

    /// Somebody else works on this machine, too: `meddle` may change files before every request.
    pub fn beside(&mut self, meddle: impl FnMut(&mut Disk) + 'static) {
        self.meddlers.push(Box::new(meddle));
    }

    /// Refuses request `number`, counted from 0 since the machine was built.
    pub fn refuse_nth(&mut self, number: usize, kind: FailureKind) {
        self.refuse(move |n, _| (n == number).then_some(kind));
    }

    /// Ctrl-C arrives during request `number`: a process that runs is interrupted, otherwise
    /// the next request that waits is.
    pub fn interrupt_at(&mut self, number: usize) {
        self.interrupt_at = Some(number);
    }

    /// The power will go.
    pub fn lose_power(&mut self, loss: PowerLoss) {
        self.power_loss = Some(loss);
    }

    /// The program that runs then will be killed; everything else goes on.
    pub fn kill(&mut self, kill: Kill) {
        self.kill = Some(kill);
    }

    /// From now on requests are counted and not kept: those of a life write megabytes.
    pub fn only_count_requests(&mut self) {
        self.keeps_requests = false;
    }

    /// How many requests there were so far.
    pub fn request_count(&self) -> usize {
        self.request_count
    }

    /// The time on this machine.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// What a program started now knows.
    pub fn start(&self, argv: &[&str]) -> Start {
        let mut start = Start::example([]);
        start.argv = argv.iter().map(|&word| word.to_owned()).collect();
        start.env = self.env.clone();
        start.cwd = self.cwd.clone();
        start.program = vec!["/opt/onloop".to_owned()];
        start.now = self.now;
        start.terminal = self.terminal;
        start.quick_ms = self.quick_ms;
        start.process.pid = self.pid;
        let seed = u128::from(self.pid) << 64 | self.request_count as u128;
        start.random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835).to_be_bytes();
        start
    }

    /// Runs a command line to its end, or to the end of the power. The next run is another
    /// process of the same machine.
    pub fn run(&mut self, argv: &[&str]) -> Ended {
        let program = onloop_core::cli::program(self.start(argv));
        self.run_program(program)
    }

    /// Runs any program; see [`SimHost::run`].
    pub fn run_program(&mut self, mut program: Program) -> Ended {
        let mut reply = None;
        let ended = loop {
            match program.resume(reply.take()) {
                Turn::Exit(exit) => break Ended::Exit(exit),
                Turn::Request(request) => match self.turn(request) {
                    Ok(answer) => reply = Some(answer),
                    Err(ended) => break ended,
                },
            }
        };
        // Its program is gone, and with it what it left running.
        self.left = None;
        self.server.end();
        if let Ended::Exit(_) = ended {
            self.release_own_locks();
        }
        self.interrupted = false;
        self.pid += 1;
        ended
    }

    /// Runs a command line to its end while another program of this machine is between two of
    /// its requests; what that one has locked stays locked.
    pub fn run_beside(&mut self, argv: &[&str]) -> Ended {
        let program = |host: &SimHost| onloop_core::cli::program(host.start(argv));
        self.any_beside(program)
    }

    /// Any program; see [`SimHost::run_beside`].
    pub fn any_beside(&mut self, program: impl FnOnce(&SimHost) -> Program) -> Ended {
        let first = self.pid;
        self.suspended.push(first);
        self.pid += 1000;
        let left = self.left.take();
        let program = program(self);
        let ended = self.run_program(program);
        self.left = left;
        self.pid = first;
        self.suspended.clear();
        ended
    }

    /// All results said so far.
    pub fn results(&self) -> String {
        let result = |say: &Say| match say {
            Say::Result(text) => Some(text.clone()),
            Say::Note(_) => None,
        };
        self.said.iter().filter_map(result).collect()
    }

    /// All notes said so far, without their styles.
    pub fn notes(&self) -> String {
        let note = |say: &Say| match say {
            Say::Note(text) => Some(text::printable(text)),
            Say::Result(_) => None,
        };
        self.said.iter().filter_map(note).collect()
    }

    /// One request, or how its program ended there.
    fn turn(&mut self, request: Request) -> Result<Reply, Ended> {
        let number = self.request_count;
        self.request_count += 1;
        if self.keeps_requests {
            self.requests.push(request.clone());
        }
        for meddle in &mut self.meddlers {
            meddle(&mut self.disk);
        }
        let loss = self.power_loss.filter(|loss| loss.at_request == number);
        if let Some(loss) = loss {
            self.begin(loss.moment, number, request);
            self.disk.cut_power(loss.lose_relaxed);
            self.power_loss = None;
            self.restart();
            return Err(Ended::PowerCut);
        }
        if let Some(kill) = self.kill.take_if(|kill| kill.at_request == number) {
            self.begin(kill.moment, number, request);
            self.leave_processes(kill.leaves_processes);
            return Err(Ended::Killed);
        }
        self.now = self.after(self.tick_ms);
        self.disk.now = self.now;
        let outcome = self.outcome(number, request);
        self.disk.now = self.now;
        Ok(Reply { at: self.now, outcome })
    }

    /// As much of a request as happens up to that moment.
    fn begin(&mut self, moment: Moment, number: usize, request: Request) {
        match moment {
            Moment::Before => {}
            Moment::Within => self.tear(&request),
            Moment::After => drop(self.outcome(number, request)),
        }
    }

    /// As much of a request reaches the disk as a power cut leaves: half of what is done in place, a
    /// temporary file of what replaces another.
    fn tear(&mut self, request: &Request) {
        let half = |bytes: &[u8]| bytes[..bytes.len() / 2].to_vec();
        // What cannot be done at all cannot be done in part.
        let _ = match request {
            Request::Append { path, bytes, expect_len_bytes, durability, private } => {
                self.disk.append(path, &half(bytes), *expect_len_bytes, *durability, *private)
            }
            Request::Patch { path, offset_bytes, old, new } => {
                self.disk.patch(path, *offset_bytes, &half(old), &half(new))
            }
            Request::Write { path, bytes, durability, private, .. } => {
                let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
                let left =
                    format!("{folder}/.onloop-sim-{}-1-{}.tmp", self.pid, self.request_count);
                let any = Expect::Any;
                self.disk.write(&left, &half(bytes), &any, *durability, *private).map(drop)
            }
            Request::Remove { path } => {
                let files = self.disk.files(path);
                let some = files.iter().take(files.len() / 2);
                some.for_each(|file| drop(self.disk.remove(file)));
                Ok(())
            }
            _ => Ok(()),
        };
    }

    fn outcome(&mut self, number: usize, request: Request) -> Result<Outcome, Failure> {
        self.interrupted |= self.interrupt_at == Some(number);
        let refused = self.refusals.iter_mut().find_map(|refuse| refuse(number, &request));
        if let Some(kind) = refused {
            if kind == FailureKind::Unknown {
                match number % 2 {
                    0 => drop(self.effect(number, request)),
                    _ => self.tear(&request),
                }
            }
            return Err(Failure::new(kind, format!("request {number} was refused: {kind:?}")));
        }
        self.effect(number, request)
    }

    fn effect(&mut self, number: usize, request: Request) -> Result<Outcome, Failure> {
        let done = |()| Outcome::Done;
        let disk = &mut self.disk;
        match request {
            Request::Read { path, limit_bytes } => disk
                .read(&path, limit_bytes)
                .map(|(bytes, version)| Outcome::File { bytes: bytes.into(), version }),
            Request::ReadTail { path, limit_bytes } => disk
                .read_tail(&path, limit_bytes)
                .map(|(bytes, size_bytes)| Outcome::Tail { bytes: bytes.into(), size_bytes }),
            Request::Write { path, bytes, expect, durability, private } => disk
                .write(&path, &bytes, &expect, durability, private)
                .map(|version| Outcome::Written { version }),
            Request::Append { path, bytes, expect_len_bytes, durability, private } => {
                disk.append(&path, &bytes, expect_len_bytes, durability, private).map(done)
            }
            Request::Patch { path, offset_bytes, old, new } => {
                disk.patch(&path, offset_bytes, &old, &new).map(done)
            }
            Request::Remove { path } => disk.remove(&path).map(done),
            Request::List { path } => disk.list(&path).map(|names| Outcome::Names { names }),
            Request::Stat { path } => disk.stat(&path).map(Outcome::Stat),
            Request::Canonical { path } => disk.canonical(&path).map(|path| Outcome::Path { path }),
            Request::Lock { path, wait_ms, private, role: _, run: _ } => {
                self.lock(&path, wait_ms, private).map(done)
            }
            Request::Unlock { path } => self.unlock(&path).map(done),
            Request::Holder { path } => self.holder(&path),
            Request::Ancestors => {
                let has_left = self.client_leaves_at.is_some_and(|at| at <= self.now);
                let processes = if has_left { Vec::new() } else { self.ancestors.clone() };
                Ok(Outcome::Processes { processes })
            }
            Request::Process(spec) => self.process(number, &spec),
            Request::Wait { wake_after_ms, wake_on_input, activity: _ } => {
                self.wait(wake_after_ms, wake_on_input)
            }
            Request::End => {
                self.left = None;
                Ok(Outcome::Done)
            }
            Request::EndGroup { group, host, mark: _ } => self.end_group(&group, &host),
            Request::Launch(spec) => self.launch(&spec).map(done),
            Request::Interrupt { process, now: _ } => self.interrupt(&process).map(done),
            Request::Git(request) => (self.git)(disk, &request),
            Request::Http(spec) => self.http(&spec),
            Request::Serve(request) => self.serve(request),
            Request::ReadInput { limit_bytes, unit, wait_ms: _ } => {
                self.read_input(limit_bytes, unit)
            }
            Request::Ask { question: _, choices: _, unless_changed } => {
                self.ask(unless_changed.as_ref())
            }
            Request::Changes { folders, wait_ms, working: _ } => self.changes(folders, wait_ms),
            Request::Sleep { duration_ms } => self.sleep(duration_ms).map(done),
            Request::Say(say) => self.say(say),
        }
    }

    fn http(&mut self, spec: &HttpSpec) -> Result<Outcome, Failure> {
        self.take_interrupt()?;
        if spec.origin().is_none() {
            return Err(Failure::new(FailureKind::Invalid, "this is no address of a server"));
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let is_valid = |(name, value): &(String, String)| {
            !name.is_empty() && name.chars().all(is_name) && !value.contains(['\r', '\n', '\0'])
        };
        if !spec.headers.iter().all(is_valid) {
            return Err(Failure::new(FailureKind::Invalid, "the request is not valid HTTP"));
        }
        let answer = (self.http)(&mut self.disk, spec);
        self.now = self.now.max(self.disk.now);
        if answer.as_ref().is_err_and(|failure| failure.kind == FailureKind::Closed) {
            self.now = self.after(spec.timeout_ms);
        }
        let answer = answer?;
        if answer.body.len() as u64 > spec.limit_bytes {
            return Err(Failure::new(FailureKind::TooLarge, "the answer is too large"));
        }
        Ok(Outcome::Http(answer))
    }

    fn changes(&mut self, folders: Vec<String>, wait_ms: u64) -> Result<Outcome, Failure> {
        self.take_interrupt()?;
        let now: BTreeMap<String, Option<String>> = folders
            .into_iter()
            .map(|folder| {
                let entries = self.disk.entries(&folder);
                (self.disk.absolute(&folder), entries)
            })
            .collect();
        let is_news = |(folder, entries): (&String, &Option<String>)| {
            self.watched.get(folder) != Some(entries)
        };
        let changed = now.iter().any(is_news);
        self.watched = now;
        if !changed {
            self.now = self.after(wait_ms);
        }
        Ok(Outcome::Changed { changed })
    }

    fn sleep(&mut self, duration_ms: u64) -> Result<(), Failure> {
        self.take_interrupt()?;
        self.now = self.after(duration_ms);
        Ok(())
    }

    fn take_interrupt(&mut self) -> Result<(), Failure> {
        if std::mem::take(&mut self.interrupted) {
            return Err(Failure::new(FailureKind::Interrupted, "interrupted"));
        }
        Ok(())
    }

    fn after(&self, duration_ms: u64) -> Timestamp {
        let duration_ms = i64::try_from(duration_ms).unwrap_or(i64::MAX);
        Timestamp::from_millis(self.now.as_millis().saturating_add(duration_ms))
    }
}

impl Host for SimHost {
    /// # Panics
    ///
    /// When the power goes: only [`SimHost::run`] can show that.
    fn perform(&mut self, request: Request) -> Reply {
        self.turn(request).expect("power cuts need `SimHost::run`")
    }
}
