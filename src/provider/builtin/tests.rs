//! The embedded providers, call by call, as sentences.

mod random;
mod support;
mod terraform_null;
