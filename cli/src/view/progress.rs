//! Progress as lines for people: what starts, what still goes on, what is done.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::sync::Arc;
use std::time::{Duration, Instant};

use entail::address::Instance;
use entail::event::{Event, EventObject, Phase, Sink, Stage, Summary, import_label};
use entail::plan::Action;
use entail::value::Str;
use entail::value::text::shown;
use parking_lot::{Condvar, Mutex};

use super::style::{Paint, Style, duration, harmless};

#[cfg(test)]
mod tests;

/// How often a long operation tells that it still goes on.
const INTERVAL: Duration = Duration::from_secs(10);
/// The longest id that is repeated while an operation goes on, in characters.
const LONGEST_ID: usize = 80;

/// Returns the line, or lines, for an event; nothing for those that are not progress.
pub fn line(event: &Event, style: Style) -> Option<String> {
    let text = match event {
        Event::Message(text) => return Some(format!("{text}\n")),
        Event::RefreshStart(it) => format!("{}: Refreshing state...{}", name(it), id(it)),
        Event::ApplyStart(it, action) => {
            format!("{}: {}...{}", name(it), starting(*action)?, id(it))
        }
        Event::ApplyProgress(it, action, elapsed) => {
            format!(
                "{}: Still {}... [{}{} elapsed]",
                it.address,
                going(*action)?,
                long_id(it),
                duration(*elapsed)
            )
        }
        Event::ApplyComplete(it, action, elapsed) => {
            format!(
                "{}: {} complete after {}{}",
                // Also of a deposed object: only its start names the key.
                it.address,
                done(*action)?,
                duration(*elapsed),
                id(it)
            )
        }
        Event::ImportStart { address, name, applying: false } => {
            format!("{address}: Preparing import...{}", label(import_label(name).as_ref()))
        }
        Event::ImportStart { address, name, applying: true } => {
            format!("{address}: Importing...{}", label(import_label(name).as_ref()))
        }
        Event::ImportComplete { address, name } => {
            format!("{address}: Import complete{}", label(import_label(name).as_ref()))
        }
        Event::AdoptionStart { address, id } => {
            format!("{address}: Importing from ID {}...", shown(id))
        }
        Event::AdoptionPrepared { address, kind } => {
            format!("{address}: Import prepared!\n  Prepared {kind} for import")
        }
        Event::ProvisionStart(address, kind) => format!("{address}: Provisioning with '{kind}'..."),
        Event::ProvisionProgress(address, kind, text) => {
            return provisioned(address, kind, text, style);
        }
        Event::EphemeralStart(address, phase) => format!("{address}: {}...", opening(*phase)),
        Event::EphemeralComplete(address, phase, elapsed) => {
            format!("{address}: {} complete after {}", opened(*phase), duration(*elapsed))
        }
        Event::EphemeralDeferred(address, why) => format!("{address}: Deferred due to {why}"),
        _ => return None,
    };
    // There may be a million lines: what stays as it is is not copied.
    let text = changed(harmless(&text)).unwrap_or(text);
    let mut line = changed(style.bold(&text)).unwrap_or(text);
    line.push('\n');
    Some(line)
}

fn changed(text: Cow<'_, str>) -> Option<String> {
    match text {
        Cow::Borrowed(_) => None,
        Cow::Owned(text) => Some(text),
    }
}

fn name(subject: &EventObject) -> impl Display {
    fmt::from_fn(|f| match &subject.deposed {
        Some(key) => write!(f, "{} (deposed object {key})", subject.address),
        None => subject.address.fmt(f),
    })
}

/// Returns ` [id=x]`, or nothing for an object without a name.
pub fn id(subject: &EventObject) -> impl Display {
    label(subject.id.as_ref())
}

fn label<'i>(id: Option<&'i (&'static str, Str)>) -> impl Display + use<'i> {
    fmt::from_fn(move |f| match id {
        Some((key, value)) => write!(f, " [{key}={value}]"),
        None => Ok(()),
    })
}

fn long_id(subject: &EventObject) -> String {
    subject
        .id
        .as_ref()
        .map_or(String::new(), |(key, value)| format!("{key}={}, ", shortened(value)))
}

/// Cuts the middle out of a long text.
fn shortened(text: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    if characters.len() <= LONGEST_ID {
        return text.to_owned();
    }
    let half = LONGEST_ID / 2;
    let (left, right) = (&characters[..half - 1], &characters[characters.len() - half + 2..]);
    format!("{}...{}", left.iter().collect::<String>(), right.iter().collect::<String>())
}

fn starting(action: Action) -> Option<&'static str> {
    Some(match action {
        Action::Create => "Creating",
        Action::Update => "Modifying",
        Action::Delete => "Destroying",
        Action::Read => "Reading",
        _ => return None,
    })
}

fn going(action: Action) -> Option<&'static str> {
    Some(match action {
        Action::Create => "creating",
        Action::Update => "modifying",
        Action::Delete => "destroying",
        Action::Read => "reading",
        _ => return None,
    })
}

fn done(action: Action) -> Option<&'static str> {
    Some(match action {
        Action::Create => "Creation",
        Action::Update => "Modifications",
        Action::Delete => "Destruction",
        Action::Read => "Read",
        _ => return None,
    })
}

/// Returns what starts, as `Opening`.
pub fn opening(phase: Phase) -> &'static str {
    match phase {
        Phase::Open => "Opening",
        Phase::Renew => "Renewing",
        Phase::Close => "Closing",
    }
}

/// Returns what is done, as `Open`.
pub fn opened(phase: Phase) -> &'static str {
    match phase {
        Phase::Open => "Open",
        Phase::Renew => "Renew",
        Phase::Close => "Close",
    }
}

fn provisioned(address: &Instance, kind: &str, text: &str, style: Style) -> Option<String> {
    let head = format!("{address} ({kind}):");
    let lines: String =
        output_lines(text).map(|it| format!("{} {}\n", style.bold(&head), harmless(it))).collect();
    // A line without text is passed on without its head.
    Some(if lines.is_empty() { "\n".into() } else { lines })
}

/// Splits what a provisioner printed into lines; empty ones and blanks at their ends are dropped.
pub fn output_lines(text: &str) -> impl Iterator<Item = &str> {
    text.split(['\n', '\r']).map(str::trim_end).filter(|it| !it.is_empty())
}

/// Returns the sentence that counts what is planned or was done.
pub fn summary(summary: &Summary) -> String {
    let Summary { import, add, change, remove, forget, .. } = *summary;
    let optional = |number, text: String| if number > 0 { text } else { String::new() };
    match summary.stage {
        Stage::Plan => format!(
            "Plan: {}{add} to add, {change} to change, {remove} to destroy{}.",
            optional(import, format!("{import} to import, ")),
            optional(forget, format!(", {forget} to forget")),
        ),
        Stage::Apply => format!(
            "Apply complete! Resources: {}{add} added, {change} changed, {remove} destroyed{}.",
            optional(import, format!("{import} imported, ")),
            optional(forget, format!(", {forget} forgotten")),
        ),
        Stage::Destroy => format!("Destroy complete! Resources: {remove} destroyed."),
    }
}

/// Returns the closing lines of a run that changed the world.
pub fn closing(done: &Summary, style: Style) -> String {
    format!("\n{}\n", style.paint(&[Paint::Bold, Paint::Green], &summary(done)))
}

/// Counts what is done.
pub fn count(done: &mut Summary, event: &Event) {
    match event {
        Event::ApplyComplete(_, action, _) => done.count(*action),
        Event::ImportComplete { .. } => done.import += 1,
        Event::Forgotten(_) => done.forget += 1,
        _ => {}
    }
}

/// Passes events on, and tells every ten seconds of what still goes on.
pub struct Pulse {
    listener: Arc<dyn Sink>,
    shared: Arc<Shared>,
    thread: Option<std::thread::JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    running: Mutex<Running>,
    changed: Condvar,
}

#[derive(Default)]
struct Running {
    operations: BTreeMap<(Instance, Option<Str>), Operation>,
    is_over: bool,
}

struct Operation {
    subject: EventObject,
    action: Action,
    started: Instant,
    next: Instant,
}

impl Pulse {
    /// Starts the clock. It stops when the value is dropped.
    pub fn new(listener: Arc<dyn Sink>) -> Pulse {
        let shared = Arc::new(Shared::default());
        let (mine, told) = (shared.clone(), listener.clone());
        let thread =
            std::thread::Builder::new().name("pulse".into()).spawn(move || beat(&mine, &*told));
        // Without a thread there is no news of long operations, and nothing else is lost.
        Pulse { listener, shared, thread: thread.ok() }
    }
}

impl Sink for Pulse {
    fn event(&self, event: Event) {
        {
            let mut running = self.shared.running.lock();
            match &event {
                Event::ApplyStart(it, action) => {
                    let now = Instant::now();
                    let operation = Operation {
                        subject: it.clone(),
                        action: *action,
                        started: now,
                        next: now + INTERVAL,
                    };
                    running.operations.insert((it.address.clone(), it.deposed.clone()), operation);
                    self.shared.changed.notify_one();
                }
                Event::ApplyComplete(it, ..) | Event::ApplyErrored(it, ..) => {
                    running.operations.remove(&(it.address.clone(), it.deposed.clone()));
                }
                _ => {}
            }
        }
        self.listener.event(event);
    }
}

impl Drop for Pulse {
    fn drop(&mut self) {
        self.shared.running.lock().is_over = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // The thread does nothing that panics; were it to, nothing is lost but news.
            thread.join().unwrap_or_default();
        }
    }
}

fn beat(shared: &Shared, listener: &dyn Sink) {
    let mut running = shared.running.lock();
    while !running.is_over {
        let now = Instant::now();
        for operation in running.operations.values_mut().filter(|it| it.next <= now) {
            operation.next += INTERVAL;
            // Told under the lock, so that no news of an operation comes after its end.
            listener.event(Event::ApplyProgress(
                operation.subject.clone(),
                operation.action,
                now - operation.started,
            ));
        }
        let next = running.operations.values().map(|it| it.next).min();
        match next {
            Some(next) => {
                let _ = shared.changed.wait_until(&mut running, next);
            }
            None => shared.changed.wait(&mut running),
        }
    }
}
