//! Where a call goes to, in memory of the caller's own.

use std::ffi::{CStr, c_char, c_int};
use std::fmt::Write;

unsafe extern "C" {
    fn getcwd(into: *mut c_char, length: usize) -> *mut c_char;
}

/// The folder that a relative path begins at, where none is named.
pub const HERE: c_int = -100;

/// Where a call goes to.
#[derive(Clone, Copy)]
pub enum At {
    File(c_int),
    Path(c_int, *const c_char),
}

/// A text of limited length, with a zero behind it; what is longer is cut.
pub struct Text {
    bytes: [u8; 1024],
    length: usize,
}

impl Text {
    pub const fn new() -> Text {
        Text { bytes: [0; 1024], length: 0 }
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    pub fn as_bytes_with_nul(&self) -> &[u8] {
        &self.bytes[..=self.length]
    }

    pub fn push(&mut self, more: &[u8]) {
        for byte in more.iter().take(self.bytes.len() - 1 - self.length) {
            self.bytes[self.length] = *byte;
            self.length += 1;
        }
    }

    /// Goes back to the folder of a path.
    fn pop(&mut self) {
        let end = self.as_bytes().iter().rposition(|it| *it == b'/').unwrap_or(0);
        self.bytes[end..self.length].fill(0);
        self.length = end;
    }
}

impl Write for Text {
    fn write_str(&mut self, more: &str) -> std::fmt::Result {
        self.push(more.as_bytes());
        Ok(())
    }
}

/// The path that a call goes to, from the root and without `.` and `..`.
pub fn path_of(at: At) -> Option<Text> {
    let (from, rest) = match at {
        At::File(file) => (path_of_file(file)?, &b""[..]),
        At::Path(_, path) if path.is_null() => return None,
        At::Path(folder, path) => {
            let path = unsafe { CStr::from_ptr(path) }.to_bytes();
            let from = match (path.first(), folder) {
                (Some(b'/'), _) => Text::new(),
                (_, HERE) => here()?,
                (_, folder) => path_of_file(folder)?,
            };
            (from, path)
        }
    };
    let mut plain = Text::new();
    let slash = |it: &u8| *it == b'/';
    for part in from.as_bytes().split(slash).chain(rest.split(slash)) {
        match part {
            b"" | b"." => {}
            b".." => plain.pop(),
            _ => {
                plain.push(b"/");
                plain.push(part);
            }
        }
    }
    Some(plain)
}

fn here() -> Option<Text> {
    let mut bytes = [0; 1000];
    let found = unsafe { getcwd(bytes.as_mut_ptr(), bytes.len()) };
    if found.is_null() {
        return None;
    }
    let mut text = Text::new();
    text.push(unsafe { CStr::from_ptr(found) }.to_bytes());
    Some(text)
}

/// The path of an open file; of a pipe or socket none that begins with a slash.
fn path_of_file(file: c_int) -> Option<Text> {
    let mut name = Text::new();
    write!(name, "/proc/self/fd/{file}").ok()?;
    let mut bytes = [0u8; 1000];
    let readlink = real!(readlink: fn(*const c_char, *mut c_char, usize) -> isize);
    let name = name.as_bytes_with_nul().as_ptr().cast();
    let length = unsafe { readlink(name, bytes.as_mut_ptr().cast(), bytes.len()) };
    let mut text = Text::new();
    text.push(bytes.get(..usize::try_from(length).ok()?)?);
    Some(text)
}
