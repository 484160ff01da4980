//! Where the entry of each program is, worked out by the compiler.
//!
//! A hook judges one line and ends: an index that it had to make first would cost it more than
//! everything else that it judges.

use super::{ProgramEntry, TABLES, Table};

/// More than twice as many as there are names, so that few of them meet. A power of two.
const SLOTS: usize = 2048;
/// Bits that say which entry of its table it is; those above them say which table.
const ENTRY_BITS: u32 = 9;
/// A slot without an entry.
const EMPTY: u16 = u16::MAX;

/// Places of entries, each in the first slot that was free from the one on that its name hashes
/// to. Numbers, because every address in a table is put right when the program starts.
static PLACES: [u16; SLOTS] = places();

/// The table that knows a program, and its entry.
pub(super) fn row(name: &str) -> Option<(&'static Table, &'static ProgramEntry)> {
    const ROWS: &[Table] = &TABLES;
    let mut slot = name.bytes().fold(HASH_OF_NOTHING, hashed) as usize % SLOTS;
    loop {
        let place = Some(PLACES[slot]).filter(|&place| place != EMPTY)?;
        let table = &ROWS[usize::from(place >> ENTRY_BITS)];
        let program = &table.entries[usize::from(place) % (1 << ENTRY_BITS)];
        if program.is_called(name) {
            return Some((table, program));
        }
        slot = (slot + 1) % SLOTS;
    }
}

/// FNV-1a.
const HASH_OF_NOTHING: u32 = 0x811c_9dc5;

const fn hashed(hash: u32, byte: u8) -> u32 {
    (hash ^ byte as u32).wrapping_mul(0x0100_0193)
}

const fn places() -> [u16; SLOTS] {
    let mut places = [EMPTY; SLOTS];
    let (mut table, mut count) = (0, 0);
    while table < TABLES.len() {
        let entries = TABLES[table].entries;
        assert!(entries.len() < 1 << ENTRY_BITS, "a place has more bits for entries");
        let mut entry = 0;
        while entry < entries.len() {
            let names = entries[entry].names.as_bytes();
            let place = ((table << ENTRY_BITS) | entry) as u16;
            let (mut at, mut hash) = (0, HASH_OF_NOTHING);
            while at < names.len() {
                hash = hashed(hash, names[at]);
                at += 1;
                if at == names.len() || names[at].is_ascii_whitespace() {
                    place_in(&mut places, hash, place);
                    count += 1;
                    hash = HASH_OF_NOTHING;
                    while at < names.len() && names[at].is_ascii_whitespace() {
                        at += 1;
                    }
                }
            }
            entry += 1;
        }
        table += 1;
    }
    assert!(2 * count < SLOTS, "there are more slots");
    places
}

const fn place_in(places: &mut [u16; SLOTS], hash: u32, place: u16) {
    let mut slot = hash as usize % SLOTS;
    while places[slot] != EMPTY {
        slot = (slot + 1) % SLOTS;
    }
    places[slot] = place;
}

#[cfg(test)]
mod tests {
    use super::super::super::judge::entry::words;
    use super::*;

    #[test]
    fn every_name_leads_to_its_entry_and_nothing_else_leads_anywhere() {
        for table in &TABLES {
            for program in table.entries {
                for name in words(program.names) {
                    let (found_table, found) = row(name).expect(name);
                    assert_eq!((found.names, found.about), (program.names, program.about));
                    assert_eq!(found_table.name, table.name, "{name}");
                }
                assert!(row(&format!("{} ", program.names)).is_none());
            }
        }
        for name in ["", " ", "no-such-program", "GIT", "gi", "gitt", "é"] {
            assert!(row(name).is_none(), "{name}");
        }
    }
}
