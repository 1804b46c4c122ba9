//! A body that is made while it is sent. It ends when its maker does, and then all that was made has been sent; where the
//! maker fails, it breaks off, so that its reader knows that it is not whole.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use hyper::body::Frame;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// What is handed over.
pub(super) type Page = Result<Bytes, io::Error>;

struct Pages(Receiver<Page>);

impl hyper::body::Body for Pages {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        self.0.poll_recv(context).map(|page| page.map(|page| page.map(Frame::data)))
    }
}

/// A body, and where its pages are handed over. So many may wait for a reader who is slow; then the maker waits too.
pub(super) fn pages(ahead: usize) -> (Sender<Page>, Body) {
    let (sender, receiver) = channel(ahead);
    (sender, Body::new(Pages(receiver)))
}
