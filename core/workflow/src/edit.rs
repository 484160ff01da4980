//! Ticking the checkbox of a step: the only change that a run makes to a workflow file.

use super::{Checkbox, parse};

/// The byte to change so that the checkbox of `step` shows `ticked`: its offset, its old and its
/// new value. `None` if the step has no checkbox, or if it shows that already.
///
/// Parses the file. To tick many checkboxes, use [`super::Parsed::checkboxes`] and
/// [`Checkbox::flip`] instead: ticking moves no byte.
pub fn set_checkbox(bytes: &[u8], step: u32, ticked: bool) -> Option<(usize, u8, u8)> {
    let parsed = parse("", bytes);
    let checkbox = parsed.checkboxes.iter().find(|checkbox| checkbox.step == step)?;
    checkbox.flip(bytes, ticked)
}

impl Checkbox {
    /// The byte to change so that the checkbox shows `ticked`: its offset, its old and its new
    /// value. `None` if it shows that already, or if `bytes` has no checkbox at this offset.
    pub fn flip(&self, bytes: &[u8], ticked: bool) -> Option<(usize, u8, u8)> {
        let old = *bytes.get(self.offset)?;
        match (old, ticked) {
            (b' ', true) => Some((self.offset, old, b'x')),
            (b'x' | b'X', false) => Some((self.offset, old, b' ')),
            _ => None,
        }
    }
}

/// Every step with a checkbox, in the order of the file, and whether it is ticked.
pub fn checkbox_states(bytes: &[u8]) -> Vec<(u32, bool)> {
    let parsed = parse("", bytes);
    parsed.checkboxes.iter().map(|checkbox| (checkbox.step, checkbox.ticked)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &[u8] = b"---\nintent: x\n---\n\
        - [ ] **Step 1: a**\n```\n- [ ] **Step 2: not a step**\n```\n\
        - [X] **Step 2: b**\n### 3. c\n";

    #[test]
    fn only_steps_with_a_box_have_a_state() {
        assert_eq!(checkbox_states(FILE), [(1, false), (2, true)]);
    }

    #[test]
    fn one_byte_changes_and_only_when_it_must() {
        let (offset, old, new) = set_checkbox(FILE, 1, true).unwrap();
        assert_eq!((old, new), (b' ', b'x'));
        let mut ticked = FILE.to_vec();
        ticked[offset] = new;
        assert_eq!(checkbox_states(&ticked), [(1, true), (2, true)]);
        assert_eq!(set_checkbox(&ticked, 1, true), None);
        assert_eq!(
            set_checkbox(FILE, 2, false).map(|change| (change.1, change.2)),
            Some((b'X', b' '))
        );
        assert_eq!(set_checkbox(FILE, 2, true), None);
        assert_eq!(set_checkbox(FILE, 3, true), None, "a heading has no box");
        assert_eq!(set_checkbox(FILE, 4, true), None);
    }
}
