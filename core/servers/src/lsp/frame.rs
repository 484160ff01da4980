//! Messages in a stream of bytes: `Content-Length: 2`, an empty line, and as many bytes.

use onloop_syntax::limits;
use onloop_syntax::text;

/// What was found in the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Framed {
    /// A message, which need not be one that can be read.
    Message(Vec<u8>),
    /// A message that is not read, and why. The next one can be.
    Refused(String),
    /// The beginning of the next message is unknown, and why.
    Broken(String),
}

/// Finds messages, however the stream is cut into pieces.
#[derive(Debug, Default)]
pub struct Frames {
    buffer: Vec<u8>,
    /// The message whose header has been read.
    expected: Option<usize>,
    /// Bytes of a message that is not read.
    skipped: u64,
    is_broken: bool,
}

/// What a header says.
struct Header {
    length: u64,
    foreign_charset: Option<String>,
}

impl Frames {
    /// Takes the next piece of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        let skipped = usize::try_from(self.skipped).unwrap_or(usize::MAX).min(bytes.len());
        self.skipped -= skipped as u64;
        if !self.is_broken {
            self.buffer.extend_from_slice(&bytes[skipped..]);
        }
    }

    /// The next message that is complete.
    pub fn take(&mut self) -> Option<Framed> {
        if self.is_broken {
            return None;
        }
        if let Some(length) = self.expected {
            return self.message(length);
        }
        let end = match header_end(&self.buffer) {
            Some(end) if end <= limits::LSP_HEADER_BYTES => end,
            None if self.buffer.len() <= limits::LSP_HEADER_BYTES => return None,
            Some(_) | None => {
                let limit = limits::LSP_HEADER_BYTES;
                return Some(self.broken(format!("a header has more than {limit} bytes")));
            }
        };
        let header: Vec<u8> = self.buffer.drain(..end).collect();
        let header = match Header::read(&header) {
            Ok(header) => header,
            Err(error) => return Some(self.broken(error.to_string())),
        };
        if header.length > limits::LSP_MESSAGE_BYTES {
            self.skip(header.length);
            let (found, limit) = (header.length, limits::LSP_MESSAGE_BYTES);
            return Some(Framed::Refused(format!(
                "the message has {found} bytes; the limit is {limit}"
            )));
        }
        if let Some(charset) = header.foreign_charset {
            self.skip(header.length);
            return Some(Framed::Refused(format!(
                "the message is in `{charset}`; expected `utf-8`"
            )));
        }
        // It is no more than the limit.
        let length = usize::try_from(header.length).unwrap_or(usize::MAX);
        self.expected = Some(length);
        self.message(length)
    }

    fn message(&mut self, length: usize) -> Option<Framed> {
        if self.buffer.len() < length {
            return None;
        }
        self.expected = None;
        let rest = self.buffer.split_off(length);
        Some(Framed::Message(std::mem::replace(&mut self.buffer, rest)))
    }

    fn skip(&mut self, length: u64) {
        let here = usize::try_from(length).unwrap_or(usize::MAX).min(self.buffer.len());
        self.buffer.drain(..here);
        self.skipped = length - here as u64;
    }

    fn broken(&mut self, why: String) -> Framed {
        self.is_broken = true;
        self.buffer.clear();
        Framed::Broken(why)
    }
}

/// Where the header ends, behind its empty line.
fn header_end(buffer: &[u8]) -> Option<usize> {
    // A line break alone is not what the protocol says, and what some scripts write.
    let looked = &buffer[..buffer.len().min(limits::LSP_HEADER_BYTES + 4)];
    let usual = memchr::memmem::find(looked, b"\r\n\r\n").map(|at| at + 4);
    let bare = memchr::memmem::find(looked, b"\n\n").map(|at| at + 2);
    usual.into_iter().chain(bare).min()
}

/// Why a header cannot be read.
#[derive(Debug, thiserror::Error)]
enum HeaderError {
    #[error("`{0}` is not a header line")]
    NotALine(String),
    #[error("`Content-Length` is `{0}`; expected a number of bytes")]
    BadLength(String),
    #[error("the header has no `Content-Length`")]
    NoLength,
}

impl Header {
    fn read(bytes: &[u8]) -> Result<Header, HeaderError> {
        let shown = |text: &str| text::ellipsis(&text::one_line(text), 80);
        let header = String::from_utf8_lossy(bytes);
        let mut length = None;
        let mut foreign_charset = None;
        for line in header.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let Some((name, value)) = line.split_once(':') else {
                return Err(HeaderError::NotALine(shown(line)));
            };
            let value = value.trim();
            if name.eq_ignore_ascii_case("content-length") {
                let digits = value.bytes().all(|byte| byte.is_ascii_digit());
                let count = value.parse::<u64>().ok().filter(|_| digits);
                let Some(count) = count.filter(|count| length.is_none_or(|known| known == *count))
                else {
                    return Err(HeaderError::BadLength(shown(value)));
                };
                length = Some(count);
            } else if name.eq_ignore_ascii_case("content-type") {
                foreign_charset =
                    charset(value).filter(|charset| !is_utf8(charset)).map(|c| shown(&c));
            }
        }
        let length = length.ok_or(HeaderError::NoLength)?;
        Ok(Header { length, foreign_charset })
    }
}

fn charset(content_type: &str) -> Option<String> {
    let parameters = content_type.split(';').skip(1);
    let mut pairs = parameters.filter_map(|parameter| parameter.split_once('='));
    let (_, charset) = pairs.find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"))?;
    Some(charset.trim().trim_matches('"').to_owned())
}

fn is_utf8(charset: &str) -> bool {
    charset.eq_ignore_ascii_case("utf-8") || charset.eq_ignore_ascii_case("utf8")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(stream: &[u8], piece_bytes: usize) -> Vec<Framed> {
        let mut frames = Frames::default();
        let mut found = Vec::new();
        for piece in stream.chunks(piece_bytes) {
            frames.push(piece);
            found.extend(std::iter::from_fn(|| frames.take()));
        }
        found
    }

    fn shown(framed: &Framed) -> String {
        match framed {
            Framed::Message(bytes) => format!("message {}", String::from_utf8_lossy(bytes)),
            Framed::Refused(why) => format!("refused: {why}"),
            Framed::Broken(why) => format!("broken: {why}"),
        }
    }

    #[test]
    fn messages_are_found_however_the_stream_is_cut() {
        let table: [(&str, &[&str]); 20] = [
            ("", &[]),
            ("Content-Length: 2\r\n\r\n{}", &["message {}"]),
            (
                "Content-Length: 2\r\n\r\n{}content-length:3\r\n\r\n[1]",
                &["message {}", "message [1]"],
            ),
            ("Content-Length: 0\r\n\r\nContent-Length: 1\r\n\r\n7", &["message ", "message 7"]),
            ("Content-Length: 3\r\n\r\n{}", &[]),
            ("Content-Length: 2\n\n{}", &["message {}"]),
            ("X: y\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}", &["message {}"]),
            (
                "Content-Length: 2\r\nContent-Type: application/vscode-jsonrpc; charset=utf8\r\n\r\n{}",
                &["message {}"],
            ),
            (
                "Content-Length: 2\r\nContent-Type: a/b; charset=utf-16\r\n\r\n{}Content-Length: 1\r\n\r\n1",
                &["refused: the message is in `utf-16`; expected `utf-8`", "message 1"],
            ),
            (
                "Content-Length: 16777217\r\n\r\nabc",
                &["refused: the message has 16777217 bytes; the limit is 16777216"],
            ),
            (
                "Content-Length: 18446744073709551615\r\n\r\nContent-Length: 1\r\n\r\n7",
                &["refused: the message has 18446744073709551615 bytes; the limit is 16777216"],
            ),
            (
                "Content-Length: 18446744073709551616\r\n\r\n",
                &["broken: `Content-Length` is `18446744073709551616`; expected a number of bytes"],
            ),
            (
                "Content-Length: -1\r\n\r\n{}",
                &["broken: `Content-Length` is `-1`; expected a number of bytes"],
            ),
            (
                "Content-Length: +2\r\n\r\n{}",
                &["broken: `Content-Length` is `+2`; expected a number of bytes"],
            ),
            (
                "Content-Length:\r\n\r\n{}",
                &["broken: `Content-Length` is ``; expected a number of bytes"],
            ),
            (
                "Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
                &["broken: `Content-Length` is `2`; expected a number of bytes"],
            ),
            ("Length: 2\r\n\r\n{}", &["broken: the header has no `Content-Length`"]),
            ("\r\n\r\n{}", &["broken: the header has no `Content-Length`"]),
            ("{}\r\n\r\n", &["broken: `{}` is not a header line"]),
            ("\u{1b}[2J\r\n\r\n", &["broken: `` is not a header line"]),
        ];
        for (stream, expected) in table {
            for piece_bytes in [1, 2, 7, 1000] {
                let found: Vec<String> =
                    all(stream.as_bytes(), piece_bytes).iter().map(shown).collect();
                assert_eq!(found, expected, "{stream:?} in pieces of {piece_bytes}");
            }
        }
    }

    #[test]
    fn a_header_without_an_end_is_not_kept() {
        let stream = [b'x'; 3 * limits::LSP_HEADER_BYTES];
        for piece_bytes in [1, 100, stream.len()] {
            let found = all(&stream, piece_bytes);
            assert_eq!(found, [Framed::Broken("a header has more than 4096 bytes".to_owned())]);
        }
    }

    #[test]
    fn what_is_too_long_is_skipped_and_not_kept() {
        let mut frames = Frames::default();
        let length = limits::LSP_MESSAGE_BYTES + 1;
        frames.push(format!("Content-Length: {length}\r\n\r\n").as_bytes());
        assert!(matches!(frames.take(), Some(Framed::Refused(_))));
        let piece = vec![b' '; 1024 * 1024];
        for _ in 0..16 {
            frames.push(&piece);
            assert!(frames.buffer.is_empty() && frames.take().is_none());
        }
        frames.push(b" Content-Length: 1\r\n\r\n7");
        assert_eq!(frames.take(), Some(Framed::Message(b"7".to_vec())));
    }
}
