//! The lake: what is known of all stacks as columnar files, in buckets of stacks, with a catalogue that says which files are whole.
//!
//! A reader takes the files that the catalogue names and no others. The catalogue is put in its place at once, after all files that it
//! names: whoever is killed while writing leaves the last whole one.

mod bucket;
mod catalogue;
mod folder;
mod names;
mod pages;
mod scan;
mod store;
mod tables;

pub use bucket::Bucket;
pub use catalogue::{Catalogue, File, Indexed, VERSION, bucket_of, buckets_for};
pub use names::{EXCHANGE, HINTS, file, tag};
pub use scan::{Scan, Wanted};
pub use store::{Lake, Listed};
pub use tables::{Column, OF_NODES, TABLES, Table, table, table_of};
