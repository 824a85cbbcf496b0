//! Whether the runtime in reach can open a socket.

use std::panic::catch_unwind;
use std::time::Duration;

use snodo_types::TransportError;
use tokio::runtime::Handle;

use crate::fault::no_runtime;

/// Refuses to begin where tokio would panic later: outside a runtime, or on one without IO or time.
pub(crate) fn check() -> Result<Handle, TransportError> {
    let runtime = Handle::try_current().map_err(|_| no_runtime())?;
    // What a runtime has is told by nothing but a panic.
    catch_unwind(try_it).map(|()| runtime).map_err(|_| no_runtime())
}

fn try_it() {
    drop(tokio::time::sleep(Duration::ZERO));
    #[cfg(unix)]
    drop(tokio::net::UnixDatagram::unbound());
}

#[cfg(test)]
mod tests {
    use tokio::runtime::Builder;

    use super::check;

    #[test]
    fn a_runtime_needs_io_and_time_and_an_error_says_so() {
        let runtimes = [
            (Builder::new_current_thread().enable_all().build(), true),
            (Builder::new_multi_thread().worker_threads(1).enable_all().build(), true),
            (Builder::new_current_thread().enable_time().build(), cfg!(not(unix))),
            (Builder::new_current_thread().enable_io().build(), false),
            (Builder::new_current_thread().build(), false),
        ];
        for (number, (runtime, works)) in runtimes.into_iter().enumerate() {
            let checked = runtime.expect("a runtime").block_on(async { check() });
            assert_eq!(checked.is_ok(), works, "{number}");
        }
        let error = check().expect_err("no runtime at all");
        assert!(error.to_string().contains("with IO and time"), "{error}");
    }
}
