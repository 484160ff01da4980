//! `wasm-package MODULE.wasm FOLDER NAME`: writes the module's JavaScript binding to a folder:
//! `NAME.js`, `NAME.d.ts` and `NAME_bg.wasm`.
//!
//! The generator makes a script with one instance in the variables around its functions. It becomes a
//! function here that makes such a set of variables each time: one for every instance.

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

/// What the generator calls the object with everything in it.
const GLUE: &str = "wasm_bindgen";

/// One binding for every consumer: it is given the module and fetches nothing by itself.
fn bind(module: &Path, folder: &Path, name: &str) -> Result<(), String> {
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).typescript(true).out_name(name);
    let bindgen = bindgen.no_modules(true).map_err(|error| format!("{error:#}"))?;
    bindgen
        .generate(folder)
        .map_err(|error| format!("cannot bind `{}`: {error:#}", module.display()))?;
    rewrite(&folder.join(format!("{name}.js")), |script| {
        format!("export function bind() {{\n{script}\nreturn {GLUE};\n}}\n")
    })?;
    rewrite(&folder.join(format!("{name}.d.ts")), |types| {
        format!("{types}\nexport type Glue = typeof {GLUE};\nexport function bind(): Glue;\n")
    })
}

fn rewrite(path: &Path, change: impl FnOnce(&str) -> String) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let text = std::fs::read_to_string(path).map_err(failed)?;
    std::fs::write(path, change(&text)).map_err(failed)
}
