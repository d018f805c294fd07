//! What the evaluator does, in words of the language.

mod decrypting;
mod forms;
mod functions;
mod known;
mod problems;
mod secrets;
pub mod support;
mod tracing;
mod monotone;
mod provenance;
mod unknowns;
