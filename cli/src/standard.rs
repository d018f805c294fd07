//! The standard streams, also where the caller has closed them.
//!
//! Before `main`, Rust opens `/dev/null` in the place of a closed stream, which takes everything and gives nothing: what is
//! written to a closed output would be taken for written. So it is seen before that which of them are closed.

use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether input, output and errors were closed when the process began.
static CLOSED: [AtomicBool; 3] = [const { AtomicBool::new(false) }; 3];

/// Runs before Rust's own beginnings, where next to nothing works yet.
extern "C" fn look() {
    for (number, closed) in (0..).zip(&CLOSED) {
        // SAFETY: asking for the flags of a descriptor touches nothing, whether it is open or not.
        #[expect(unsafe_code, reason = "a closed descriptor cannot be borrowed")]
        let flags = unsafe { libc::fcntl(number, libc::F_GETFD) };
        closed.store(flags == -1, Ordering::Relaxed);
    }
}

#[used]
#[cfg_attr(
    target_os = "macos",
    expect(unsafe_code, reason = "the system calls what this section names"),
    unsafe(link_section = "__DATA,__mod_init_func")
)]
#[cfg_attr(
    not(target_os = "macos"),
    expect(unsafe_code, reason = "the system calls what this section names"),
    unsafe(link_section = ".init_array")
)]
static LOOK: extern "C" fn() = look;

/// Returns the standard input.
pub fn input() -> Box<dyn Read + Send> {
    if is_closed(0) { Box::new(Closed) } else { Box::new(io::stdin()) }
}

/// Returns the standard output.
pub fn output() -> Box<dyn Write + Send> {
    if is_closed(1) { Box::new(Closed) } else { Box::new(io::stdout()) }
}

/// Returns the standard error.
pub fn errors() -> Box<dyn Write + Send> {
    if is_closed(2) { Box::new(Closed) } else { Box::new(io::stderr()) }
}

fn is_closed(number: usize) -> bool {
    CLOSED[number].load(Ordering::Relaxed)
}

/// A stream that is not there.
struct Closed;

impl Closed {
    fn error() -> io::Error {
        io::Error::other("the caller has closed it")
    }
}

impl Read for Closed {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(Closed::error())
    }
}

impl Write for Closed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.is_empty() { Ok(0) } else { Err(Closed::error()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
