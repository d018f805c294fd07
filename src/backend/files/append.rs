//! Lines at the end of a file that grows from run to run.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use crate::world::{WITHOUT_WAITING, not_regular};

/// Adds a line to the end of a file in one write, and makes the file where there is none: for this user alone. Where the file ends
/// in the middle of a line, because whoever wrote it was killed, the new line begins on its own.
///
/// # Errors
///
/// If it cannot be written, or is no regular file.
pub fn append_line(path: &Path, line: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true).mode(0o600).custom_flags(WITHOUT_WAITING);
    let mut file = options.open(path)?;
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(not_regular(found.file_type()));
    }
    let mut last = *b"\n";
    if found.len() > 0 {
        file.read_exact_at(&mut last, found.len() - 1)?;
    }
    let mut text = Vec::with_capacity(line.len() + 2);
    if last != *b"\n" {
        text.push(b'\n');
    }
    text.extend_from_slice(line);
    text.push(b'\n');
    file.write_all(&text)
}
