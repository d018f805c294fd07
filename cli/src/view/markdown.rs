//! Plans as Markdown, for comments of reviews: what is long is folded, and what does not fit is told in a line.
//!
//! Whoever reads such a comment trusts the page that it stands on. So whatever comes from configurations, states and providers is text:
//! it begins no element, no list and no fence, and it calls nobody.

pub mod fit;
mod inline;
pub mod plan;
