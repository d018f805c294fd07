//! The embedded providers, call by call, as sentences.

mod support;
mod terraform_null;
