//! The exported functions in an engine, for whoever knows `wasm-pack test --node wasm` alone. What
//! they answer is compared with the native program by the tests of the npm package.

#![cfg(target_arch = "wasm32")]

use onloop_wasm::{memory_bytes, pure, version};
use wasm_bindgen_test::wasm_bindgen_test;

const PATH: &str = "hotl-workflow-greet.md";
const TEXT: &str = "---\nintent: Greet\nsuccess_criteria: There is a greeting\nrisk_level: low\n\
    ---\n\n- [ ] **Step 1: Greet**\naction: Write it.\nverify: test -s greeting.txt\n";

#[wasm_bindgen_test]
fn the_module_knows_its_version_and_has_memory() {
    assert_eq!(version(), env!("CARGO_PKG_VERSION"));
    assert!(memory_bytes() > 0.0);
}

#[wasm_bindgen_test]
fn a_finding_is_told_and_fixed() {
    let found = pure::lint(PATH, TEXT.as_bytes());
    assert!(found.contains(r#""code":"missing-loop""#), "{found}");
    let fixed = pure::fix(PATH, TEXT.as_bytes());
    assert!(fixed.contains(r"\nloop: false\n"), "{fixed}");
}

#[wasm_bindgen_test]
fn a_call_is_judged() {
    let call = r#"{"tool":"Bash","input":{"command":"rm -rf /"},"cwd":"/srv/repo"}"#;
    let Ok(ruling) = pure::permission::decide(call) else { panic!("the call is one") };
    assert!(ruling.contains(r#""decision":"deny""#), "{ruling}");
}
