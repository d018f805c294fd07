//! What the evaluator does, in words of the language.

mod corpus;
mod support;
