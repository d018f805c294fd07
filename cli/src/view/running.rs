//! The steps that run at this moment, what is done and what is left: for a block at the end of a terminal, and for a run that is to stop.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::time::{Duration, Instant};

use entail::backend::moving::Moves;
use entail::event::{Event, EventObject};
use entail::plan::Action;
use entail::workflow::Ahead;
use unicode_width::UnicodeWidthChar;

use super::log::took;
use super::moving;
use super::style::{duration, harmless};

/// The most steps that are named where a run is to stop.
const MOST: usize = 20;

/// The steps of a run.
#[derive(Debug, Default)]
pub struct Running {
    /// Those that were begun and are not over.
    steps: BTreeMap<String, Step>,
    /// How long each step that is not begun took the last time.
    left: HashMap<(String, Action), Option<Duration>>,
    /// The state that is on its way.
    pub moves: Option<std::sync::Arc<Moves>>,
    /// Whether this is being drawn.
    pub is_drawn: bool,
    parallelism: usize,
    done: usize,
    failed: usize,
}

#[derive(Debug)]
struct Step {
    action: Action,
    since: Instant,
    last: Option<Duration>,
    /// What traces are told of it.
    span: tracing::Span,
}

impl Running {
    /// Takes what a run has before it.
    pub fn expect(&mut self, ahead: Ahead) {
        self.parallelism = ahead.parallelism.max(1);
        self.left = ahead.steps.into_iter().map(|it| ((it.address, it.action), it.last)).collect();
    }

    /// Heeds what happens.
    pub fn take(&mut self, event: &Event) {
        match event {
            Event::ApplyStart(it, action) => {
                let last = self.left.remove(&(it.address.to_string(), *action)).flatten();
                let (name, doing) = (name(it), doing(*action));
                let span = tracing::info_span!("step", address = name, doing);
                span.in_scope(|| tracing::info!("begins"));
                let step = Step { action: *action, since: Instant::now(), last, span };
                self.steps.insert(name, step);
            }
            Event::ApplyComplete(it, ..) => {
                self.done += 1;
                self.end(&name(it), "is done");
            }
            Event::ApplyErrored(it, ..) => {
                self.failed += 1;
                self.end(&name(it), "has failed");
            }
            _ => {}
        }
    }

    fn end(&mut self, name: &str, how: &'static str) {
        if let Some(step) = self.steps.remove(name) {
            let elapsed = step.since.elapsed();
            step.span.in_scope(|| tracing::info!(?elapsed, "{how}"));
        }
    }

    /// What runs, the longest first.
    fn longest_first(&self) -> Vec<(&String, &Step, Duration)> {
        let mut steps: Vec<_> =
            self.steps.iter().map(|it| (it.0, it.1, it.1.since.elapsed())).collect();
        steps.sort_by_key(|it| std::cmp::Reverse(it.2));
        steps
    }

    /// Returns what is waited for, the longest first, and what a second interrupt does.
    pub fn awaited(&self) -> String {
        if self.steps.is_empty() {
            return "No step is waited for: what was finished is being saved.".into();
        }
        let steps = self.longest_first();
        let mut out = String::from(
            "Beginning nothing new, and waiting for what runs, which was asked to stop:\n",
        );
        for (name, step, elapsed) in steps.iter().take(MOST) {
            let elapsed = took(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX));
            let _ = writeln!(out, "  - {name}: {} for {elapsed}", doing(step.action));
        }
        if steps.len() > MOST {
            let _ = writeln!(out, "  - and {} more", steps.len() - MOST);
        }
        out.push_str(
            "A second interrupt abandons these: what they make may then exist without being recorded.",
        );
        out
    }

    /// Returns the block: a head with numbers, and a line for each step that runs, the longest first.
    ///
    /// - `lines`: the most lines that it may have, the head among them.
    /// - `width`: the most columns of a line.
    pub fn block(&self, lines: usize, width: usize) -> String {
        let steps = self.longest_first();
        let moving = self.moves.as_ref().and_then(|it| moving::line(&*it.current()?));
        let lines = lines - usize::from(moving.is_some());
        let shown = match steps.len() < lines {
            true => steps.len(),
            // The last line tells how many are not shown.
            false => lines.saturating_sub(2),
        };
        let mut all = vec![self.head()];
        for (name, step, elapsed) in &steps[..shown] {
            let last = step.last.map(|it| format!(" ({} the last time)", duration(it)));
            let last = last.unwrap_or_default();
            all.push(format!("  {name}: {} for {}{last}", doing(step.action), duration(*elapsed)));
        }
        if steps.len() > shown {
            all.push(format!("  and {} more", steps.len() - shown));
        }
        all.extend(moving.map(|it| format!("  {it}")));
        let all: Vec<String> = all.iter().map(|it| shortened(&harmless(it), width)).collect();
        all.join("\n")
    }

    fn head(&self) -> String {
        let mut head = format!("{} done, {} running", self.done, self.steps.len());
        let _ = write!(head, ", {} to go", self.left.len());
        if self.failed > 0 {
            let _ = write!(head, ", {} failed", self.failed);
        }
        if let Some(rest) = self.estimate() {
            let _ = write!(head, "; about {} left", duration(rest));
        }
        head
    }

    /// How long it goes on if each step takes what it took the last time; nothing where that is known of too few.
    fn estimate(&self) -> Option<Duration> {
        let running = self.steps.values().map(|it| {
            let elapsed = it.since.elapsed();
            it.last.map(|it| it.saturating_sub(elapsed))
        });
        let rests: Vec<Option<Duration>> = self.left.values().copied().chain(running).collect();
        let known: Vec<Duration> = rests.iter().flatten().copied().collect();
        let longest = known.iter().max().copied()?;
        if known.len() * 2 < rests.len() {
            return None;
        }
        // What is not known takes what the others take.
        let all = known.iter().sum::<Duration>().mul_f64(rests.len() as f64 / known.len() as f64);
        let rest = longest.max(all.div_f64(self.parallelism.max(1) as f64));
        (rest >= Duration::from_secs(1)).then_some(rest)
    }
}

fn name(subject: &EventObject) -> String {
    match &subject.deposed {
        Some(key) => format!("{} (deposed object {key})", subject.address),
        None => subject.address.to_string(),
    }
}

fn doing(action: Action) -> &'static str {
    match action {
        Action::Update => "modifying",
        Action::Delete => "destroying",
        Action::Read => "reading",
        _ => "creating",
    }
}

/// Cuts the end off a line that is wider than so many columns.
fn shortened(line: &str, width: usize) -> String {
    let (mut out, mut columns) = (String::new(), 0);
    for character in line.chars() {
        columns += character.width().unwrap_or(0);
        if columns >= width {
            out.push('…');
            break;
        }
        out.push(character);
    }
    out
}

#[cfg(test)]
mod tests {
    use entail::workflow::Coming;

    use super::*;

    fn object(address: &str) -> EventObject {
        let address = address.parse().expect("an address");
        EventObject { address, deposed: None, id: None }
    }

    fn coming(address: &str, seconds: Option<u64>) -> Coming {
        let last = seconds.map(Duration::from_secs);
        Coming { address: address.into(), action: Action::Create, last }
    }

    fn run() -> Running {
        let mut running = Running::default();
        let steps = vec![
            coming("a.a", Some(90)),
            coming("a.b", Some(30)),
            coming("a.c", None),
            coming("a.d", Some(60)),
        ];
        running.expect(Ahead { steps, parallelism: 2 });
        running
    }

    #[test]
    fn a_block_tells_what_runs_what_is_left_and_how_long() {
        let mut running = run();
        assert_eq!(running.block(5, 80), "0 done, 0 running, 4 to go; about 2m0s left");
        running.take(&Event::ApplyStart(object("a.a"), Action::Create));
        let block = running.block(5, 80);
        assert!(block.starts_with("0 done, 1 running, 3 to go; about 2m0s left\n"), "{block}");
        assert!(block.ends_with("\n  a.a: creating for 0s (1m30s the last time)"), "{block}");
        running.take(&Event::ApplyErrored(object("a.a"), Action::Create, Duration::ZERO));
        running.take(&Event::ApplyStart(object("a.c"), Action::Create));
        running.take(&Event::ApplyComplete(object("a.c"), Action::Create, Duration::ZERO));
        assert_eq!(running.block(5, 80), "1 done, 0 running, 2 to go, 1 failed; about 1m0s left");
    }

    #[test]
    fn a_block_fits_its_place() {
        let mut running = run();
        for name in ["a.a", "a.b", "a.c", "a.d"] {
            running.take(&Event::ApplyStart(object(name), Action::Create));
        }
        let block = running.block(4, 24);
        assert_eq!(block.lines().count(), 4, "{block}");
        assert!(block.lines().all(|it| it.chars().count() <= 24), "{block}");
        assert!(block.ends_with("\n  and 2 more"), "{block}");
    }

    #[test]
    fn nothing_is_guessed_from_too_little() {
        let mut running = Running::default();
        let steps = vec![coming("a.a", Some(90)), coming("a.b", None), coming("a.c", None)];
        running.expect(Ahead { steps, parallelism: 10 });
        assert_eq!(running.block(5, 80), "0 done, 0 running, 3 to go");
    }
}
