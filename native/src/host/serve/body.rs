//! The body of an answer: whole, or open for more.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::sync::mpsc;

/// What is sent.
pub(super) struct AnswerBody {
    first: Option<Bytes>,
    rest: Option<mpsc::Receiver<Vec<u8>>>,
}

impl AnswerBody {
    /// `first`, and then what comes of `rest` until its sender is dropped.
    pub(super) fn new(first: Vec<u8>, rest: Option<mpsc::Receiver<Vec<u8>>>) -> AnswerBody {
        AnswerBody { first: Some(first.into()).filter(|first: &Bytes| !first.is_empty()), rest }
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        let Some(rest) = &mut self.rest else { return Poll::Ready(None) };
        rest.poll_recv(context).map(|part| part.map(|bytes| Ok(Frame::data(bytes.into()))))
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_none() && self.rest.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        match &self.rest {
            Some(_) => SizeHint::default(),
            None => SizeHint::with_exact(self.first.as_ref().map_or(0, Bytes::len) as u64),
        }
    }
}
