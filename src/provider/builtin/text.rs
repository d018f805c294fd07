//! Bytes as text, and back.

use base64::Engine;
use base64::alphabet::{Alphabet, STANDARD, URL_SAFE};
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

/// Returns bytes in lower-case hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}

/// Reads padded base64; line ends and stray last bits are ignored, as in Go.
pub(super) fn from_base64(text: &str) -> Option<Vec<u8>> {
    decode(text, &STANDARD, DecodePaddingMode::RequireCanonical)
}

/// Reads unpadded base64 in the URL-safe alphabet; line ends and stray last bits are ignored, as in Go.
pub(super) fn from_base64_url(text: &str) -> Option<Vec<u8>> {
    decode(text, &URL_SAFE, DecodePaddingMode::RequireNone)
}

fn decode(text: &str, alphabet: &Alphabet, padding: DecodePaddingMode) -> Option<Vec<u8>> {
    let config = GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(padding);
    let text = text.replace(['\r', '\n'], "");
    GeneralPurpose::new(alphabet, config).decode(text).ok()
}
