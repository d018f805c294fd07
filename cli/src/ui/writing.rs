//! What is written to the standard streams, cleaned in the form that it has.

use std::io::{self, Write};

use entail::world::terminal::{Cleaned, Form};

use super::Ui;
use super::status::Status;

impl Ui {
    /// Writes text to the standard output. Where that fails, [`Ui::close`] says so.
    pub fn out(&self, text: &str) {
        self.above(|| self.put(Form::Text, text));
    }

    /// Writes a document in JSON to the standard output.
    pub fn json(&self, document: &str) {
        self.above(|| self.put(Form::Json, document));
    }

    /// Writes a document in JSON, or text for people.
    pub fn json_or_text(&self, is_json: bool, text: &str) {
        if is_json { self.json(text) } else { self.out(text) }
    }

    /// Writes what another program reads as it is, byte by byte; at a terminal, people read it.
    pub fn exact(&self, text: &str) {
        if self.out_is_terminal {
            return self.out(text);
        }
        let mut streams = self.streams();
        let written = streams.out.exact(text.as_bytes());
        streams.note(written);
    }

    /// Prints something above the block of what runs, where there is one.
    pub(super) fn above<T>(&self, print: impl FnOnce() -> T) -> T {
        let block = self.status.lock().as_ref().map(Status::block);
        match block {
            Some(block) => block.suspend(print),
            None => print(),
        }
    }

    fn put(&self, form: Form, text: &str) {
        let mut streams = self.streams();
        if let Some(held) = &mut streams.held {
            return held.extend_from_slice(form.clean(text).as_bytes());
        }
        let written = streams.out.put(form, text);
        streams.note(written);
    }

    /// Writes what was held, which is clean.
    pub(super) fn put_held(&self, held: &[u8]) {
        self.above(|| {
            let mut streams = self.streams();
            let written = streams.out.exact(held);
            streams.note(written);
        });
    }

    /// Writes text to the standard error.
    pub fn err(&self, text: &str) {
        // What was said before stands before it.
        let held = if text.is_empty() { None } else { self.streams().held.take() };
        if let Some(held) = held {
            self.put_held(&held);
        }
        self.above(|| self.streams().err.put(Form::Text, text).unwrap_or_default());
    }

    /// Lets `show` write a long result to the standard output.
    pub fn write(&self, show: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        let mut streams = self.streams();
        if let Some(held) = &mut streams.held {
            return show(&mut Cleaned::new(held, Form::Text)).unwrap_or_default();
        }
        let written = streams.out.long(show);
        streams.note(written);
    }
}
