//! gzip, for `base64gzip` and back.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::DeflateEncoder;

use crate::error::Error;

/// What comes out may not be larger: a small text can stand for a huge one.
const LARGEST: u64 = 512 << 20;

/// Compresses bytes, with a header that says nothing of time and system.
pub(super) fn compress(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    let mut encoder = DeflateEncoder::new(&mut out, Compression::default());
    let written = encoder.write_all(bytes).and_then(|()| encoder.try_finish());
    drop(encoder);
    debug_assert!(written.is_ok(), "writing to memory does not fail");
    let mut sum = flate2::Crc::new();
    sum.update(bytes);
    out.extend_from_slice(&sum.sum().to_le_bytes());
    out.extend_from_slice(&sum.amount().to_le_bytes());
    out
}

/// Decompresses bytes; the error is a phrase.
pub(super) fn decompress(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    MultiGzDecoder::new(bytes).take(LARGEST + 1).read_to_end(&mut out)?;
    if out.len() as u64 > LARGEST { Err("the result is too large".into()) } else { Ok(out) }
}
