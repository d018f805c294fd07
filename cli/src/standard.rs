//! The standard streams, also where the caller has closed them.
//!
//! Before `main`, Rust opens `/dev/null` in the place of a closed stream, which takes everything and gives nothing: what is
//! written to a closed output would be taken for written. So it is seen before that which of them are closed.

use std::io::{self, BufWriter, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use entail::world::terminal::{Cleaned, Form};

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
pub fn output() -> Door {
    Door::new(if is_closed(1) { Box::new(Closed) } else { Box::new(io::stdout()) })
}

/// Returns the standard output for a protocol that another program speaks; people never see it.
pub fn protocol() -> Box<dyn Write + Send> {
    if is_closed(1) { Box::new(Closed) } else { Box::new(io::stdout()) }
}

/// Returns the standard error.
pub fn errors() -> Door {
    Door::new(if is_closed(2) { Box::new(Closed) } else { Box::new(io::stderr()) })
}

/// A stream that people read, perhaps at a terminal. Nothing reaches it uncleaned, except what [`Door::exact`] is given.
pub struct Door(Box<dyn Write + Send>);

impl Door {
    /// Cleans what goes to a stream.
    pub fn new(stream: Box<dyn Write + Send>) -> Door {
        Door(stream)
    }

    /// Writes text, or a document, without what would steer a terminal.
    ///
    /// # Errors
    ///
    /// If the stream takes no more.
    pub fn put(&mut self, form: Form, text: &str) -> io::Result<()> {
        self.exact(form.clean(text).as_bytes())
    }

    /// Writes bytes as they are: what a program asked for, or what is clean already.
    ///
    /// # Errors
    ///
    /// If the stream takes no more.
    pub fn exact(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)?;
        self.0.flush()
    }

    /// Lets `show` write a long text, which is cleaned on its way.
    ///
    /// # Errors
    ///
    /// If the stream takes no more.
    pub fn long(&mut self, show: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(1 << 16, &mut self.0);
        let mut cleaned = Cleaned::new(&mut out, Form::Text);
        let written = show(&mut cleaned).and_then(|()| cleaned.flush());
        drop(cleaned);
        // What is left in the buffer is not tried again.
        drop(out.into_parts());
        written
    }
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
