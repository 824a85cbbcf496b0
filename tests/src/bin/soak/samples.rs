//! What a process holds while it is at rest, and whether that grows.

use std::time::Duration;

/// One look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) at: Duration,
    /// Resident, in KiB.
    pub(crate) memory: f64,
    pub(crate) descriptors: f64,
    pub(crate) tasks: f64,
}

impl Sample {
    /// Looks at this process.
    pub(crate) fn take(at: Duration, tasks: usize) -> Result<Self, String> {
        let status = std::fs::read_to_string("/proc/self/status").map_err(|e| e.to_string())?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let memory = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        let memory = memory.ok_or("no VmRSS in /proc/self/status")?;
        let open = snodo_tests::open_descriptors().map_err(|error| error.to_string())?;
        let (descriptors, tasks) = (open as f64, tasks as f64);
        Ok(Self { at, memory, descriptors, tasks })
    }
}

/// By how much each grew over the second half, told in a line; an error if that is too much.
pub(crate) fn judge(samples: &[Sample]) -> Result<String, String> {
    let half = &samples[samples.len() / 2..];
    if half.len() < FEWEST {
        return Err(format!("{} looks are too few to tell", samples.len()));
    }
    let memory = growth(half, |sample| sample.memory);
    let descriptors = growth(half, |sample| sample.descriptors);
    let tasks = growth(half, |sample| sample.tasks);
    let told = format!(
        "over the second half ({} looks): memory {memory:+.0} KiB, descriptors {descriptors:+.1}, tasks {tasks:+.1}",
        half.len()
    );
    let grows =
        [(memory > MEMORY, "memory"), (descriptors > FEW, "descriptors"), (tasks > FEW, "tasks")];
    let grown: Vec<&str> =
        grows.iter().filter(|(grows, _)| *grows).map(|(_, what)| *what).collect();
    if grown.is_empty() { Ok(told) } else { Err(format!("{told}: {} GROW", grown.join(", "))) }
}

/// The slope of the line that fits best, times the time it spans.
fn growth(samples: &[Sample], of: impl Fn(&Sample) -> f64) -> f64 {
    let count = samples.len() as f64;
    let time = |sample: &Sample| sample.at.as_secs_f64();
    let mean = |of: &dyn Fn(&Sample) -> f64| samples.iter().map(of).sum::<f64>() / count;
    let (middle, level) = (mean(&time), mean(&of));
    let (mut product, mut square) = (0.0, 0.0);
    for sample in samples {
        product += (time(sample) - middle) * (of(sample) - level);
        square += (time(sample) - middle).powi(2);
    }
    let (Some(first), Some(last)) = (samples.first(), samples.last()) else { return 0.0 };
    if square == 0.0 { 0.0 } else { product / square * (time(last) - time(first)) }
}

/// KiB: what an allocator may still spread out by.
const MEMORY: f64 = 4096.0;

/// One in each round of work would be more.
const FEW: f64 = 4.0;

const FEWEST: usize = 5;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Sample, judge};

    /// Forty looks, one each second, of what is at a level and grows by so much each time.
    fn samples(memory: f64, descriptors: f64, tasks: f64) -> Vec<Sample> {
        let sample = |number: u32| {
            let (at, number) = (Duration::from_secs(number.into()), f64::from(number));
            // It goes up and down besides, as everything does.
            let wave = if number % 2.0 == 0.0 { 1.0 } else { -1.0 };
            Sample {
                at,
                memory: 20_000.0 + 300.0 * wave + memory * number,
                descriptors: 30.0 + wave + descriptors * number,
                tasks: 8.0 + wave + tasks * number,
            }
        };
        (0..40).map(sample).collect()
    }

    #[test]
    fn what_goes_up_and_down_does_not_grow() {
        let told = judge(&samples(0.0, 0.0, 0.0)).expect("it is flat");
        assert!(told.starts_with("over the second half (20 looks): memory "), "{told}");
    }

    #[test]
    fn what_grows_is_named() {
        for (samples, what) in [
            (samples(250.0, 0.0, 0.0), "memory GROW"),
            (samples(0.0, 0.5, 0.0), "descriptors GROW"),
            (samples(0.0, 0.0, 0.5), "tasks GROW"),
            (samples(250.0, 0.5, 0.0), "memory, descriptors GROW"),
        ] {
            let told = judge(&samples).expect_err("it grows");
            assert!(told.ends_with(what), "{told}");
        }
    }

    #[test]
    fn what_grew_before_the_second_half_is_what_a_start_costs() {
        let mut samples = samples(0.0, 0.0, 0.0);
        samples.iter_mut().take(15).for_each(|sample| sample.memory = 1000.0);
        assert!(judge(&samples).is_ok());
    }

    #[test]
    fn too_few_looks_tell_nothing() {
        assert!(judge(&samples(0.0, 0.0, 0.0)[..8]).is_err());
    }

    #[test]
    fn a_look_at_this_process_finds_something() {
        let sample = Sample::take(Duration::ZERO, 3).expect("Linux");
        assert!(sample.memory > 500.0 && sample.descriptors >= 3.0 && sample.tasks == 3.0);
    }
}
