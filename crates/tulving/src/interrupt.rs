//! Cleans up before a signal ends the process: removes a temporary folder, or makes a terminal show input again.

use std::{io, thread};

use tokio::runtime;
use tokio::signal::unix::{SignalKind, signal};

/// Runs `act` before a signal ends the process. The exit code is the shell's usual code for the signal.
pub(crate) fn first(act: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let runtime = runtime::Builder::new_current_thread().enable_io().build()?;
    let inside = runtime.enter();
    let (interrupt, terminate, hangup) =
        (SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup());
    let (mut interrupted, mut terminated, mut hung_up) =
        (signal(interrupt)?, signal(terminate)?, signal(hangup)?);
    drop(inside);
    let wait = move || {
        let kind = runtime.block_on(async {
            tokio::select! {
                _ = interrupted.recv() => interrupt,
                _ = terminated.recv() => terminate,
                _ = hung_up.recv() => hangup,
            }
        });
        act();
        end(128 + kind.as_raw_value());
    };
    thread::Builder::new().name("signals".to_owned()).spawn(wait).map(drop)
}

/// Waits for the end of the process, after a signal that ends it was sent.
pub(crate) fn wait() -> ! {
    loop {
        thread::park();
    }
}

#[expect(
    clippy::exit,
    clippy::disallowed_methods,
    reason = "main waits for a person or for work that goes on"
)]
fn end(code: i32) -> ! {
    std::process::exit(code)
}
