//! Any line of a batch is answered or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use onloop_core::permission::explain;
use onloop_core::documents::permission::BatchLine;

fuzz_target!(|line: &str| {
    if let Ok(read) = BatchLine::read(line, "/srv/repo") {
        explain(&read.call, &read.context);
    }
});
