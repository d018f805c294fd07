//! The one place where bytes are sealed on their way out and opened on their way in: states, backups, plans, journals.
//!
//! Whoever writes or reads one of these goes through [`Seals`]; what seals is a [`Seal`], which encryption installs where it is asked for.

use std::borrow::Cow;
use std::fmt::Debug;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::error::Error;
use crate::state::{State, read};
use crate::world::World;

/// What is sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'n> {
    /// A state, wherever it lies: in a store, as its backup, in `errored.tfstate`. Sealed it is text, for it may have to be printed.
    State,
    /// The state of another configuration, which is only ever opened: the address of the data source that reads it.
    RemoteState(&'n str),
    /// A saved plan.
    Plan,
    /// One line of the journal or of the log. Sealed it is text without a line feed.
    Line,
}

/// Makes bytes unreadable to others, and readable again.
pub trait Seal: Debug + Send + Sync {
    /// Seals bytes.
    ///
    /// # Errors
    ///
    /// If they cannot be sealed, with a phrase that says why. Nothing is written then.
    fn seal<'a>(&self, part: Part<'_>, plain: Cow<'a, [u8]>) -> Result<Cow<'a, [u8]>, Error>;

    /// Opens what was sealed.
    ///
    /// # Errors
    ///
    /// If it was not sealed by this seal, or was changed since, with a phrase that says so.
    fn open<'a>(&self, part: Part<'_>, sealed: Cow<'a, [u8]>) -> Result<Cow<'a, [u8]>, Error>;

    /// Whether states are sealed: neither left as they are, nor sealed by a method that does nothing.
    fn seals_states(&self) -> bool;

    /// Opens what was sealed as it would be now; nothing where it was sealed otherwise, so that it is to be written again, be it the same.
    ///
    /// # Errors
    ///
    /// As for [`Seal::open`].
    fn open_current<'a>(
        &self,
        part: Part<'_>,
        sealed: Cow<'a, [u8]>,
    ) -> Result<Option<Cow<'a, [u8]>>, Error> {
        self.open(part, sealed).map(Some)
    }
}

/// Leaves everything as it is.
#[derive(Debug)]
pub struct Unsealed;

impl Seal for Unsealed {
    fn seals_states(&self) -> bool {
        false
    }

    fn seal<'a>(&self, _: Part<'_>, plain: Cow<'a, [u8]>) -> Result<Cow<'a, [u8]>, Error> {
        Ok(plain)
    }

    fn open<'a>(&self, part: Part<'_>, sealed: Cow<'a, [u8]>) -> Result<Cow<'a, [u8]>, Error> {
        // A state is only looked at where it cannot be read: it may be large.
        match part == Part::Plan && Marked::read(&sealed).is_some() {
            true => Err(PLAN_UNCONFIGURED.into()),
            false => Ok(sealed),
        }
    }
}

/// What seals in one world.
#[derive(Clone, Debug, Default)]
pub struct Seals(OnceLock<Arc<dyn Seal>>);

impl Seals {
    /// Returns what seals in a world: the same for all that is written and read in it.
    pub fn of(world: &World) -> Arc<Seals> {
        world.once(|_| Seals::default())
    }

    /// Returns these seals.
    pub fn with(seal: impl Seal + 'static) -> Seals {
        let seals = Seals::default();
        seals.install(seal);
        seals
    }

    /// Lets this seal from now on, unless another does already.
    pub fn install(&self, seal: impl Seal + 'static) {
        let _ = self.0.set(Arc::new(seal));
    }

    /// Returns whether anything was installed.
    pub fn is_installed(&self) -> bool {
        self.0.get().is_some()
    }

    /// Returns whether everything is left as it is.
    pub fn is_unsealed(&self) -> bool {
        self.0.get().is_none()
    }

    /// As [`Seal::seals_states`].
    pub fn seals_states(&self) -> bool {
        self.get().seals_states()
    }

    fn get(&self) -> &dyn Seal {
        self.0.get().map_or(&Unsealed, |it| &**it)
    }

    /// As [`Seal::open_current`].
    ///
    /// # Errors
    ///
    /// As for [`Seal::open`].
    pub fn open_current<'a>(
        &self,
        part: Part<'_>,
        sealed: &'a [u8],
    ) -> Result<Option<Cow<'a, [u8]>>, Diagnostic> {
        match sealed.is_empty() {
            true => Ok(Some(sealed.into())),
            false => self.get().open_current(part, sealed.into()).map_err(|why| not_opened(&why)),
        }
    }

    /// Seals bytes.
    ///
    /// # Errors
    ///
    /// As for [`Seal::seal`].
    pub fn seal<'a>(&self, part: Part<'_>, plain: &'a [u8]) -> Result<Cow<'a, [u8]>, Diagnostic> {
        self.get().seal(part, plain.into()).map_err(|why| not_sealed(&why))
    }

    /// Seals a state that is not needed as it was. Nothing is copied where nothing is sealed.
    ///
    /// # Errors
    ///
    /// As for [`Seal::seal`].
    pub fn seal_state(&self, plain: String) -> Result<Bytes, Diagnostic> {
        let sealed = self.get().seal(Part::State, plain.into_bytes().into());
        sealed.map(|it| it.into_owned().into()).map_err(|why| not_sealed(&why))
    }

    /// Opens what was sealed.
    ///
    /// # Errors
    ///
    /// As for [`Seal::open`].
    pub fn open<'a>(&self, part: Part<'_>, sealed: &'a [u8]) -> Result<Cow<'a, [u8]>, Diagnostic> {
        match sealed.is_empty() {
            // Nothing was ever sealed there.
            true => Ok(sealed.into()),
            false => self.get().open(part, sealed.into()).map_err(|why| not_opened(&why)),
        }
    }

    /// Seals lines of a journal one by one, so that each can be read whatever becomes of the next.
    pub(super) fn seal_lines(&self, lines: &str) -> Result<Vec<u8>, Diagnostic> {
        let mut sealed = Vec::with_capacity(lines.len());
        for line in lines.lines() {
            sealed.extend_from_slice(&self.seal(Part::Line, line.as_bytes())?);
            sealed.push(b'\n');
        }
        Ok(sealed)
    }

    /// Opens the lines of a journal. A line that cannot be opened is replaced by one that no reader takes. So a line that was never sealed
    /// is not read where everything must be sealed. A last line without its end was being written when the run ended: it is dropped.
    pub(super) fn open_lines(&self, sealed: &[u8]) -> Vec<u8> {
        let mut lines = Vec::with_capacity(sealed.len());
        for line in sealed.split_inclusive(|it| *it == b'\n') {
            let (text, end) = match line.strip_suffix(b"\n") {
                Some(text) => (text, &b"\n"[..]),
                None => (line, &b""[..]),
            };
            match self.open(Part::Line, text) {
                Ok(opened) => {
                    lines.extend_from_slice(&opened);
                    lines.extend_from_slice(end);
                }
                Err(_) if end.is_empty() => {}
                Err(_) => lines.extend_from_slice(UNOPENED),
            }
        }
        lines
    }

    /// Reads a state that lies where a store keeps it.
    ///
    /// # Errors
    ///
    /// If it cannot be opened, or is no state.
    pub fn read_state(&self, part: Part<'_>, stored: &[u8]) -> Result<Option<State>, Diagnostics> {
        let opened = self.open(part, stored)?;
        read::read(&opened).map_err(|why| match Marked::read(&opened) {
            Some(_) => not_opened(&UNCONFIGURED.into()).into(),
            None => why,
        })
    }

    /// Reads a large state that lies where a store keeps it, and lets go of the bytes on the way. Nothing where that cannot be done:
    /// then [`read_state`](Seals::read_state) reads it, or says what is wrong.
    pub fn take_state(&self, part: Part<'_>, stored: Vec<u8>) -> Option<State> {
        let opened = self.get().open(part, stored.into()).ok()?;
        read::read_from_end(&mut opened.into_owned())
    }

    /// Reads a state from a file that the user gives: as `state pull` prints it, or sealed, as `errored.tfstate` is.
    ///
    /// # Errors
    ///
    /// If it is neither.
    pub fn read_given_state(&self, given: &[u8]) -> Result<Option<State>, Diagnostics> {
        self.read_state(Part::State, given).or_else(|_| read::read(given))
    }
}

/// Stands for a line that cannot be opened.
const UNOPENED: &[u8] = b"not opened\n";

/// What an envelope of sealed bytes says of itself.
#[derive(serde::Deserialize)]
struct Marked {
    encryption_version: String,
    /// Only of a state.
    lineage: Option<String>,
}

impl Marked {
    /// Reads the members of an envelope; nothing where the bytes are none.
    fn read(bytes: &[u8]) -> Option<Marked> {
        let mark = b"\"encryption_version\"";
        let may_be = bytes.first() == Some(&b'{') && bytes.windows(mark.len()).any(|it| it == mark);
        let marked: Marked = may_be.then(|| serde_json::from_slice(bytes).ok())??;
        (!marked.encryption_version.is_empty()).then_some(marked)
    }
}

/// Returns whether bytes are an envelope of something sealed.
pub fn is_sealed(bytes: &[u8]) -> bool {
    Marked::read(bytes).is_some()
}

/// Returns whether bytes are a saved plan that is sealed.
pub fn is_sealed_plan(bytes: &[u8]) -> bool {
    Marked::read(bytes).is_some_and(|it| it.lineage.is_none())
}

/// Bytes could not be sealed.
fn not_sealed(why: &Error) -> Diagnostic {
    Diagnostic::error("Failed to encrypt").detail(format!(
        "{why}. Nothing was written. Mend the encryption, then run the command again."
    ))
}

/// Why a state that somebody has sealed cannot be opened where nothing is said of encryption. Other programs know OpenTofu's words.
const UNCONFIGURED: &str =
    "This state file is encrypted and can not be read without an encryption configuration";

/// The same of a saved plan.
const PLAN_UNCONFIGURED: &str =
    "the given plan file is encrypted and requires a valid encryption configuration to decrypt";

/// The summary of what is told of bytes that cannot be opened.
pub const NOT_OPENED: &str = "Failed to decrypt";

/// What was read cannot be opened.
fn not_opened(why: &Error) -> Diagnostic {
    Diagnostic::error(NOT_OPENED).detail(format!(
        "{why}. Nothing was changed. What was encrypted with other settings needs these settings again."
    ))
}
