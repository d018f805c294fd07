//! The library of policies that ships: each file by its name, `aws/s3`, with its text. They are read like those of anybody else.

/// Every file: name and text, by name.
pub const LIBRARY: &[(&str, &str)] = &[];
