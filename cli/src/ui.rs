//! The only door to the terminal: text out, answers in, colours, width.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, BufWriter, IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;

use entail::backend::files;
use entail::diagnostic::{Diagnostic, Diagnostics, Sources};
use entail::event::{Event, Stage, Summary};
use entail::value::text::shown;
use entail::workflow::Host;
use entail::workflow::init::Step;
use entail::world::terminal::Form;
use entail::world::{PROGRAM, World};
use parking_lot::Mutex;

use crate::arguments::groups::ViewArgs;
use crate::interrupt::Interrupts;
use crate::standard::{self, Door};
use crate::view::diagnostics::{Grouping, render, sort};
use crate::view::plan::Look;
use crate::view::plan::reading::Reading;
use crate::view::running::Running;
use crate::view::style::Style;
use crate::view::{init, json};

use self::status::Status;

mod asking;
pub mod editing;
mod listing;
mod moving;
mod pager;
mod status;
mod telling;
mod writing;
#[cfg(test)]
mod tests;

/// How a command speaks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manner {
    /// `-json`: every line of the standard output is a message.
    pub json: bool,
    /// `-show-sensitive`
    pub show_sensitive: bool,
    /// Ask nothing (`-input=false`, `TF_INPUT`).
    pub silent: bool,
    /// The standard output is for one document: whatever people are told besides goes to the standard error, or is left out.
    pub document: bool,
}

/// The terminal.
///
/// It is also who listens to operations: events become lines, messages, or both.
pub struct Ui {
    /// Every source file that was read, for problems to show.
    pub sources: Sources,
    /// Whether a program runs the command.
    pub in_automation: bool,
    /// What the user wants of the running command.
    pub interrupts: Interrupts,
    manner: Manner,
    concise: bool,
    grouping: Grouping,
    out_style: Style,
    out_is_terminal: bool,
    /// How many lines the terminal has.
    rows: usize,
    reading: Reading,
    err_style: Style,
    /// No flag asks for plain text.
    has_frames: bool,
    world: World,
    streams: Mutex<Streams>,
    input: Input,
    done: Mutex<Summary>,
    running: Arc<Mutex<Running>>,
    status: Mutex<Option<Status>>,
    /// Notes that were written: each is written once.
    noted: Mutex<BTreeSet<String>>,
}

/// Apart from the other streams, so that something can be said while an answer is waited for.
type Input = Arc<Mutex<Box<dyn BufRead + Send>>>;

struct Streams {
    out: Door,
    err: Door,
    input_is_terminal: bool,
    /// What is said from now on goes through a pager in the end.
    held: Option<Vec<u8>>,
    /// `-json-into`
    into: Option<BufWriter<File>>,
    /// Why the output is not all there: the first failure of a write.
    failed: Option<io::Error>,
}

impl Streams {
    /// Keeps the first failure. What the command does goes on: it may be in the middle of changing the world.
    fn note(&mut self, written: io::Result<()>) {
        if let Err(error) = written {
            self.failed.get_or_insert(error);
        }
    }
}

impl Ui {
    /// Returns the terminal of this process.
    pub fn of_this_process(view: &ViewArgs, world: &World) -> Ui {
        let wants_colour = !view.no_color && world.variable("NO_COLOR").is_none();
        let style = |is_terminal: bool, width: Option<usize>| Style {
            // OpenTofu colours what goes to files and other programs too, and some of them expect it.
            colour: wants_colour && (is_terminal || PROGRAM.is_in_place_of_another()),
            width: width.filter(|it| is_terminal && *it > 0).unwrap_or(Style::DEFAULT_WIDTH),
            ..Style::default()
        };
        let columns =
            |it: io::Result<rustix::termios::Winsize>| it.ok().map(|it| usize::from(it.ws_col));
        let out_style = style(io::stdout().is_terminal(), columns(window(&io::stdout())));
        let err_style = style(io::stderr().is_terminal(), columns(window(&io::stderr())));
        let streams = Streams {
            out: standard::output(),
            err: standard::errors(),
            input_is_terminal: io::stdin().is_terminal(),
            held: None,
            into: None,
            failed: None,
        };
        let input = Box::new(io::BufReader::new(standard::input()));
        Ui {
            out_style,
            out_is_terminal: io::stdout().is_terminal(),
            rows: window(&io::stdout()).map_or(0, |it| usize::from(it.ws_row)),
            err_style,
            has_frames: !view.no_color,
            ..Ui::new(view, world, streams, input)
        }
    }

    fn new(view: &ViewArgs, world: &World, streams: Streams, input: Box<dyn BufRead + Send>) -> Ui {
        Ui {
            sources: Sources::default(),
            in_automation: world.variable("TF_IN_AUTOMATION").is_some(),
            interrupts: Interrupts::of(&world.stop),
            manner: Manner { silent: forbids_questions(world), ..Manner::default() },
            concise: view.concise,
            grouping: view.grouping(),
            out_style: Style::default(),
            out_is_terminal: false,
            rows: 0,
            reading: Reading::default(),
            err_style: Style::default(),
            has_frames: false,
            world: world.clone(),
            streams: Mutex::new(streams),
            input: Arc::new(Mutex::new(input)),
            done: Mutex::default(),
            running: Arc::default(),
            status: Mutex::default(),
            noted: Mutex::default(),
        }
    }

    /// Sets how the command speaks; with `-json`, the stream begins. `into` is the file of `-json-into`.
    pub fn begin(&mut self, manner: Manner, into: Option<&Path>) -> Result<(), Diagnostic> {
        if manner.json && into.is_some() {
            self.begin(manner, None)?;
            return Err(two_streams());
        }
        self.manner =
            Manner { silent: manner.silent || manner.json || self.manner.silent, ..manner };
        let file = match into {
            Some(path) => {
                let file = files::open_private(path).map_err(|it| no_stream(path, &it))?;
                Some(BufWriter::new(file))
            }
            None => None,
        };
        self.streams().into = file;
        let version = json::version(&self.timestamp());
        self.messages(&version);
        Ok(())
    }

    /// Leaves the standard output to a document: people are told nothing but problems, on the standard error, and asked nothing.
    pub fn gives_way(&mut self) {
        (self.manner.document, self.manner.silent) = (true, true);
    }

    fn streams(&self) -> parking_lot::MutexGuard<'_, Streams> {
        self.streams.lock()
    }

    /// Returns whether the standard output carries messages for machines.
    pub fn is_json(&self) -> bool {
        self.manner.json
    }

    /// Returns how plans and states are shown.
    pub fn look(&self) -> Look {
        Look {
            style: self.out_style,
            show_sensitive: self.manner.show_sensitive,
            in_automation: self.in_automation,
        }
    }

    /// Sets how plans are read; `compat` asks for the text of another program also at a terminal.
    pub fn reads(&mut self, reading: Reading, compat: bool) {
        self.reading = Reading { for_people: self.out_is_terminal && !compat, ..reading };
    }

    /// Returns how plans are read.
    pub fn reading(&self) -> &Reading {
        &self.reading
    }

    /// Returns colours and width of the standard output.
    pub fn style(&self) -> Style {
        self.out_style
    }

    /// Returns colours and width of the standard error.
    pub fn error_style(&self) -> Style {
        self.err_style
    }

    /// Ends the output of a command. Returns the exit code: what could not be written is no success.
    ///
    /// Whoever reads may have gone on purpose, like `head`; that needs no words.
    pub fn close(&self, code: u8) -> u8 {
        self.page();
        let Some(error) = self.streams().failed.take() else { return code };
        if error.kind() != io::ErrorKind::BrokenPipe {
            self.remarks(not_written(&error).into());
        }
        1
    }

    /// Writes for people alone: nothing under `-json`, and nothing beside a document.
    pub fn say(&self, text: &str) {
        if self.is_for_people() {
            self.out(text);
        }
    }

    /// Lets `show` write for people alone.
    pub fn show(&self, show: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        if self.is_for_people() {
            self.write(show);
        }
    }

    /// Tells of a step of `init`: a line, or a message.
    pub fn step(&self, step: &Step) {
        if let Some(message) = init::message(step) {
            self.lines(|time| json::plain(init::level(step), &message, time));
        }
        self.say(&init::text(step, self.out_style, self.in_automation));
    }

    /// Writes to the standard error for people, and a message for machines.
    pub fn log(&self, text: &str) {
        self.messages(&json::log(text, &self.timestamp()));
        if !self.manner.json {
            self.err(&format!("{text}\n"));
        }
    }

    /// Writes messages for machines; `write` is given the time.
    pub fn lines(&self, write: impl FnOnce(&str) -> String) {
        if self.has_messages() {
            self.messages(&write(&self.timestamp()));
        }
    }

    /// Prints problems of a test: for people sorted, for machines in the order in which they were found.
    pub fn problems_of_test(&self, problems: &Diagnostics, owner: json::TestOwner<'_>) {
        for problem in problems.iter() {
            self.lines(|time| json::problem_of_test(problem, &self.sources, owner, time));
        }
        if !self.manner.json {
            let sorted = sort(problems.0.clone(), &self.sources);
            let printed = render(sorted, &self.sources, self.err_style, self.grouping);
            self.out(&printed.out);
            self.err(&printed.err);
        }
    }

    /// Writes a message for machines alone.
    pub fn message(&self, text: &str) {
        let event = Event::Message(text.to_owned());
        self.messages(&json::messages(&event, &self.sources, &self.timestamp()));
    }

    /// Prints problems: warnings to the standard output, errors to the standard error. Returns the exit code.
    pub fn diagnostics(&self, problems: Diagnostics) -> u8 {
        let code = u8::from(problems.has_errors());
        let sorted = sort(problems.0, &self.sources);
        for problem in &sorted {
            self.messages(&json::messages(
                &Event::Diagnostic(Box::new(problem.clone())),
                &self.sources,
                &self.timestamp(),
            ));
        }
        if !self.manner.json {
            self.print(&render(sorted, &self.sources, self.err_style, self.grouping));
        }
        code
    }

    /// Prints problems of what surrounds the run, whatever its output is made of: all to the standard error.
    pub fn remarks(&self, problems: Diagnostics) {
        let sorted = sort(problems.0, &self.sources);
        let printed = render(sorted, &self.sources, self.err_style, self.grouping);
        self.err(&printed.out);
        self.err(&printed.err);
    }

    /// Refers to the help of a command whose flags make no sense.
    pub fn refer_to_help(&self, command: &str) {
        self.err(&format!(
            "\nFor more help on using this command, run:\n  {PROGRAM} {command} -help\n"
        ));
    }

    /// Returns what has been done so far in this run.
    pub fn done(&self, stage: Stage) -> Summary {
        Summary { stage, ..*self.done.lock() }
    }

    /// Returns what workflows are run with: this terminal is told and asked.
    pub fn host<'a>(&'a self, world: &'a Arc<World>) -> Host<'a> {
        let stop = &self.interrupts.stop;
        Host { world, sources: &self.sources, tell: self, ask: self, stop }
    }

    /// Returns what a run that is to stop waits for.
    pub fn awaited(&self) -> String {
        self.running.lock().awaited()
    }

    fn timestamp(&self) -> String {
        self.world.now().format("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
    }

    /// Writes messages to where messages go.
    fn messages(&self, text: &str) {
        let mut streams = self.streams();
        if self.manner.json {
            let written = streams.out.put(Form::Json, text);
            streams.note(written);
        }
        if let Some(into) = &mut streams.into {
            let clean = Form::Json.clean(text);
            let written = into.write_all(clean.as_bytes()).and_then(|()| into.flush());
            streams.note(written);
        }
    }

    /// Returns whether messages for machines are written, wherever to.
    pub fn has_messages(&self) -> bool {
        self.manner.json || self.streams().into.is_some()
    }
}

fn window(stream: &impl std::os::fd::AsFd) -> io::Result<rustix::termios::Winsize> {
    Ok(rustix::termios::tcgetwinsize(stream)?)
}

fn forbids_questions(world: &World) -> bool {
    world
        .variable("TF_INPUT")
        .is_some_and(|it| matches!(it.to_lowercase().as_str(), "0" | "f" | "false"))
}

/// JSON cannot be written to two places.
pub fn two_streams() -> Diagnostic {
    Diagnostic::error("Invalid output format")
        .detail("The -json and -json-into arguments are mutually exclusive")
}

/// What the command has to say is not all there.
fn not_written(error: &io::Error) -> Diagnostic {
    Diagnostic::error("Failed to write the output").detail(format!(
        "Not all of the output could be written: {error}. What the command does besides is done."
    ))
}

fn no_stream(path: &Path, error: &io::Error) -> Diagnostic {
    let path = shown(&path.display().to_string());
    Diagnostic::error("Invalid argument").detail(format!(
        "Unable to open the file {path} specified by -json-into for writing: {error}"
    ))
}
