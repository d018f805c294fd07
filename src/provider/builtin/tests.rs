//! The embedded providers, call by call, as sentences.

mod local;
mod random;
mod remote_state;
mod support;
mod terraform_null;
mod time;
