//! What became of each step, as it is told at the end of a run and kept in its log: when, for how long, and after what.

use std::time::{Duration, Instant};

use entail_rules::{Node, Phase};

use super::steps::Steps;
use super::{Failures, shown_action};
use crate::execute::{Outcome, StepNote, StepResult};
use crate::plan::Action;

/// The course of a run so far. Steps stand in it in the order in which they ended.
pub(super) struct Course {
    began: Instant,
    notes: Vec<StepNote>,
    /// By vertex: when it was begun.
    started: Vec<Option<Instant>>,
    /// By vertex: the latest step that it waited for, itself included.
    latest: Vec<Option<usize>>,
    /// By vertex: the step that had the turn of a group which it waited for.
    turn_after: Vec<Option<u32>>,
    /// By vertex: whether it is told of already.
    is_told: Vec<bool>,
}

impl Course {
    /// Nothing was begun yet.
    pub(super) fn new(vertices: usize) -> Course {
        Course {
            began: Instant::now(),
            notes: Vec::new(),
            started: vec![None; vertices],
            latest: vec![None; vertices],
            turn_after: vec![None; vertices],
            is_told: vec![false; vertices],
        }
    }

    /// A step begins.
    pub(super) fn begin(&mut self, step: u32) {
        self.started[step as usize] = Some(Instant::now());
    }

    /// A step that was begun is still to do.
    pub(super) fn forget(&mut self, step: u32) {
        self.started[step as usize] = None;
    }

    /// A step has ended its turn in a group (`one_at_a_time`), for which another waited.
    pub(super) fn pass_turn(&mut self, from: u32, to: u32) {
        self.turn_after[to as usize] = Some(from);
    }

    /// A vertex is over. Only what was done or failed is told; what has changed nothing passes on what it waited for.
    pub(super) fn end(&mut self, steps: &Steps<'_>, step: u32, result: Option<&StepResult>) {
        let vertex = steps.vertices[step as usize];
        let before = self.before(steps, step);
        self.latest[step as usize] = before;
        let Some(result) = result else { return };
        if !result.failed && result.reported.is_none() && result.counts.is_none() {
            return;
        }
        let outcome = if result.failed { Outcome::Failed(None) } else { Outcome::Done };
        if let Some(note) = self.note(steps, step, vertex, outcome) {
            self.latest[step as usize] = Some(self.notes.len());
            self.notes.push(note);
        }
    }

    /// The latest step that a vertex waited for: as a dependency, or for its turn in a group.
    fn before(&self, steps: &Steps<'_>, step: u32) -> Option<usize> {
        let latest = |it: u32| self.latest[it as usize];
        let awaited = steps.schedule.last_awaited(step).and_then(latest);
        // Steps are numbered in the order in which they ended.
        awaited.max(self.turn_after[step as usize].and_then(latest))
    }

    fn note(
        &mut self,
        steps: &Steps<'_>,
        step: u32,
        (node, phase): (Node, Phase),
        outcome: Outcome,
    ) -> Option<StepNote> {
        let change = steps.changes.get(&node)?;
        if std::mem::replace(&mut self.is_told[step as usize], true) {
            return None;
        }
        let now = Instant::now();
        let started = self.started[step as usize];
        Some(StepNote {
            address: change.address.clone(),
            deposed: change.deposed.clone(),
            action: shown_action(change, phase),
            started: started.unwrap_or(now).duration_since(self.began),
            elapsed: started.map_or(Duration::ZERO, |it| now.duration_since(it)),
            outcome,
            after: self.before(steps, step),
        })
    }

    /// Returns all that was to be done, with what was not even tried at the end.
    ///
    /// - `abandoned`: steps that still ran.
    pub(super) fn finish(
        mut self,
        steps: &Steps<'_>,
        failures: &Failures<'_>,
        abandoned: impl Iterator<Item = u32>,
        name: impl Fn(Node) -> String,
    ) -> Vec<StepNote> {
        for step in abandoned {
            let vertex = steps.vertices[step as usize];
            let note = self.note(steps, step, vertex, Outcome::Abandoned);
            self.notes.extend(note);
        }
        for (step, &vertex) in steps.vertices.iter().enumerate() {
            let Some(change) = steps.changes.get(&vertex.0) else { continue };
            let is_step = steps.steps.contains(&vertex) && change.action != Action::NoOp;
            let held_by = failures.first_cause(vertex);
            // What is over and has told nothing had nothing to do.
            let is_over = steps.schedule.is_settled(step as u32) && held_by.is_none();
            if !is_step || is_over {
                continue;
            }
            let outcome = Outcome::NotAttempted(held_by.map(|it| name(it.0)));
            let note = self.note(steps, step as u32, vertex, outcome);
            self.notes.extend(note);
        }
        self.notes
    }
}
