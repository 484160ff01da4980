//! Any text is judged, and adding a command to it never makes the decision milder.
#![no_main]

use libfuzzer_sys::fuzz_target;
use onloop_core::permission::{Call, Context, Decision, decide};

fuzz_target!(|line: &str| {
    let context = Context::new("/srv/repo");
    let alone = decide(&Call::shell(line), &context).decision;
    let more = decide(&Call::shell(&format!("rm -rf x\n{line}")), &context).decision;
    assert_eq!(more, Decision::Deny);
    let behind = decide(&Call::shell(&format!("id; {line}")), &context).decision;
    assert!(behind >= alone.max(Decision::Ask));
});
