//! Spans on their way to a collector, and what they cost where nobody collects them.
//!
//! The program `call` is what `cargo xtask spans` counts; the tests export to a collector of their own.

/// The guide's examples, compiled and run here, where OpenTelemetry is.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/observability.md")]
struct ObservabilityGuide;
