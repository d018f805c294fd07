//! The tests that need the whole house: cases in `testdata/`, run by the real binary, and the rules of the house.

#[path = "support/mod.rs"]
mod support;

#[path = "it/cases.rs"]
mod cases;
#[path = "it/documents.rs"]
mod documents;
#[path = "it/opentofu.rs"]
mod opentofu;
#[path = "it/quickstart.rs"]
mod quickstart;
#[path = "it/safety.rs"]
mod safety;
#[path = "it/tidy.rs"]
mod tidy;
