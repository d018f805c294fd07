//! Questions and their answers: approval, values of variables, lines of a conversation.

use entail::world::PRODUCT;
use std::io::{self, Read as _};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use entail::diagnostic::Diagnostic;
use entail::request::PlanMode;
use entail::value::text::shown;
use entail::workflow::Ask;

use super::Ui;
use crate::view::style::Style;

impl Ui {
    /// Says that approval was refused.
    pub fn cancelled(&self, mode: PlanMode) {
        let what = if mode == PlanMode::Destroy { "Destroy" } else { "Apply" };
        self.out(&format!("\n{what} cancelled.\n"));
    }

    /// Asks a question and returns the answer's line without blanks at its end.
    pub fn ask(&self, question: &str, explanation: &str, secret: bool) -> io::Result<String> {
        let style = self.out_style;
        let mut text = format!("{}\n", style.bold(question));
        for line in explanation.lines() {
            text.push_str(&format!("  {line}\n"));
        }
        if !explanation.is_empty() {
            text.push('\n');
        }
        text.push_str(&format!("  {} ", style.bold("Enter a value:")));
        self.out(&text);
        let hidden = (secret && self.streams().input_is_terminal).then(Hidden::new);
        let answer = self.read_line();
        drop(hidden);
        self.out("\n");
        let answer = answer?;
        if answer.is_empty() {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "EOF"));
        }
        Ok(answer.trim_end().to_owned())
    }

    /// Sets how problems look where each line is answered: in frames, unless a flag asks for plain text.
    pub fn converse(&mut self) {
        self.err_style = Style { framed: self.has_frames, spaced: true, ..self.err_style };
    }

    /// Sets that an empty line follows each problem.
    pub fn space_problems(&mut self) {
        self.err_style.spaced = true;
    }

    /// Returns whether people type the input.
    pub fn is_conversation(&self) -> bool {
        self.streams().input_is_terminal
    }

    /// Reads a line after a prompt, which only people see; nothing at the end of the input.
    pub fn line(&self, prompt: &str) -> Option<String> {
        if self.is_conversation() {
            self.out(prompt);
        }
        let line = self.read_line().ok().filter(|it| !it.is_empty());
        if line.is_none() && self.is_conversation() {
            self.out("\n");
        }
        line
    }

    /// Reads a line, its end included; empty at the end of the input. An interrupt ends the wait.
    fn read_line(&self) -> io::Result<String> {
        let (sender, receiver) = channel();
        let input = self.input.clone();
        // Where nobody answers any more, the thread ends with the process.
        std::thread::Builder::new().spawn(move || {
            let mut line = String::new();
            let mut input = input.lock();
            let read = input.read_line(&mut line);
            // Nobody may wait any longer.
            sender.send(read.map(|_| line)).unwrap_or_default();
        })?;
        loop {
            match receiver.recv_timeout(Duration::from_millis(50)) {
                Ok(line) => return line,
                Err(RecvTimeoutError::Timeout) if self.interrupts.stop.asked() == 0 => {}
                Err(_) => return Err(io::Error::new(io::ErrorKind::Interrupted, "interrupted")),
            }
        }
    }

    /// Reads the standard input to its end.
    pub fn read_all(&self) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        let mut input = self.input.lock();
        input.read_to_end(&mut all)?;
        Ok(all)
    }
}

impl Ask for Ui {
    fn may_ask(&self) -> bool {
        !self.manner.silent
    }

    fn variable(&self, name: &str, description: Option<&str>, sensitive: bool) -> Option<String> {
        if !self.may_ask() {
            return None;
        }
        self.ask(&format!("var.{name}"), description.unwrap_or_default(), sensitive).ok()
    }

    fn approves(&self, mode: PlanMode, workspace: &str) -> Result<bool, Diagnostic> {
        let place = if workspace == "default" {
            String::new()
        } else {
            format!(" in workspace {}", shown(workspace))
        };
        let (question, explanation) = match mode {
            PlanMode::Normal => (
                format!("Do you want to perform these actions{place}?"),
                format!(
                    "{PRODUCT} will perform the actions described above.\nOnly 'yes' will be accepted to approve."
                ),
            ),
            PlanMode::Destroy => (
                format!("Do you really want to destroy all resources{place}?"),
                format!(
                    "{PRODUCT} will destroy all your managed infrastructure, as shown above.\nThere is no undo. Only 'yes' will be \
                     accepted to confirm."
                ),
            ),
            PlanMode::RefreshOnly => (
                format!(
                    "Would you like to update the {PRODUCT} state to reflect these detected changes{place}?"
                ),
                format!(
                    "{PRODUCT} will write these changes to the state without modifying any real infrastructure.\nThere is no undo. \
                     Only 'yes' will be accepted to confirm."
                ),
            ),
        };
        self.out("\n");
        let answer = self.ask(&question, &explanation, false).map_err(|it| no_approval(&it))?;
        Ok(answer == "yes")
    }

    fn agrees(&self, question: &str, explanation: &str) -> Option<bool> {
        if !self.may_ask() {
            return None;
        }
        self.ask(question, explanation, false).ok().map(|it| it == "yes")
    }

    fn answer(&self, question: &str, explanation: &str, secret: bool) -> Option<String> {
        if !self.may_ask() {
            return None;
        }
        self.ask(question, explanation, secret).ok()
    }
}

/// Keeps the terminal from showing what is typed, until dropped.
struct Hidden(Option<rustix::termios::Termios>);

impl Hidden {
    fn new() -> Hidden {
        let stdin = io::stdin();
        let Ok(before) = rustix::termios::tcgetattr(&stdin) else { return Hidden(None) };
        let mut quiet = before.clone();
        quiet.local_modes.remove(rustix::termios::LocalModes::ECHO);
        let set = rustix::termios::tcsetattr(&stdin, rustix::termios::OptionalActions::Now, &quiet);
        Hidden(set.is_ok().then_some(before))
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            let now = rustix::termios::OptionalActions::Now;
            rustix::termios::tcsetattr(io::stdin(), now, before).unwrap_or_default();
        }
    }
}

fn no_approval(error: &io::Error) -> Diagnostic {
    let problem = Diagnostic::error(format!("error asking for approval: {error}"));
    match error.kind() {
        io::ErrorKind::Interrupted => problem,
        _ => problem.detail(
            "The input ended before there was an answer, and nothing was changed. Where nobody can answer, give -auto-approve, or apply a saved plan: that asks nothing.",
        ),
    }
}
