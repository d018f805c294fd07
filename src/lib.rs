//! The library of entail: documents become facts, facts become conclusions, conclusions become a plan, a plan is
//! carried out.
//!
//! The rooms stand below in the order of their floors; a room uses only rooms above it in this list (`docs/architecture.md`).

pub mod address;
pub mod backend;
pub mod config;
pub mod diagnostic;
pub mod execute;
pub mod expression;
pub mod operation;
pub mod plan;
pub mod provider;
pub mod request;
pub mod schema;
pub mod state;
pub mod syntax;
pub mod value;
pub mod world;
