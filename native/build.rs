//! Links the C library into the programs where that can be done.

#[path = "build/c_library.rs"]
mod c_library;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rustc-check-cfg=cfg(c_library_inside)");
    let arguments = c_library::arguments();
    if !arguments.is_empty() {
        println!("cargo::rustc-cfg=c_library_inside");
    }
    for argument in arguments {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
}
