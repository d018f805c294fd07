//! The library of entail: documents become facts, facts become conclusions, conclusions become a plan, a plan is
//! carried out.
//!
//! The rooms stand below in the order of their floors; a room uses only rooms above it in this list (`docs/architecture.md`).

pub mod address;
pub mod diagnostic;
pub mod world;
pub mod value;
pub mod syntax;
pub mod schema;
pub mod expression;
pub mod config;
pub mod state;
pub mod request;
pub mod provider;
pub mod backend;
pub mod install;
pub mod datalog;
pub mod reason;
pub mod lower;
pub mod schedule;
pub mod observe;
pub mod plan;
pub mod planner;
pub mod explain;
pub mod execute;
pub mod verify;
pub mod operation;
