//! All of standard input at once.

use onloop_effect::{Failure, FailureKind, Io};

/// Reads standard input to its end.
///
/// # Errors
///
/// `TooLarge` beyond `limit_bytes`.
pub async fn whole(io: &Io, limit_bytes: u64) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    loop {
        let chunk = io.read_input(limit_bytes).await?;
        if chunk.is_empty() {
            return Ok(bytes);
        }
        // The first chunk is usually all there is.
        if bytes.is_empty() {
            bytes = chunk;
        } else {
            bytes.extend(chunk);
        }
        if bytes.len() as u64 > limit_bytes {
            let message = format!("the input is larger than {limit_bytes} bytes");
            return Err(Failure::new(FailureKind::TooLarge, message));
        }
    }
}
