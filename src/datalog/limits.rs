//! How much an evaluation may take: rows, steps and time, so that rules of anybody's end.

use std::time::{Duration, Instant};

/// What an evaluation may take at most.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Rows that are concluded.
    pub rows: u64,
    /// Rows and values that are looked at.
    pub steps: u64,
    /// Time.
    pub time: Duration,
}

impl Limits {
    /// As much as it takes.
    pub const NONE: Limits = Limits { rows: u64::MAX, steps: u64::MAX, time: Duration::MAX };
}

impl Default for Limits {
    /// Ample for what people write, over a hundred thousand resources.
    fn default() -> Limits {
        Limits { rows: 20_000_000, steps: 2_000_000_000, time: Duration::from_secs(60) }
    }
}

/// An evaluation that took too much.
#[derive(Clone, Debug, PartialEq)]
pub struct Exceeded {
    /// The name of the limit: `rows`, `steps` or `time`.
    pub limit: &'static str,
    /// The rule that was under way.
    pub rule: usize,
    /// The part of its body that was matched last.
    pub premise: usize,
}

/// What an evaluation has taken so far.
pub(super) struct Spent {
    limits: Limits,
    rows: u64,
    steps: u64,
    began: Instant,
    /// Where it ended, if it took too much.
    pub exceeded: Option<Exceeded>,
}

/// How many steps go by between two looks at the clock.
const BETWEEN_LOOKS: u64 = 4096;

impl Spent {
    pub(super) fn new(limits: &Limits) -> Spent {
        let began = Instant::now();
        Spent { limits: limits.clone(), rows: 0, steps: 0, began, exceeded: None }
    }

    /// Counts a step, and says whether there may be another.
    pub(super) fn step(&mut self, rule: usize, premise: usize) -> bool {
        self.steps += 1;
        if self.steps > self.limits.steps {
            return self.end("steps", rule, premise);
        }
        let is_over = || self.began.elapsed() > self.limits.time;
        if self.steps.is_multiple_of(BETWEEN_LOOKS) && is_over() {
            return self.end("time", rule, premise);
        }
        self.exceeded.is_none()
    }

    /// Counts a row, and says whether there may be another.
    pub(super) fn row(&mut self, rule: usize, premise: usize) -> bool {
        self.rows += 1;
        self.rows <= self.limits.rows || self.end("rows", rule, premise)
    }

    /// Counts steps that were taken elsewhere, and says whether there may be more.
    pub(super) fn steps(&mut self, count: u64, rule: usize, premise: usize) -> bool {
        self.steps = self.steps.saturating_add(count);
        self.steps <= self.limits.steps || self.end("steps", rule, premise)
    }

    /// Returns how much time is left.
    pub(super) fn time_left(&self) -> Duration {
        self.limits.time.saturating_sub(self.began.elapsed())
    }

    /// Notes that a limit has been reached.
    pub(super) fn end(&mut self, limit: &'static str, rule: usize, premise: usize) -> bool {
        self.exceeded.get_or_insert(Exceeded { limit, rule, premise });
        false
    }
}
