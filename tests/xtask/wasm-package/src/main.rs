//! `wasm-package MODULE.wasm FOLDER NAME`: writes the module's JavaScript binding to a folder:
//! `NAME.js`, `NAME.d.ts` and `NAME_bg.wasm`.

use std::path::Path;
use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [module, folder, name] = words.as_slice() else {
        eprintln!("usage: wasm-package MODULE.wasm FOLDER NAME");
        return ExitCode::from(2);
    };
    match bind(Path::new(module), Path::new(folder), name) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("wasm-package: {message}");
            ExitCode::FAILURE
        }
    }
}

/// One binding for every consumer: it is given the module and fetches nothing by itself.
fn bind(module: &Path, folder: &Path, name: &str) -> Result<(), String> {
    let mut bindgen = Bindgen::new();
    // After a trap the loader replaces the instance.
    bindgen.input_path(module).typescript(true).out_name(name).reset_state_function(true);
    let bindgen = bindgen.web(true).map_err(|error| format!("{error:#}"))?;
    bindgen
        .generate(folder)
        .map_err(|error| format!("cannot bind `{}`: {error:#}", module.display()))
}
