//! Captures the head and the tail of a stream in bounded memory.

use onloop_core::effect::Capture;

/// Captures one stream. Memory stays below three times the bytes of each end.
#[derive(Debug)]
pub(super) struct Keeper {
    limit_bytes: usize,
    head: Vec<u8>,
    /// At least the last `limit_bytes` bytes that are not in `head`, at most twice as many:
    /// trimming only when doubled makes the cost per byte constant.
    tail: Vec<u8>,
    total_bytes: u64,
}

impl Keeper {
    pub(super) fn new(limit_bytes: usize) -> Keeper {
        Keeper { limit_bytes, head: Vec::new(), tail: Vec::new(), total_bytes: 0 }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.total_bytes += bytes.len() as u64;
        let room = self.limit_bytes - self.head.len();
        let (start, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(start);
        let rest = &rest[rest.len().saturating_sub(self.limit_bytes)..];
        if self.tail.len() + rest.len() > self.limit_bytes.saturating_mul(2) {
            self.trim(self.limit_bytes - rest.len());
        }
        self.tail.extend_from_slice(rest);
    }

    pub(super) fn finish(mut self) -> Capture {
        self.trim(self.limit_bytes);
        Capture { head: self.head.into(), tail: self.tail.into(), total_bytes: self.total_bytes }
    }

    /// Keeps the last `len` bytes of the tail.
    fn trim(&mut self, len: usize) {
        let surplus = self.tail.len().saturating_sub(len);
        self.tail.drain(..surplus);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition: everything, cut at the end.
    fn reference(all: &[u8], limit: usize) -> Capture {
        let head = all.len().min(limit);
        let tail = (all.len() - head).min(limit);
        Capture {
            head: all[..head].to_vec().into(),
            tail: all[all.len() - tail..].to_vec().into(),
            total_bytes: all.len() as u64,
        }
    }

    #[test]
    fn every_length_limit_and_chunk_size_keeps_both_ends() {
        let all: Vec<u8> = (0..60).collect();
        for limit in 0..12 {
            for len in 0..all.len() {
                for chunk in 1..20 {
                    let mut keeper = Keeper::new(limit);
                    all[..len].chunks(chunk).for_each(|bytes| keeper.push(bytes));
                    let kept = keeper.tail.len() + keeper.head.len();
                    assert!(kept <= 3 * limit, "limit {limit}, length {len}, chunk {chunk}");
                    let capture = keeper.finish();
                    assert_eq!(capture, reference(&all[..len], limit), "{limit} {len} {chunk}");
                }
            }
        }
    }
}
