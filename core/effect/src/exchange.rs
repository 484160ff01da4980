//! One question at a time between a future and its host, which takes turns with it.

use std::mem;
use std::task::Poll;

/// Holds the question or the reply while the other side runs.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one for each future")]
pub enum Exchange<Q, R> {
    /// The future computes.
    Computing,
    /// It has asked; the host has not received the question.
    Asked(Q),
    /// The host works on its reply.
    Performing,
    /// The host has replied; the future has not read the reply.
    Answered(R),
}

impl<Q, R> Exchange<Q, R> {
    /// Asks.
    ///
    /// # Panics
    ///
    /// An earlier question has no reply yet.
    pub fn ask(&mut self, question: Q) {
        let is_free = matches!(self, Exchange::Computing);
        assert!(is_free, "the program asked for an effect before it had the reply to another one");
        *self = Exchange::Asked(question);
    }

    /// The reply, once it is there.
    pub fn poll(&mut self) -> Poll<R> {
        match mem::replace(self, Exchange::Computing) {
            Exchange::Answered(reply) => Poll::Ready(reply),
            waiting => {
                *self = waiting;
                Poll::Pending
            }
        }
    }

    /// The question, for the host.
    ///
    /// # Panics
    ///
    /// There is none: the future waits for something else.
    pub fn take(&mut self) -> Q {
        match mem::replace(self, Exchange::Performing) {
            Exchange::Asked(question) => question,
            _ => panic!("the program waits for something that is not its host's reply"),
        }
    }

    /// Replies.
    ///
    /// # Panics
    ///
    /// Nothing was asked.
    pub fn answer(&mut self, reply: R) {
        let is_due = matches!(self, Exchange::Performing);
        assert!(is_due, "the host answered although the program had asked for nothing");
        *self = Exchange::Answered(reply);
    }
}
