//! Requests of a program that is a server.

use super::{Io, answer};
use crate::request::{Outcome, Request};
use crate::{CallAnswer, Failure, ServeRequest, WebCall};

impl Io {
    /// [`ServeRequest::Listen`]: the port, and unpredictable bytes.
    pub async fn listen(&self, port: u16) -> Result<(u16, Vec<u8>), Failure> {
        let request = Request::Serve(ServeRequest::Listen { port });
        answer!(self.request(request), Outcome::Listening { port, secret } => (port, secret.into()))
    }

    /// [`ServeRequest::Next`]; `None`: no call came in time, or a folder may have changed.
    pub async fn next_call(
        &self,
        wait_ms: Option<u64>,
        folders: &[String],
    ) -> Result<Option<WebCall>, Failure> {
        let folders = folders.to_vec();
        match self.request(Request::Serve(ServeRequest::Next { wait_ms, folders })).await? {
            Outcome::Call(call) => Ok(Some(call)),
            Outcome::NoCall => Ok(None),
            other => Err(super::unexpected(&other)),
        }
    }

    /// [`ServeRequest::Answer`].
    pub async fn answer_call(&self, call: u64, answer: CallAnswer) -> Result<(), Failure> {
        self.done(Request::Serve(ServeRequest::Answer { call, answer })).await
    }

    /// [`ServeRequest::Push`].
    pub async fn push(&self, call: u64, text: &str) -> Result<(), Failure> {
        let bytes = text.as_bytes().to_vec().into();
        self.done(Request::Serve(ServeRequest::Push { call, bytes })).await
    }
}
