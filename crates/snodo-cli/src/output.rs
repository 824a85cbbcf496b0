//! What leaves the program: results on the output, failures on the error stream.

use std::io::{self, ErrorKind, Write};

use snodo::Error;

use crate::failure::{Failure, Status};
use crate::run::{Answer, Form};
use crate::{log, safe};

/// Writes an answer, and gives its status.
pub(crate) fn answer(answer: &Answer, form: Form) -> Status {
    if let Err(error) = write(&answer.text) {
        log::tell(&format!("snodo: the answer cannot be written: {error}"));
        return Status::Unreachable;
    }
    if let (Some(remark), Form::People) = (&answer.remark, form) {
        log::tell(&format!("snodo: {}", safe::line(remark)));
    }
    answer.status
}

/// Writes a part of an answer; whether anybody reads on.
pub(crate) fn part(text: &str) -> bool {
    let mut output = io::stdout().lock();
    output.write_all(text.as_bytes()).and_then(|()| output.flush()).is_ok()
}

/// Tells of a failure, and gives its status.
pub(crate) fn fail(failure: &Failure, form: Form) -> Status {
    match form {
        Form::People => log::tell(&format!("snodo: {}", failure.lines())),
        Form::Json => {
            if let Err(error) = write(&format!("{}\n", failure.document())) {
                log::tell(&format!("snodo: the failure cannot be written: {error}"));
            }
        }
    }
    failure.status()
}

/// Shows the help that was asked for, or what is wrong with the command line.
pub(crate) fn refuse(error: &clap::Error, form: Form) -> Status {
    if !error.use_stderr() {
        // Whoever closes the pipe has read enough.
        let _ = error.print();
        return Status::Done;
    }
    let text = error.render().to_string();
    match form {
        Form::People => {
            log::tell(safe::text(text.trim_end()).as_ref());
            Status::Usage
        }
        Form::Json => fail(&Error::usage(text.trim_end()).into(), form),
    }
}

/// A reader that has gone is no failure: it has read enough, as `head` does.
fn write(text: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}
