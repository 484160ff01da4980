//! The program under test is linked as the published one is.

#[path = "../native/build/c_library.rs"]
mod c_library;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../native/build");
    println!("cargo::rustc-check-cfg=cfg(c_library_inside)");
    let arguments = c_library::arguments();
    if !arguments.is_empty() {
        println!("cargo::rustc-cfg=c_library_inside");
    }
    for argument in arguments {
        println!("cargo::rustc-link-arg-bin=onloop-under-test={argument}");
    }
}
