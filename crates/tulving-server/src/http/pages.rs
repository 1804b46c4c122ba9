//! A response body that is produced while it is sent. The body ends when its producer has ended and everything was sent. If
//! the producer fails, the connection is aborted, so that the client knows that the body is incomplete.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use hyper::body::Frame;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// A page, or the error that ends the body.
pub(super) type BodyPage = Result<Bytes, io::Error>;

struct PagedBody(Receiver<BodyPage>);

impl hyper::body::Body for PagedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        self.0.poll_recv(context).map(|page| page.map(|page| page.map(Frame::data)))
    }
}

/// Returns a body, and the sender of its pages. At most `ahead` pages wait for a slow client; after that, the producer
/// waits.
pub(super) fn pages(ahead: usize) -> (Sender<BodyPage>, Body) {
    let (sender, receiver) = channel(ahead);
    (sender, Body::new(PagedBody(receiver)))
}
