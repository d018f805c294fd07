//! The steps that run at this moment, as a run tells of them that is to stop.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::{Duration, Instant};

use entail::event::{Event, EventObject};
use entail::plan::Action;

use super::log::took;

/// The most steps that are named.
const MOST: usize = 20;

/// The steps that were begun and are not over.
#[derive(Debug, Default)]
pub struct Running(BTreeMap<String, (Action, Instant)>);

impl Running {
    /// Heeds what happens.
    pub fn take(&mut self, event: &Event) {
        match event {
            Event::ApplyStart(it, action) => {
                self.0.insert(name(it), (*action, Instant::now()));
            }
            Event::ApplyComplete(it, ..) | Event::ApplyErrored(it, ..) => {
                self.0.remove(&name(it));
            }
            _ => {}
        }
    }

    /// Returns what is waited for, the longest first, and what a second interrupt does.
    pub fn awaited(&self) -> String {
        if self.0.is_empty() {
            return "No step is waited for: what was finished is being saved.".into();
        }
        let mut steps: Vec<(&String, Action, Duration)> =
            self.0.iter().map(|it| (it.0, it.1.0, it.1.1.elapsed())).collect();
        steps.sort_by_key(|it| std::cmp::Reverse(it.2));
        let mut out = String::from("Waiting for what runs, and beginning nothing new:\n");
        for (name, action, elapsed) in steps.iter().take(MOST) {
            let elapsed = took(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX));
            let _ = writeln!(out, "  - {name}: {} for {elapsed}", doing(*action));
        }
        if steps.len() > MOST {
            let _ = writeln!(out, "  - and {} more", steps.len() - MOST);
        }
        out.push_str(
            "A second interrupt abandons these: what they make may then exist without being recorded.",
        );
        out
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
