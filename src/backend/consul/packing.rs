//! What values of keys are made of: hashes of their parts, and compression.

use std::io::{self, Write};

use md5::{Digest, Md5};

/// Returns the hash that parts of a value go by.
pub(super) fn digest(bytes: &[u8]) -> String {
    Md5::digest(bytes).iter().map(|it| format!("{it:02x}")).collect()
}

/// Compresses a value.
///
/// # Errors
///
/// Those of writing to memory: none.
pub(super) fn compressed(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    writer.write_all(bytes)?;
    writer.finish()
}
