//! What a call is about, in the spellings that rules are compared with.

use super::paths::{PathClass, Places, below, goes_up, tidy};
use super::web;
use onloop_syntax::syntax::file_uri;

/// A command, file, address or input.
#[derive(Clone, Debug, Default)]
pub(super) struct Target {
    /// An allow rule has to cover one of these.
    pub to_allow: Vec<String>,
    /// A deny or ask rule is about the target if it matches one of these.
    pub to_forbid: Vec<String>,
    /// The same file, named from another folder, and behind [`Target::prefix`].
    pub elsewhere: Vec<String>,
    /// How many bytes stand in front of the path.
    pub prefix: usize,
}

impl Target {
    /// What has one spelling.
    pub(super) fn text(text: impl Into<String>) -> Target {
        let text = vec![text.into()];
        Target { to_allow: text.clone(), to_forbid: text, ..Target::default() }
    }

    /// The file at `written`, a path or an address, and the files that rules have to allow besides it.
    ///
    /// An allow rule is compared with the spelling of the call, so that it is about the files that a
    /// person thought of. A path that goes up counts by where it ends.
    pub(super) fn file(written: &str, places: &Places) -> Vec<Target> {
        let address = file_uri::path_of(written);
        let path = address.as_deref().unwrap_or(written);
        let tidy = tidy(path);
        let named = places.named(path);
        let targets = &named[1..];
        let is_relative = !path.starts_with(['/', '~']);
        let alike = |full: &String| {
            let inside = below(full, &places.cwd).filter(|_| is_relative);
            inside.map_or_else(|| full.clone(), str::to_owned)
        };
        let mut file = Target {
            to_allow: vec![tidy.clone()],
            to_forbid: vec![written.to_owned(), tidy],
            ..Target::default()
        };
        if !goes_up(path) {
            file.to_allow.push(written.to_owned());
        }
        file.to_forbid.extend(targets.iter().map(alike));
        let end = if path.ends_with('/') { "/" } else { "" };
        for full in &named {
            let home = places.user_home.as_deref();
            let at_home = home.and_then(|home| Some(format!("~/{}", below(full, home)?)));
            let behind_tilde = full.strip_prefix("~/").zip(home);
            let inside = [Some(places.cwd.as_str()), places.root.as_deref()];
            let inside = inside.into_iter().flatten().filter_map(|folder| below(full, folder));
            file.elsewhere.extend(inside.map(|inside| format!("{inside}{end}")));
            file.elsewhere.extend(at_home);
            file.elsewhere.extend(behind_tilde.map(|(rest, home)| format!("{home}/{rest}")));
            file.elsewhere.push(format!("{full}{end}"));
        }
        // An agent can make a link in the checkout, and a rule that names it says nothing about what is
        // not the checkout's own.
        let needs_rule = |full: &&String| {
            goes_up(path) || places.is_inside(path) && places.class(full) != PathClass::Repository
        };
        let led = targets.iter().filter(needs_rule).map(alike);
        let led = led.map(|spelling| Target { to_allow: vec![spelling], ..Target::default() });
        std::iter::once(file).chain(led.collect::<Vec<_>>()).collect()
    }

    /// The program in the file at `path`, as [`Target::file`]; without a folder it would be another one.
    pub(super) fn program(path: &str, places: &Places) -> Vec<Target> {
        let mut targets = Self::file(path, places);
        for target in &mut targets {
            target.elsewhere.clear();
            let to_allow = target.to_allow.iter_mut().filter(|spelling| !spelling.contains('/'));
            to_allow.for_each(|spelling| spelling.insert_str(0, "./"));
        }
        targets
    }

    /// The address `url`. A part of it that servers or programs read in different ways is left out.
    pub(super) fn url(url: &str) -> Target {
        let Some((plain, is_plain)) = web::plain(url) else {
            return Target { to_allow: Vec::new(), ..Target::text(url) };
        };
        let as_written = Some(url.to_owned()).filter(|_| is_plain);
        let to_allow = as_written.into_iter().chain([plain.clone()]).collect();
        Target { to_allow, to_forbid: vec![url.to_owned(), plain], ..Target::default() }
    }

    /// The target with `prefix` in front of every spelling.
    pub(super) fn behind(mut self, prefix: &str) -> Target {
        let all = self.to_allow.iter_mut().chain(&mut self.to_forbid).chain(&mut self.elsewhere);
        all.for_each(|spelling| spelling.insert_str(0, prefix));
        self.prefix += prefix.len();
        self
    }
}
