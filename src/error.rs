//! What went wrong, where that is only words for a person: what is wrong with a text, what the system said.
//!
//! Whoever must tell cases apart has an enum of them; what a user is told in the end, with a place, is a
//! [`Diagnostic`](crate::diagnostic::Diagnostic).

use std::fmt;
use std::sync::Arc;

/// What went wrong, in words: a phrase without a full stop, or whole sentences where the function says so.
///
/// It prints as all that is known, the words of its cause included. It is cheap to clone, so that what failed once can be
/// told as often as it is asked for.
#[derive(Clone, Debug)]
pub struct Error {
    words: Arc<str>,
    cause: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// Returns the words of another error, and keeps it as the cause.
    pub fn of(cause: impl std::error::Error + Send + Sync + 'static) -> Error {
        Error { words: cause.to_string().into(), cause: Some(Arc::new(cause)) }
    }

    /// Returns the error with words and a colon before its own; the error stays its cause.
    pub fn context(self, words: impl fmt::Display) -> Error {
        Error { words: format!("{words}: {self}").into(), cause: Some(Arc::new(self)) }
    }

    /// Returns the words of another error and of what has caused it, each cause that they do not name already.
    pub fn with_causes(error: &dyn std::error::Error) -> Error {
        let mut words = error.to_string();
        let mut cause = error.source();
        while let Some(it) = cause {
            let more = it.to_string();
            if !words.contains(&more) {
                words = format!("{words}: {more}");
            }
            cause = it.source();
        }
        words.into()
    }

    /// Returns all that is known.
    pub fn words(&self) -> &str {
        &self.words
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_deref().map(|it| it as _)
    }
}

/// Errors are equal that say the same.
impl PartialEq for Error {
    fn eq(&self, other: &Error) -> bool {
        self.words == other.words
    }
}

impl From<String> for Error {
    fn from(words: String) -> Error {
        Error { words: words.into(), cause: None }
    }
}

impl From<&str> for Error {
    fn from(words: &str) -> Error {
        Error { words: words.into(), cause: None }
    }
}

/// Its words, for what keeps a text.
impl From<Error> for String {
    fn from(error: Error) -> String {
        error.to_string()
    }
}

impl From<std::io::Error> for Error {
    fn from(cause: std::io::Error) -> Error {
        Error::of(cause)
    }
}

impl From<serde_json::Error> for Error {
    fn from(cause: serde_json::Error) -> Error {
        Error::of(cause)
    }
}

/// Says what was being done when something went wrong.
pub trait ErrorContext<T> {
    /// Puts words and a colon before those of the error, which is kept as the cause.
    fn context(self, words: impl fmt::Display) -> Result<T, Error>;
}

impl<T, E: std::error::Error + Send + Sync + 'static> ErrorContext<T> for Result<T, E> {
    fn context(self, words: impl fmt::Display) -> Result<T, Error> {
        self.map_err(|cause| Error {
            words: format!("{words}: {cause}").into(),
            cause: Some(Arc::new(cause)),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;
    use std::io;

    use super::*;

    #[test]
    fn an_error_prints_what_was_being_done_and_keeps_what_went_wrong() {
        let missing = || io::Error::new(io::ErrorKind::NotFound, "no such file");
        let error = Err::<(), _>(missing()).context(format_args!("reading {:?}", "a.txt"));
        let error = error.context("no lock file").expect_err("an error");
        assert_eq!(error.to_string(), "no lock file: reading \"a.txt\": no such file");

        let cause = error.source().and_then(|it| it.source()).expect("the cause of the cause");
        let cause = cause.downcast_ref::<io::Error>().expect("an error of the system");
        assert_eq!(cause.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn an_error_of_the_system_says_what_the_system_says() {
        let error = Error::from(io::Error::from_raw_os_error(2));
        assert_eq!(error.words(), io::Error::from_raw_os_error(2).to_string());
        assert!(error.source().is_some());
        assert_eq!(Error::from("plain words"), Error::from("plain words".to_owned()));
        assert!(Error::from("plain words").source().is_none());
    }
}
