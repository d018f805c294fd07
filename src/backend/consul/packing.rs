//! What values of keys are made of: their parts and the hashes of these, and compression.

use std::io::{self, Write};

use md5::{Digest, Md5};
use serde_json::Value as Json;

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

/// Returns what a value says of the parts of a larger one: the hash of the whole, and the keys of the parts.
///
/// # Errors
///
/// If it lists parts that are no keys.
pub(super) fn parts_of(key: &str, value: &[u8]) -> io::Result<Option<(String, Vec<String>)>> {
    let links = serde_json::from_slice::<Json>(value).ok().and_then(|it| {
        let hash = it.get("current-hash")?.as_str()?.to_owned();
        Some((hash, it.get("chunks")?.as_array()?.clone()))
    });
    let Some((hash, chunks)) = links else { return Ok(None) };
    let keys: Option<Vec<String>> = chunks.iter().map(|it| Some(it.as_str()?.to_owned())).collect();
    let keys = keys
        .ok_or_else(|| io::Error::other(format!("the key {key:?} lists parts that are no keys")))?;
    Ok(Some((hash, keys)))
}
