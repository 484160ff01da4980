//! The words of test runners, one row a phrase.
//!
//! A phrase is compared with a whole line, whose runs of blanks are single blanks and whose `=` at both
//! ends are gone. The first phrase that fits a line counts. Places: `{*}` any text, `{n}` a number,
//! `{ran}`, `{passed}` and `{skipped}` counts of tests, `{list}` and `{parts}` lists of them, `{name}`
//! a name that counts only where the command line has it. `tests/runners` has samples; where a
//! runner was not there to be run, its manual or source is the source of the phrase.

/// What a phrase says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    /// How many tests ran, as its places tell.
    Counts,
    /// One more test, or group of tests, ran.
    OneRan,
    /// One more test passed.
    OnePassed,
    /// There was no test to run.
    NoTests,
    /// The command line is wrong.
    Misused,
}

/// A line that a program writes.
pub(super) struct Phrase {
    /// What it means.
    pub(super) says: Says,
    /// The line with its places.
    pub(super) line: &'static str,
}

macro_rules! phrases {
    ($($says:ident $line:literal)*) => {
        pub(super) const PHRASES: &[Phrase] =
            &[$(Phrase { says: Says::$says, line: $line }),*];
    };
}

phrases! {
    // cargo test (libtest) and cargo itself.
    Counts "test result: {*}. {list}; finished in {*}"
    Misused "error: no {*} target named `{name}`{*}"
    Misused "error: unexpected argument '{*}' found{*}"
    Misused "error: no such command: `{name}`{*}"
    Misused "error: package ID specification `{name}` did not match any packages{*}"
    Misused "error: could not find `Cargo.toml` in {*}"
    // cargo nextest.
    Counts "Summary [{*}] {n} test{*} run: {list}"
    NoTests "error: no tests to run{*}"
    NoTests "warning: no tests to run{*}"
    // pytest.
    NoTests "no tests ran in {*}"
    Counts "{parts} in {*}s"
    Counts "{parts} in {*}s ({*})"
    Misused "ERROR: file or directory not found: {name}"
    Misused "ERROR: not found: {name}"
    Misused "{*}: error: unrecognized arguments: {*}"
    // unittest of Python, and Python itself.
    NoTests "NO TESTS RAN{*}"
    Counts "Ran {ran} test{*} in {*}s"
    Counts "OK (skipped={skipped}{*}"
    Misused "{*}: can't open file '{name}': {*}"
    Misused "{*}python{*}: No module named {name}"
    Misused "ModuleNotFoundError: No module named '{name}'"
    Misused "ImportError: Start directory is not importable: '{name}'"
    // Jest.
    OneRan "Test Suites: {n} failed{*}"
    Counts "Tests: {list}"
    NoTests "No tests found, exiting with code {n}"
    Misused "● Unrecognized {*}"
    // Vitest.
    OneRan "Test Files {n} failed{*}"
    Counts "Tests {list}"
    NoTests "No test files found, exiting with code {n}"
    Misused "CACError: Unknown option {*}"
    // Mocha.
    Counts "{passed} passing{*}"
    Counts "{ran} failing{*}"
    Misused "Error: No test files found: \"{name}\""
    // node --test, in TAP and for people, and Node itself.
    Counts "# pass {passed}"
    Counts "# fail {ran}"
    Counts "ℹ pass {passed}"
    Counts "ℹ fail {ran}"
    Misused "Could not find '{name}'"
    Misused "Error: Cannot find module '{name}'"
    Misused "{*}node: bad option: {*}"
    // npm, pnpm, yarn and Bun.
    Misused "npm {*} Missing script: \"{name}\""
    Misused "Unknown command: \"{name}\""
    Misused "ERR_PNPM_NO_SCRIPT Missing script: {name}"
    Misused "error Command \"{name}\" not found."
    Misused "error: Script not found \"{name}\""
    // go test.
    NoTests "ok {*} [no tests to run]"
    NoTests "? {*} [no test files]"
    NoTests "testing: warning: no tests to run"
    OnePassed "--- PASS: {*}"
    OneRan "--- FAIL: {*}"
    OneRan "FAIL {*}"
    Misused "flag provided but not defined: {*}"
    Misused "stat {name}: directory not found"
    Misused "no required module provides package {name};{*}"
    Misused "go: cannot find main module{*}"
    Misused "go {name}: unknown command"
    // Gradle.
    NoTests "> Task {*}:test NO-SOURCE"
    OneRan "> Task {*}:test"
    OneRan "> Task {*}:test UP-TO-DATE"
    OneRan "> Task {*}:test FROM-CACHE"
    OneRan "> Task {*}:test FAILED"
    NoTests "> No tests found for given includes: {*}"
    Misused "Task '{name}' not found in {*}"
    Misused "Unknown command-line option '{*}'{*}"
    // Maven Surefire and Failsafe, and Maven itself.
    NoTests "{*}No tests to run."
    NoTests "{*}No tests {*}were executed!{*}"
    Counts "{*}Tests run: {ran}, Failures: {n}, Errors: {n}, Skipped: {skipped}"
    Misused "[ERROR] Unknown lifecycle phase \"{name}\".{*}"
    Misused "Unable to parse command line options: {*}"
    // PHPUnit.
    NoTests "No tests executed!"
    Counts "OK ({passed} test{*}, {n} assertion{*})"
    Counts "Tests: {ran}, Assertions: {n}, Skipped: {skipped}."
    Counts "Tests: {ran}, Assertions: {*}"
    Misused "Cannot open file \"{name}\".{*}"
    Misused "Test file \"{name}\" not found{*}"
    Misused "Could not open input file: {name}"
    Misused "Unknown option \"{*}\""
    // RSpec.
    NoTests "No examples found."
    OneRan "{n} examples, {n} failures, {n} error{*} occurred outside of examples"
    Counts "{ran} example{*}, {n} failure{*}, {skipped} pending"
    Counts "{ran} example{*}, {n} failure{*}"
    Misused "cannot load such file -- {name}"
    // RSpec and Rake.
    Misused "invalid option: {*}"
    // Minitest.
    Counts "{ran} runs, {n} assertions, {n} failures, {n} errors, {skipped} skips"
    // dotnet test.
    NoTests "No test is available in {*}"
    NoTests "No test matches the given testcase filter {*}"
    Counts "{*}! - Failed: {ran}, Passed: {passed}, Skipped: {n}, Total: {n}{*}"
    Misused "MSBUILD : error MSB1009: {*}"
    // ctest.
    NoTests "No tests were found!!!"
    Counts "{n}% tests passed, {n} tests failed out of {ran}"
    Counts "{n}% tests passed out of {ran}"
    Misused "Failed to change working directory to \"{name}\": {*}"
    Misused "CMake Error: Unknown argument: {*}"
    // Deno, whose lines could be of the next one.
    Counts "{*} | {passed} passed{*} | {ran} failed{*}"
    // Test Anything Protocol.
    NoTests "1..0{*}"
    NoTests "ok {*} # SKIP{*}"
    OneRan "ok {*}"
    OneRan "not ok {*}"
    // Deno, Bun, and what many home-made runners write.
    Misused "error: Import '{name}' failed, not found."
    NoTests "error: regex \"{*}\" matched 0 tests.{*}"
    NoTests "The following filters did not match any test files:"
    Misused "Test filter \"{name}\" had no matches"
    Counts "{passed} passed, {ran} failed{*}"
    Counts "{passed} pass"
    Counts "{ran} fail"
    // make, just, Task, Rake and Composer.
    Misused "make: *** No rule to make target '{name}'. Stop."
    Misused "make: *** No targets specified and no makefile found. Stop."
    Misused "error: Justfile does not contain recipe `{name}`{*}"
    Misused "task: Task \"{name}\" does not exist{*}"
    Misused "Don't know how to build task '{name}'{*}"
    Misused "Command \"{name}\" is not defined.{*}"
    // Shells, and what most programs say of a file.
    Misused "{*}: {name}: command not found"
    Misused "{*}: {name}: not found"
    Misused "{*}: cannot access '{name}': No such file or directory"
    Misused "{*}: {name}: No such file or directory"
    Misused "{*}: cannot open {name}: No such file{*}"
    Misused "{*}: can't cd to {name}{*}"
}
