//! Why a call failed, and how that is told without telling what is secret.

use super::super::size::{LONGEST_TEXT, MOST_ELEMENTS};
use crate::error::Error;
use crate::value::Value;

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The argument to blame; `None` where it is the call as a whole.
    pub argument: Option<usize>,
    words: Words,
}

/// What is wrong, in words that follow a colon.
///
/// Words fixed in this program tell nothing of a value. All others may, unless their author says that they do not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Words {
    /// They tell nothing that is secret.
    Discreet(String),
    /// They may hold parts of arguments.
    Telling(String),
}

impl From<&'static str> for Words {
    fn from(text: &'static str) -> Words {
        Words::Discreet(text.to_owned())
    }
}

impl From<String> for Words {
    fn from(text: String) -> Words {
        Words::Telling(text)
    }
}

impl From<Error> for Words {
    fn from(error: Error) -> Words {
        Words::Telling(error.to_string())
    }
}

/// Refuses a text that would be too long, before it takes memory.
pub(super) fn fits(bytes: usize) -> Result<(), Failure> {
    match bytes > LONGEST_TEXT {
        true => Err(Failure::call("the result would be longer than 256 MiB")),
        false => Ok(()),
    }
}

/// Refuses a collection that would have too many elements, before it takes memory.
pub(super) fn are_few(elements: usize) -> Result<(), Failure> {
    match elements > MOST_ELEMENTS {
        true => Err(Failure::call("the result would have more than 33554432 elements")),
        false => Ok(()),
    }
}

impl Failure {
    /// An argument is wrong.
    pub fn argument(at: usize, words: impl Into<Words>) -> Failure {
        Failure { argument: Some(at), words: words.into() }
    }

    /// The call failed.
    pub fn call(words: impl Into<Words>) -> Failure {
        Failure { argument: None, words: words.into() }
    }

    /// The same words, about the call as a whole.
    pub(super) fn of_call(self) -> Failure {
        Failure { argument: None, ..self }
    }

    /// The same, whose words hold no part of an argument, or only what was put in place of a secret one.
    pub(super) fn discreet(self) -> Failure {
        let (Words::Discreet(text) | Words::Telling(text)) = self.words;
        Failure { words: Words::Discreet(text), ..self }
    }

    /// Returns the words, for whoever knows that no argument is secret.
    pub(super) fn text(&self) -> &str {
        let (Words::Discreet(text) | Words::Telling(text)) = &self.words;
        text
    }

    /// Words the problem of a call with these arguments. The only place that does: what a secret argument may be part of is
    /// not told.
    pub fn message(&self, arguments: &[Value]) -> String {
        match self.words {
            Words::Telling(_) if arguments.iter().any(|it| it.deep_marks().is_secret()) => {
                WITHHELD.to_owned()
            }
            _ => self.text().to_owned(),
        }
    }
}

/// What is told instead of a reason that may hold a secret.
const WITHHELD: &str = "an argument is sensitive or ephemeral and the reason may show parts of it, so that it is not told";
