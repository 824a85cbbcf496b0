//! Calls for a long time, and whether memory, descriptors or tasks grow: the binary `soak` of package `snodo-tests`.
//!
//! It is built as tests are, with checks of overflow and assertions in it, and not for speed: a second build of the tree costs more
//! than the calls that it would win.

use crate::Outcome;
use crate::harness;

/// `cargo xtask soak [--seconds N]`.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let seconds = seconds(arguments)?.to_string();
    harness::build("soak")?;
    harness::run("soak", &["--seconds", &seconds])
}

fn seconds(arguments: &[String]) -> Result<u64, String> {
    match arguments {
        [] => Ok(SECONDS),
        [name, seconds] if name == "--seconds" => {
            let seconds = seconds.parse().ok().filter(|seconds| *seconds > 0);
            seconds.ok_or_else(|| "--seconds takes a number".to_owned())
        }
        _ => Err("only --seconds N is known".to_owned()),
    }
}

const SECONDS: u64 = 60;

#[cfg(test)]
mod tests {
    use super::{SECONDS, seconds};

    #[test]
    fn the_command_line_names_a_time() {
        let asked =
            |words: &[&str]| seconds(&words.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!((asked(&[]), asked(&["--seconds", "5"])), (Ok(SECONDS), Ok(5)));
        for wrong in [&["--seconds"][..], &["--seconds", "0"], &["--minutes", "5"], &["5"]] {
            assert!(asked(wrong).is_err(), "{wrong:?}");
        }
    }
}
