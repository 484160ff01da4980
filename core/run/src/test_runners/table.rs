//! The words of test runners, one row a phrase.
//!
//! A phrase is compared with a whole line, whose runs of blanks are single blanks and whose `=` at both
//! ends are gone. The first phrase that fits a line counts. Places: `{*}` any text, `{n}` a number,
//! `{secs}` a number with a fraction, `{ran}`, `{passed}`, `{skipped}` and `{failed}` counts of tests,
//! `{failures}` those of `{ran}` that failed, `{list}` and `{parts}` lists of them, `{dots}` a letter for each, `{results}` JSON, `{word}` text without blanks,
//! `{file}` such text that is a script. `{name}`, `{module}` and `{attribute}` are names: the line
//! counts only where the command line has it. `tests/runners` has samples; where a runner was not there
//! to be run, its manual or source is the source of the phrase.

/// What a phrase says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    /// How many tests ran, as its places tell.
    Counts,
    /// All that ran and were counted have passed.
    AllPassed,
    /// How many tests ran, by `node --test`, whose points may be suites.
    NodeCounts,
    /// One more test, or group of tests, ran.
    OneRan,
    /// One more test failed.
    OneFailed,
    /// One more group of tests failed.
    GroupFailed,
    /// How many of the tests that ran failed.
    Failures,
    /// One more test passed.
    OnePassed,
    /// One more point of the Test Anything Protocol.
    Point,
    /// One more point, or its line for people, that is a whole file of `node --test`.
    File,
    /// One more package of Go passed.
    Package,
    /// One test was skipped, and those that ran have such a line as well.
    OneSkipped,
    /// Some tests ran, in a line with a letter for each.
    Progress,
    /// The same, in a line that other programs may write.
    Dots,
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
    NoTests "{n} test{*}, {n} benchmark{*}"
    Misused "error: no {*} target named `{name}`{*}"
    Misused "error: unexpected argument '{*}' found{*}"
    Misused "error: no {*} target matches pattern `{name}`{*}"
    Misused "error: Unrecognized option: '{*}'"
    Misused "error: the package '{*}' does not contain {*} feature{*}: {*}"
    Misused "error: none of the selected packages contains {*} feature{*}: {*}"
    Misused "error: profile `{name}` is not defined"
    Misused "error: could not parse `{name}`. Number of parallel jobs{*}"
    Misused "error: manifest path `{name}` does not exist{*}"
    Misused "error: toolchain '{*}' is not installed{*}"
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
    NoTests "{n} test{*} collected in {*}s"
    NoTests "{n}/{n} tests collected ({n} deselected) in {*}s"
    Progress "{dots} [{*}%]"
    Misused "ERROR: file or directory not found: {name}"
    Misused "ERROR: not found: {name}"
    Misused "ERROR: Config file '{*}' not found.{*}"
    Misused "ERROR: Directory '{*}' not found. Check your '--rootdir' option."
    Misused "ERROR: Error importing plugin \"{name}\": {*}"
    Misused "{*}pytest: error: {*}"
    Misused "{*}py.test: error: {*}"
    // unittest of Python, and Python itself.
    NoTests "NO TESTS RAN{*}"
    Counts "Ran {ran} test{*} in {*}s"
    AllPassed "OK"
    // A test that is expected to fail shows nothing.
    AllPassed "OK (skipped={skipped}, expected failures={skipped}{*}"
    AllPassed "OK (skipped={skipped}{*}"
    AllPassed "OK (expected failures={skipped}{*}"
    Failures "FAILED (failures={failures}, errors={failures}{*}"
    Failures "FAILED (failures={failures}{*}"
    Failures "FAILED (errors={failures}{*}"
    Dots "{dots}"
    Misused "{*}unittest: error: {*}"
    Misused "{*}: can't open file '{name}': {*}"
    Misused "{*}python{*}: Error while finding module specification for '{module}' ({*}"
    Misused "{*}python{*}: No module named {module}"
    Misused "ModuleNotFoundError: No module named '{module}'"
    Misused "AttributeError: {*} has no attribute '{attribute}'"
    Misused "ImportError: Start directory is not importable: '{name}'"
    // Jest.
    GroupFailed "Test Suites: {n} failed{*}"
    Counts "Tests: {list}"
    NoTests "No tests found, exiting with code {n}"
    NoTests "No tests found related to files changed since {*}"
    Misused "● Unrecognized {*}"
    Misused "Error: Can't find a root directory while resolving a config file path."
    Misused "Directory {name} in the rootDir option was not found."
    // Vitest.
    GroupFailed "Test Files {n} failed{*}"
    Counts "Tests {list}"
    NoTests "Tests no tests"
    // Jest and Vitest as JSON.
    Counts "{results}"
    // JUnit's form, by Vitest and others.
    Counts "<testsuite {*} tests=\"{ran}\" failures=\"{failures}\" errors=\"{failures}\" skipped=\"{skipped}\"{*}"
    NoTests "No test files found, exiting with code {n}"
    Misused "CACError: Unknown option {*}"
    Misused "failed to load config from {name}"
    Misused "MISSING DEPENDENCY Cannot find dependency '{*}'"
    Misused "Error: ENOENT: no such file or directory, scandir '{name}'"
    // Mocha.
    Counts "{passed} passing{*}"
    Counts "{failed} failing{*}"
    Counts "\"passes\": {passed},"
    Counts "\"failures\": {failed},"
    Misused "✖ ERROR: {*}: Could not load {*} \"{name}\":"
    Misused "Error: No test files found: \"{name}\""
    // node --test, in TAP and for people, and Node itself.
    NodeCounts "# pass {passed}"
    NodeCounts "# fail {failed}"
    NodeCounts "ℹ pass {passed}"
    NodeCounts "ℹ fail {failed}"
    File "ok {n} - {file}"
    File "✔ {file} ({*}ms)"
    Misused "Could not find '{name}'"
    Misused "Error: Cannot find module '{name}'"
    Misused "Error [ERR_MODULE_NOT_FOUND]: Cannot find package '{name}' imported from {*}"
    Misused "{*}Error [ERR_MODULE_NOT_FOUND]: Cannot find module '{name}' imported from {*}/"
    Misused "{*}node: bad option: {*}"
    // What `node -e` says below a line that it cannot read.
    Misused "at makeContextifyScript (node:internal/vm:{*}"
    // npm, pnpm, yarn and Bun.
    Misused "npm {*} Missing script: \"{name}\""
    Misused "npm {*} enoent Could not read package.json: {*}"
    Misused "npm {*} enoent ENOENT: no such file or directory, open '{*}package.json'"
    Misused "npm {*} No workspaces found:"
    Misused "npm {*} npx canceled due to missing packages and no YES option: {*}"
    // What npm writes as the test script of a new project.
    Misused "Error: no test specified"
    Misused "Unknown command: \"{name}\""
    Misused "ERR_PNPM_NO_SCRIPT Missing script: {name}"
    Misused "error Command \"{name}\" not found."
    Misused "error: Script not found \"{name}\""
    // go test.
    NoTests "ok {*} [no tests to run]"
    Package "ok {word} {secs}s"
    Package "ok {word} {secs}s coverage: {*}"
    Package "ok {word} (cached){*}"
    NoTests "? {*} [no test files]"
    NoTests "testing: warning: no tests to run"
    OnePassed "--- PASS: {*}"
    OneFailed "--- FAIL: {*}"
    OneSkipped "--- SKIP: {*}"
    OnePassed "{*},\"Action\":\"pass\",{*},\"Test\":{*}"
    OneFailed "{*},\"Action\":\"fail\",{*},\"Test\":{*}"
    NoTests "{*},\"Output\":\"ok {*}[no tests to run]{*}"
    NoTests "{*},\"Output\":\"?{*}[no test files]{*}"
    NoTests "{*},\"Action\":\"skip\",{*},\"Test\":{*}"
    GroupFailed "FAIL {word} {secs}s"
    GroupFailed "FAIL {word} [{*} failed]"
    OneRan "FAIL {*}"
    Misused "flag provided but not defined: {*}"
    Misused "invalid value \"{name}\" for flag -{*}: {*}"
    Misused "testing: invalid regexp for element {n} of {*}"
    Misused "stat {name}: directory not found"
    Misused "no Go files in {name}"
    Misused "package {*}: no Go files in {name}"
    Misused "no packages to test"
    Misused "pattern {name}: {*}: no such file or directory"
    Misused "package {name} is not in {*}"
    Misused "malformed module path \"{name}\": {*}"
    Misused "no required module provides package {name};{*}"
    Misused "go: cannot find main module{*}"
    Misused "go {name}: unknown command"
    // Gradle.
    NoTests "> Task {*}:test NO-SOURCE"
    OneRan "> Task {*}:test"
    OneRan "> Task {*}:test UP-TO-DATE"
    OneRan "> Task {*}:test FROM-CACHE"
    GroupFailed "> Task {*}:test FAILED"
    Failures "{n} test{*} completed, {failures} failed{*}"
    NoTests "> No tests found for given includes: {*}"
    Misused "Task '{name}' not found in {*}"
    Misused "Unknown command-line option '{*}'{*}"
    // Maven Surefire and Failsafe, and Maven itself.
    NoTests "{*}No tests to run."
    NoTests "{*}No tests {*}were executed!{*}"
    Counts "{*}Tests run: {ran}, Failures: {failures}, Errors: {failures}, Skipped: {skipped}"
    Misused "[ERROR] Unknown lifecycle phase \"{name}\".{*}"
    Misused "Unable to parse command line options: {*}"
    // PHPUnit.
    NoTests "No tests executed!"
    Counts "OK ({passed} test{*}, {n} assertion{*})"
    Counts "Tests: {ran}, Assertions: {n}, Skipped: {skipped}."
    Counts "Tests: {ran}, Assertions: {n}, Errors: {failures}, Failures: {failures}{*}"
    Counts "Tests: {ran}, Assertions: {n}, Errors: {failures}{*}"
    Counts "Tests: {ran}, Assertions: {n}, Failures: {failures}{*}"
    Counts "Tests: {ran}, Assertions: {*}"
    Misused "Cannot open file \"{name}\".{*}"
    Misused "Test file \"{name}\" not found{*}"
    Misused "Could not open input file: {name}"
    Misused "Unknown option \"{*}\""
    // RSpec.
    NoTests "No examples found."
    GroupFailed "{n} examples, {n} failures, {n} error{*} occurred outside of examples"
    Counts "{ran} example{*}, {failures} failure{*}, {skipped} pending"
    Counts "{ran} example{*}, {failures} failure{*}"
    Misused "cannot load such file -- {name}"
    // RSpec and Rake.
    Misused "invalid option: {*}"
    // Minitest.
    Counts "{ran} runs, {n} assertions, {failures} failures, {failures} errors, {skipped} skips"
    // dotnet test.
    NoTests "No test is available in {*}"
    NoTests "No test matches the given testcase filter {*}"
    Counts "{*}! - Failed: {failed}, Passed: {passed}, Skipped: {n}, Total: {n}{*}"
    Misused "MSBUILD : error MSB1009: {*}"
    // ctest.
    NoTests "No tests were found!!!"
    Counts "{n}% tests passed, {failures} tests failed out of {ran}"
    Counts "{n}% tests passed out of {ran}"
    Misused "Failed to change working directory to \"{name}\": {*}"
    Misused "CMake Error: Unknown argument: {*}"
    // Deno, whose lines could be of the next one.
    Counts "{*} | {passed} passed{*} | {failed} failed{*}"
    // Test Anything Protocol.
    NoTests "1..0{*}"
    NoTests "ok {*} # SKIP{*}"
    Point "ok {n}"
    Point "ok {n} {*}"
    Point "ok - {*}"
    Point "not ok {*}"
    // Deno, Bun, and what many home-made runners write.
    Misused "error: Import '{name}' failed, not found."
    NoTests "error: regex \"{*}\" matched 0 tests.{*}"
    NoTests "The following filters did not match any test files:"
    Misused "Test filter \"{name}\" had no matches"
    Counts "{passed} passed, {failed} failed{*}"
    Counts "{passed} pass"
    Counts "{failed} fail"
    // make, just, Task, Rake and Composer.
    Misused "make: *** No rule to make target '{name}'. Stop."
    // A program of a recipe that cannot be run, as if the check were its line.
    Misused "make{*}: *** [{*}] Error 127"
    Misused "make{*}: *** [{*}] Error 126"
    Misused "make: *** {name}: No such file or directory. Stop."
    Misused "make: unrecognized option {*}"
    Misused "make: *** No targets specified and no makefile found. Stop."
    Misused "error: Justfile does not contain recipe `{name}`{*}"
    Misused "task: Task \"{name}\" does not exist{*}"
    Misused "Don't know how to build task '{name}'{*}"
    Misused "Command \"{name}\" is not defined.{*}"
    // Lines that a shell cannot read, which are those of the check or of a recipe.
    Misused "bash: -c: line {n}: syntax error near {*}"
    Misused "bash: -c: line {n}: unexpected EOF while looking for {*}"
    Misused "bash: -c: line {n}: syntax error: {*}"
    Misused "sh: {n}: Syntax error: {*}"
    Misused "/bin/sh: {n}: Syntax error: {*}"
    // Shells, and what most programs say of a file.
    Misused "{*}: {name}: command not found"
    Misused "{*}: {name}: not found"
    Misused "{*}: cannot access '{name}': No such file or directory"
    Misused "{*}: {name}: No such file or directory"
    Misused "{*}: cannot open {name}: No such file{*}"
    Misused "{*}: cannot open {name} (No such file{*}"
    Misused "{*}: cannot open file `{name}' for reading{*}"
    Misused "{*}: can't read {name}: No such file{*}"
    Misused "{*}: Could not open file {name}: No such file{*}"
    Misused "grep: unrecognized option {*}"
    Misused "grep: invalid option {*}"
    Misused "fatal: ambiguous argument '{name}': {*}"
    Misused "{*}: can't cd to {name}{*}"
    Misused "env: cannot change directory to '{name}': {*}"
}
