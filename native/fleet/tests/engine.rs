//! Runs the tests of all storages on the storage in memory.

#[path = "engine/archive.rs"]
mod archive;
#[path = "engine/samples.rs"]
mod samples;
#[path = "engine/scenarios.rs"]
mod scenarios;

use onloop_fleet::engine::{Engine, Memory};

#[tokio::test]
async fn the_engine_in_memory_keeps_the_contract() {
    let engine = Engine::start(Memory::new(), scenarios::settings()).await.expect("it starts");
    scenarios::all(&engine).await;
}

#[tokio::test]
async fn the_engine_in_memory_archives_what_is_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let settings = archive::settings(folder.path());
    let engine = Engine::start(Memory::new(), settings).await.expect("it starts");
    archive::all(&engine, folder.path()).await;
}
