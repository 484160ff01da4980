//! Links the C library into the programs where that can be done.

#[path = "build/c_library.rs"]
mod c_library;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    for argument in c_library::arguments() {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
}
