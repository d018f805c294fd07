//! The library of entail: documents become facts, facts become conclusions, conclusions become a plan, a plan is
//! carried out.
//!
//! A program that plans and applies starts with a [`Project`]:
//!
//! ```
//! use entail::{Project, Request};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let main = r#"
//!     resource "random_pet" "name" { length = 2 }
//!     output "name" { value = random_pet.name.id }
//! "#;
//! std::fs::write(folder.path().join("main.tf"), main)?;
//! let (project, request) = (Project::open(folder.path()), Request::default());
//!
//! let plan = project.plan(&request)?;
//! assert_eq!(plan.changes.len(), 1);
//! let why = project.explain(&request, "random_pet.name")?;
//! assert!(why.starts_with("random_pet.name will be created"));
//! assert_eq!(project.facts(&request, "selected")?, [["random_pet.name"]]);
//!
//! let outcome = project.apply(&request, |plan| plan.changes.len() == 1)?;
//! assert!(!outcome.problems.has_errors());
//! assert_eq!(outcome.state.outputs["name"].value.as_str().map(|it| it.split('-').count()), Some(2));
//! assert!(folder.path().join("terraform.tfstate").is_file());
//! # Ok(())
//! # }
//! ```
//!
//! [`workflow`] has every command, for programs that show what happens and ask: a [`Host`](workflow::Host) is told and asked.
//! The rooms that neither of the two needs are public for the terminal and the tests of this project alone; documentation
//! leaves them out unless it is made with `--cfg inside`.
//!
//! The rooms are listed from the lowest floor up; a room uses only rooms of its own floor or of lower ones
//! (`docs/architecture.md`, `tests/it/tidy.rs`).

pub mod address;
pub mod diagnostic;
pub mod error;
#[cfg_attr(all(doc, not(inside)), doc(hidden))]
pub mod lately;
#[cfg_attr(all(doc, not(inside)), doc(hidden))]
pub mod lists;
#[cfg_attr(all(doc, not(inside)), doc(hidden))]
pub mod rarely;
#[cfg_attr(all(doc, not(inside)), doc(hidden))]
pub mod reachable;
pub mod world;
#[cfg_attr(all(doc, not(inside)), doc(hidden))]
pub mod stack;
pub mod value;
#[cfg_attr(all(doc, not(inside)), doc(hidden))]
pub mod syntax;
#[cfg_attr(all(doc, not(inside)), doc(hidden))]
pub mod schema;
#[cfg_attr(all(doc, not(inside)), doc(hidden))]
pub mod expression;
#[cfg_attr(all(doc, not(inside)), doc(hidden))]
pub mod config;
pub mod state;
pub mod request;
#[cfg_attr(all(doc, not(inside)), doc(hidden))]
pub mod provider;
#[cfg_attr(all(doc, not(inside)), doc(hidden))]
pub mod backend;
#[cfg_attr(all(doc, not(inside)), doc(hidden))]
pub mod install;
#[cfg_attr(all(doc, not(inside)), doc(hidden))]
pub mod encryption;
#[cfg_attr(all(doc, not(inside)), doc(hidden))]
pub mod datalog;
#[cfg_attr(all(doc, not(inside)), doc(hidden))]
pub mod reason;
#[cfg_attr(all(doc, not(inside)), doc(hidden))]
pub mod lower;
pub mod event;
#[cfg_attr(all(doc, not(inside)), doc(hidden))]
pub mod schedule;
#[cfg_attr(all(doc, not(inside)), doc(hidden))]
pub mod observe;
pub mod plan;
#[cfg_attr(all(doc, not(inside)), doc(hidden))]
pub mod planner;
#[cfg_attr(all(doc, not(inside)), doc(hidden))]
pub mod explain;
#[cfg_attr(all(doc, not(inside)), doc(hidden))]
pub mod execute;
#[cfg_attr(all(doc, not(inside)), doc(hidden))]
pub mod verify;
#[cfg_attr(all(doc, not(inside)), doc(hidden))]
pub mod policy;
#[cfg_attr(all(doc, not(inside)), doc(hidden))]
pub mod operation;
#[cfg_attr(all(doc, not(inside)), doc(hidden))]
pub mod testing;
pub mod workflow;
#[cfg_attr(all(doc, not(inside)), doc(hidden))]
pub mod assist;

pub use diagnostic::{Diagnostic, Diagnostics};
pub use plan::Plan;
pub use request::Request;
pub use workflow::project::{Outcome, Project};
