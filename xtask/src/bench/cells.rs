//! What is measured, and what each figure has to reach.

/// One kind of work, measured for each driver in turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    pub(super) name: &'static str,
    pub(super) transport: Transport,
    /// As the drivers' command line has it.
    pub(super) op: &'static str,
    pub(super) mode: &'static str,
    /// How many operations the fastest drivers do; slow ones do a part of it.
    pub(super) count: u32,
    pub(super) pages: u32,
    pub(super) protocol: &'static str,
    pub(super) figure: Figure,
    /// The most it may be, in the figure's own unit, against `raw`; and what is aimed at.
    pub(super) raw: Option<(f64, f64)>,
    /// The most it may be against `rmcp`.
    pub(super) rmcp: Option<f64>,
}

/// How the server is reached, and how it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transport {
    Http,
    Sse,
    Stdio,
}

/// What is taken from a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Figure {
    /// Allocations for each operation; the bar is a number, not a ratio.
    Allocations,
    /// Whatever was counted; the bar is a number.
    Count,
    /// CPU time for each operation.
    Cpu,
    /// The client process only has to come to its end.
    Ends,
    /// Resident memory for each client that is held, KiB; the bar is a number.
    Idle,
    /// The most resident memory, MiB; the bar is a number.
    Peak,
    /// The time that one operation in a hundred exceeds.
    P99,
}

impl Figure {
    /// Whether the bar is a number rather than a ratio.
    pub(super) fn is_absolute(self) -> bool {
        matches!(self, Self::Allocations | Self::Count | Self::Ends | Self::Idle | Self::Peak)
    }
}

const fn cell(
    name: &'static str,
    transport: Transport,
    op: &'static str,
    mode: &'static str,
    count: u32,
) -> Cell {
    Cell {
        name,
        transport,
        op,
        mode,
        count,
        pages: 1,
        protocol: "stateless",
        figure: Figure::Cpu,
        raw: None,
        rmcp: None,
    }
}

impl Cell {
    const fn raw(self, most: f64, aim: f64) -> Self {
        Self { raw: Some((most, aim)), ..self }
    }

    const fn rmcp(self, most: f64) -> Self {
        Self { rmcp: Some(most), ..self }
    }

    const fn figure(self, figure: Figure) -> Self {
        Self { figure, ..self }
    }

    const fn pages(self, pages: u32) -> Self {
        Self { pages, ..self }
    }

    const fn protocol(self, protocol: &'static str) -> Self {
        Self { protocol, ..self }
    }
}

/// The table of docs/performance.md, in its order.
pub(super) const CELLS: &[Cell] = &[
    cell("stdio echo", STDIO, "echo", "seq", 20_000).raw(1.35, 1.2).rmcp(0.20),
    cell("stdio echo, 8 in flight", STDIO, "echo", "conc:8", 20_000).raw(1.9, 1.5).rmcp(0.09),
    cell("stdio echo, 64 in flight", STDIO, "echo", "conc:64", 30_000).raw(1.9, 1.5).rmcp(0.07),
    cell("stdio echo, 512 in flight", STDIO, "echo", "conc:512", 30_000).raw(1.9, 1.5).rmcp(0.06),
    cell("stdio echo, 2000 in flight", STDIO, "echo", "conc:2000", 10_000).figure(Figure::Ends),
    cell("stdio p99, 64 in flight", STDIO, "echo", "conc:64", 30_000)
        .figure(Figure::P99)
        .raw(2.0, 1.5),
    cell("HTTP echo", HTTP, "echo", "seq", 10_000).raw(1.15, 1.05).rmcp(0.09),
    cell("HTTP echo, 64 in flight", HTTP, "echo", "conc:64", 10_000).raw(1.15, 1.05).rmcp(0.10),
    cell("HTTP echo, 512 in flight", HTTP, "echo", "conc:512", 10_000).raw(1.15, 1.05).rmcp(0.12),
    cell("SSE echo", SSE, "echo", "seq", 10_000).raw(1.15, 1.05).rmcp(0.09),
    cell("SSE echo, 64 in flight", SSE, "echo", "conc:64", 10_000).raw(1.15, 1.05).rmcp(0.10),
    cell("SSE echo, 512 in flight", SSE, "echo", "conc:512", 10_000).raw(1.15, 1.05).rmcp(0.12),
    cell("stdio text of 64 KiB", STDIO, "blob:65536", "seq", 1500).raw(1.3, 0.9).rmcp(0.36),
    cell("stdio text of 1 MiB", STDIO, "blob:1048576", "seq", 120).raw(1.4, 1.0).rmcp(0.17),
    cell("stdio text of 16 MiB", STDIO, "blob:16777216", "seq", 10).raw(2.6, 2.3).rmcp(0.27),
    cell("HTTP text of 64 KiB", HTTP, "blob:65536", "seq", 1500).raw(1.4, 0.9).rmcp(0.13),
    cell("HTTP text of 1 MiB", HTTP, "blob:1048576", "seq", 120).raw(1.4, 0.9).rmcp(0.17),
    cell("HTTP text of 16 MiB", HTTP, "blob:16777216", "seq", 10).raw(1.7, 1.2).rmcp(0.24),
    cell("stdio 10 pages", STDIO, "listall", "seq", 60).pages(10).raw(1.6, 1.4).rmcp(0.12),
    cell("stdio 100 pages", STDIO, "listall", "seq", 8).pages(100).raw(1.8, 1.5).rmcp(0.10),
    cell("stdio 1000 pages", STDIO, "listall", "seq", 1).pages(1000).raw(2.3, 1.8).rmcp(0.12),
    cell("stdio 1000 pages, peak MiB", STDIO, "listall", "seq", 1)
        .pages(1000)
        .figure(Figure::Peak)
        .raw(130.0, 120.0),
    cell("HTTP 100 pages", HTTP, "listall", "seq", 8).pages(100).raw(1.8, 1.5).rmcp(0.10),
    cell("stdio events", STDIO, "listen:100000", "seq", 1).raw(1.4, 1.0).rmcp(0.12),
    cell("HTTP events", HTTP, "listen:100000", "seq", 1).raw(1.4, 1.0).rmcp(0.12),
    cell("stdio connect and close", STDIO, "connect", "seq", 100).raw(1.3, 1.2).rmcp(0.8),
    cell("HTTP connect and close", HTTP, "connect", "seq", 400).raw(1.5, 1.0).rmcp(0.03),
    cell("KiB per idle stdio client", STDIO, "idle", "seq", 100)
        .figure(Figure::Idle)
        .raw(24.0, 16.0),
    cell("KiB per idle HTTP client", HTTP, "idle", "seq", 1000)
        .figure(Figure::Idle)
        .raw(28.0, 20.0),
    cell("allocations per stdio call", STDIO, "echo", "seq", 2000)
        .figure(Figure::Allocations)
        .raw(10.0, 6.0),
    cell("stdio echo, initialize era", STDIO, "echo", "seq", 20_000).protocol("initialize"),
    cell("HTTP echo, initialize era", HTTP, "echo", "seq", 10_000).protocol("initialize"),
    cell("stdio echo, own choice of version", STDIO, "echo", "seq", 20_000).protocol("default"),
    cell("HTTP echo, own choice of version", HTTP, "echo", "seq", 10_000).protocol("default"),
];

/// What callgrind counts: cells by their work, with two counts whose difference leaves out starting and connecting.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    pub(super) name: &'static str,
    pub(super) transport: Transport,
    pub(super) op: &'static str,
    pub(super) mode: &'static str,
    pub(super) few: u32,
    pub(super) many: u32,
    pub(super) pages: u32,
    /// How many of what is counted are in one operation: pages, events.
    pub(super) each: u32,
    pub(super) raw: Option<(f64, f64)>,
    pub(super) rmcp: Option<f64>,
}

const fn counted(
    name: &'static str,
    transport: Transport,
    op: &'static str,
    mode: &'static str,
    (few, many): (u32, u32),
    each: u32,
) -> Counted {
    let pages = if each == 5 { 5 } else { 1 };
    Counted { name, transport, op, mode, few, many, pages, each, raw: None, rmcp: None }
}

impl Counted {
    const fn bars(self, most: f64, aim: f64, rmcp: f64) -> Self {
        Self { raw: Some((most, aim)), rmcp: Some(rmcp), ..self }
    }
}

/// The main operations, for `--instructions` and for the gate.
pub(super) const COUNTED: &[Counted] = &[
    counted("stdio echo", STDIO, "echo", "seq", (200, 1200), 1).bars(1.4, 1.2, 0.10),
    counted("HTTP echo", HTTP, "echo", "seq", (200, 1200), 1).bars(1.15, 1.1, 0.11),
    counted("SSE echo", SSE, "echo", "seq", (200, 1200), 1),
    counted("stdio echo, 64 in flight", STDIO, "echo", "conc:64", (640, 3200), 1),
    counted("stdio text of 64 KiB", STDIO, "blob:65536", "seq", (10, 60), 1),
    counted("stdio text of 1 MiB", STDIO, "blob:1048576", "seq", (2, 8), 1),
    counted("HTTP text of 1 MiB", HTTP, "blob:1048576", "seq", (2, 8), 1),
    counted("stdio page of 100 tools", STDIO, "listall", "seq", (1, 3), 5),
    counted("stdio event", STDIO, "listen:2000", "seq", (1, 3), 2000),
    counted("HTTP event", HTTP, "listen:2000", "seq", (1, 3), 2000),
];

const HTTP: Transport = Transport::Http;
const SSE: Transport = Transport::Sse;
const STDIO: Transport = Transport::Stdio;
