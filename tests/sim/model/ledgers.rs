//! The records of a machine, read as often as the claims want to look at them.

use std::collections::BTreeMap;
use std::rc::Rc;

use onloop_core::documents::ledger::{self, Ledger, LedgerError};

use crate::Disk;

/// What one ledger says.
pub(crate) type Record = Rc<Ledger>;

/// Every ledger as it was when it was last looked at. A life looks hundreds of times, and most
/// ledgers are then as they were or have a few lines more, so only those lines are read. Whatever
/// else has become of a ledger, all of it is.
#[derive(Debug, Default)]
pub(crate) struct Ledgers(BTreeMap<String, Seen>);

#[derive(Debug)]
struct Seen {
    /// Its whole lines.
    lines: Vec<u8>,
    record: Record,
}

impl Ledgers {
    /// All records, in the order of their ids.
    ///
    /// # Panics
    ///
    /// When a ledger is damaged.
    pub(crate) fn records(&mut self, disk: &Disk) -> Vec<Record> {
        let mut files = disk.files("/state/runs");
        files.retain(|path| path.ends_with("/ledger.jsonl"));
        files.into_iter().map(|path| self.record(disk, path)).collect()
    }

    /// What was read in parts, now as a whole.
    pub(crate) fn hold_as_a_whole(&self, disk: &Disk) -> Result<(), String> {
        for (path, seen) in &self.0 {
            let bytes = disk.get(path).ok_or_else(|| format!("{path} is gone"))?;
            if sound(path, ledger::read(bytes, None)) != *seen.record {
                return Err(format!("{path} says something else as a whole"));
            }
        }
        Ok(())
    }

    fn record(&mut self, disk: &Disk, path: String) -> Record {
        let bytes = disk.get(&path).expect("it was listed");
        match self.0.get_mut(&path).filter(|seen| bytes.starts_with(&seen.lines)) {
            Some(seen) => {
                let added = &bytes[seen.lines.len()..];
                if !added.is_empty() {
                    let record = Rc::make_mut(&mut seen.record);
                    sound(&path, ledger::extend(record, added));
                    seen.lines.extend_from_slice(&bytes[seen.lines.len()..record.whole_bytes]);
                }
                Rc::clone(&seen.record)
            }
            None => {
                let whole = sound(&path, ledger::read(bytes, None));
                let lines = bytes[..whole.whole_bytes].to_vec();
                let record = Rc::new(whole);
                self.0.insert(path, Seen { lines, record: Rc::clone(&record) });
                record
            }
        }
    }
}

fn sound<T>(path: &str, read: Result<T, LedgerError>) -> T {
    read.unwrap_or_else(|error| panic!("{path}: {error}"))
}
