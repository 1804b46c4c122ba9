//! The protocol on standard input and output, for a client that started this process.

use rmcp::ServiceExt as _;
use rmcp::service::{QuitReason, ServerInitializeError};

use super::Server;

/// Why serving ended.
#[derive(Debug, thiserror::Error)]
pub enum Stopped {
    /// The runtime could not start.
    #[error("the server could not start: {0}")]
    Start(#[from] std::io::Error),
    /// What the client sent first is no beginning of a session.
    #[error("the client did not begin a session: {0}")]
    Begin(String),
    /// The server failed.
    #[error("the server stopped: {0}")]
    Failed(String),
}

/// Serves until the client closes standard input. Nothing else may write to standard output meanwhile.
pub fn on_stdio(server: Server) -> Result<(), Stopped> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(async move {
        let running = match server.serve(rmcp::transport::stdio()).await {
            Ok(running) => running,
            // The client went away before it said anything.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(Stopped::Begin(error.to_string())),
        };
        match running.waiting().await {
            Ok(QuitReason::JoinError(error)) | Err(error) => Err(Stopped::Failed(error.to_string())),
            Ok(_) => Ok(()),
        }
    });
    // Work that was begun goes to its end.
    drop(runtime);
    ended
}
