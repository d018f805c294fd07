//! Why a cloud has not done what it was asked to, in words for a person: what, where, how to go on. Never a secret.

use std::fmt;
use std::io;

use super::web::Answer;
use crate::backend::lock::{LockProblem, NotUnlocked};
use crate::backend::store::Refused;
use crate::world::secrets::Secrets;

/// Why a request came to nothing.
#[derive(Clone, Debug)]
pub enum Trouble {
    /// It was never sent. Why, and whether another attempt may do better.
    Unsent(String, bool),
    /// Nothing came back, or only a part. Why; it may have been carried out.
    Unanswered(String),
    /// As [`Trouble::Unanswered`], after the longest time that is waited: another attempt would take as long.
    TimedOut(String),
    /// The service says no.
    Denied(Denial),
}

/// What a service says that does not do what it is asked for.
#[derive(Clone, Debug)]
pub struct Denial {
    /// The status of the answer.
    pub status: u16,
    /// The service's own word for the reason, empty where it gives none.
    pub code: String,
    /// What the user is told.
    pub text: String,
    /// Whether an earlier attempt had no clear answer, and may have been carried out.
    pub may_be_done: bool,
}

impl Trouble {
    /// Returns a denial with the words that its service has for it.
    pub fn denied(status: u16, code: &str, text: String) -> Trouble {
        Trouble::Denied(Denial { status, code: code.to_owned(), text, may_be_done: false })
    }

    /// Whether another attempt may do better.
    pub fn is_transient(&self) -> bool {
        match self {
            Trouble::Unsent(_, is_transient) => *is_transient,
            Trouble::Unanswered(_) => true,
            Trouble::TimedOut(_) | Trouble::Denied(_) => false,
        }
    }

    /// Whether the request may have been carried out all the same.
    pub fn is_undecided(&self) -> bool {
        match self {
            Trouble::Unsent(..) => false,
            Trouble::Unanswered(_) | Trouble::TimedOut(_) => true,
            Trouble::Denied(it) => it.status >= 500,
        }
    }

    /// Whether the service answers that what is named is not there.
    pub fn is_absent(&self) -> bool {
        matches!(self, Trouble::Denied(it) if it.status == 404)
    }

    /// Returns the service's own word for the reason.
    pub fn code(&self) -> &str {
        match self {
            Trouble::Denied(it) => &it.code,
            _ => "",
        }
    }

    /// Returns it with secrets replaced in its words.
    pub fn without(self, secrets: &Secrets) -> Trouble {
        self.reworded(|it| secrets.hide(it))
    }

    /// Returns it with words before its own.
    pub fn context(self, words: impl fmt::Display) -> Trouble {
        self.reworded(|it| format!("{words}: {it}"))
    }

    fn reworded(self, words: impl FnOnce(&str) -> String) -> Trouble {
        match self {
            Trouble::Unsent(it, again) => Trouble::Unsent(words(&it), again),
            Trouble::Unanswered(it) => Trouble::Unanswered(words(&it)),
            Trouble::TimedOut(it) => Trouble::TimedOut(words(&it)),
            Trouble::Denied(it) => Trouble::Denied(Denial { text: words(&it.text), ..it }),
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Trouble::Unsent(it, _) | Trouble::Unanswered(it) | Trouble::TimedOut(it) => it,
            Trouble::Denied(it) => &it.text,
        };
        // Whoever tells it ends the sentence.
        f.write_str(text.trim_end_matches('.'))
    }
}

impl std::error::Error for Trouble {}

impl From<Trouble> for io::Error {
    fn from(it: Trouble) -> io::Error {
        io::Error::other(it)
    }
}

impl From<Trouble> for Refused {
    fn from(it: Trouble) -> Refused {
        Refused::Failed(it.into())
    }
}

impl From<Trouble> for LockProblem {
    fn from(it: Trouble) -> LockProblem {
        LockProblem::Failed(it.to_string())
    }
}

impl From<Trouble> for NotUnlocked {
    fn from(it: Trouble) -> NotUnlocked {
        NotUnlocked::Failed(it.to_string(), None)
    }
}

/// Says what an answer is that no service of this kind gives: a page for people, a redirection.
///
/// - `service`: how messages call it.
pub fn foreign(service: &str, host: &str, answer: &Answer) -> Option<String> {
    if (300..400).contains(&answer.status) && answer.status != 304 {
        let to = answer.header("location").unwrap_or("an address that it does not give");
        let to = to.split(['?', '#']).next().unwrap_or_default();
        return Some(format!(
            "{host} sends requests on to {to} (status {}). A signed request holds for one address and is not sent on: name that address \
             as the endpoint, or have a look at the proxy in between.",
            answer.status
        ));
    }
    let kind = answer.header("content-type").unwrap_or_default().to_ascii_lowercase();
    let starts_as_page = || {
        let start = answer.body.iter().skip_while(|it| it.is_ascii_whitespace()).take(14);
        let start: Vec<u8> = start.map(u8::to_ascii_lowercase).collect();
        start.starts_with(b"<!doctype html") || start.starts_with(b"<html")
    };
    (kind.starts_with("text/html") && starts_as_page() || kind.is_empty() && starts_as_page()).then(|| {
        format!(
            "{host} answers with a page for people (HTML, status {}), as {service} never does. Something else listens there, or a proxy \
             or a login page stands in between: check the endpoint's address.",
            answer.status
        )
    })
}
