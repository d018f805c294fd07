//! `lsp`: a language server over standard input and output. Everything that it answers comes from `entail::assist`.
//!
//! One thread reads what the editor sends, and notes what it takes back ([`wire`], [`pending`]); one answers in the order of
//! messages, and owns the open texts ([`server`]); one looks for problems in the background ([`checking`]); one does what may
//! wait for others: values from states, proofs ([`slow`]).

mod capabilities;
mod changes;
mod checking;
mod convert;
mod outgoing;
mod pending;
mod published;
mod requests;
mod server;
mod slow;
mod text;
mod uri;
mod wire;

pub use server::serve;
