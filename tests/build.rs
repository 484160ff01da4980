//! The program under test is linked as the published one is.

#[path = "../native/build/c_library.rs"]
mod c_library;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../native/build");
    for argument in c_library::arguments() {
        println!("cargo::rustc-link-arg-bin=onloop-under-test={argument}");
    }
}
