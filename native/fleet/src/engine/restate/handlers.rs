//! Serves our handlers to the engine. The SDK's own server leaves Nagle's algorithm on, which delays
//! each answer by 40 ms.

use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use restate_sdk::endpoint::Endpoint;
use restate_sdk::hyper::HyperEndpoint;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// Serves until the other end of `ended` is dropped.
pub(super) async fn serve(
    endpoint: Endpoint,
    listener: TcpListener,
    mut ended: oneshot::Receiver<()>,
) {
    let endpoint = HyperEndpoint::new(endpoint);
    // The connections end with this set.
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = &mut ended => return,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        while connections.try_join_next().is_some() {}
        let connection = http2::Builder::new(TokioExecutor::new())
            .serve_connection(TokioIo::new(stream), endpoint.clone());
        connections.spawn(connection);
    }
}
