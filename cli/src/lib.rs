//! The terminal of entail: arguments, one operation, one view.

pub mod view;
