//! Whole flows, against servers on this machine.

mod world;

mod files;
mod identity;
mod listener;
mod logins;
mod machines;
mod refusals;
mod renewals;
mod secrets;
