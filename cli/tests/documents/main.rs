//! What others read: drawings of graphs, comments for reviews, reports for build servers.

#[path = "../../../tests/support/browser.rs"]
mod browser;
mod comments;
mod folder;
mod graphs;
mod pipelines;
