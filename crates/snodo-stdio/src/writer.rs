//! The task that writes.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::AsyncWrite;

use crate::shared::{Shared, Work};

/// Writes what gathered, all of it in one write where it fits, until the pipe closes; then closes
/// the sink.
///
/// # Errors
///
/// The sink failed. What waits stays where it is.
pub(crate) async fn write(shared: Arc<Shared>, sink: impl AsyncWrite + Unpin) -> io::Result<()> {
    let mut writer = Writer { shared, sink, batch: Vec::new(), unflushed: false };
    poll_fn(|cx| writer.poll(cx)).await
}

struct Writer<W> {
    shared: Arc<Shared>,
    sink: W,
    batch: Vec<u8>,
    unflushed: bool,
}

impl<W: AsyncWrite + Unpin> Writer<W> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            match self.shared.work(&mut self.batch, cx.waker()) {
                Work::Batch => ready!(self.poll_batch(cx))?,
                Work::Nothing | Work::Finish if self.unflushed => {
                    ready!(Pin::new(&mut self.sink).poll_flush(cx))?;
                    self.unflushed = false;
                }
                Work::Nothing => return Poll::Pending,
                Work::Finish => {
                    self.shared.drop_direct();
                    return Pin::new(&mut self.sink).poll_shutdown(cx);
                }
            }
        }
    }

    fn poll_batch(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // A sink that is not ready took nothing: the batch is gathered anew the next time.
        let polled = Pin::new(&mut self.sink).poll_write(cx, &self.batch);
        let count = match &polled {
            Poll::Ready(Ok(count)) => *count,
            Poll::Ready(Err(_)) | Poll::Pending => 0,
        };
        self.shared.settle(count);
        self.unflushed |= count > 0;
        match ready!(polled) {
            Ok(0) => Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
            Ok(_) => Poll::Ready(Ok(())),
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}
