//! What a program says and is told: results, notes, standard input and answers.

use onloop_core::effect::{Failure, FailureKind, FileSize, InputUnit, Outcome, Say};

use super::SimHost;

impl SimHost {
    pub(super) fn say(&mut self, say: Say) -> Result<Outcome, Failure> {
        if let (Say::Result(_), Some(kind)) = (&say, self.results_fail) {
            return Err(Failure::new(kind, "cannot write the result"));
        }
        self.said.push(say);
        Ok(Outcome::Done)
    }

    /// Everything that there is comes at once; nobody types any more. As many whole lines as there are; what
    /// follows the last line break at the end is a line too.
    pub(super) fn read_input(
        &mut self,
        limit_bytes: u64,
        unit: InputUnit,
    ) -> Result<Outcome, Failure> {
        self.take_interrupt()?;
        if unit == InputUnit::Bytes {
            let most = usize::try_from(limit_bytes).unwrap_or(usize::MAX).min(self.input.len());
            let bytes: Vec<u8> = self.input.drain(..most).collect();
            return Ok(Outcome::Input { bytes: bytes.into() });
        }
        let line_break = self.input.iter().rposition(|&byte| byte == b'\n');
        let end = line_break.map_or(self.input.len(), |at| at + 1);
        let bytes: Vec<u8> = self.input.drain(..end).collect();
        if line_break.is_none() && bytes.len() as u64 > limit_bytes {
            return Err(Failure::new(FailureKind::TooLarge, "a line is too long"));
        }
        Ok(Outcome::Input { bytes: bytes.into() })
    }

    pub(super) fn ask(&mut self, unless_changed: Option<&FileSize>) -> Result<Outcome, Failure> {
        let closed = || Failure::new(FailureKind::Closed, "nobody is at the terminal");
        if !self.terminal.stdin {
            return Err(closed());
        }
        self.take_interrupt()?;
        let has_changed = |file: &FileSize| {
            self.disk.get(&file.path).is_some_and(|bytes| bytes.len() as u64 != file.size_bytes)
        };
        if unless_changed.is_some_and(has_changed) {
            return Ok(Outcome::Changed { changed: true });
        }
        let answer = self.answers.pop_front().ok_or_else(closed)?;
        Ok(Outcome::Answer { answer })
    }
}
