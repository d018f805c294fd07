//! What a run does about its state while steps go on: it stores it now and then, and begins nothing more once it is somebody else's.

use std::time::{Duration, Instant};

use super::Run;
use crate::event::{Event, Sink};
use crate::execute::Place;

/// When the state was stored, and whether there is anything new since.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// When it was stored last; before that, when there was anything to store.
    since: Option<Instant>,
    /// How long it took to store it.
    cost: Duration,
    has_news: bool,
    /// Whether it was told that the state is somebody else's.
    is_told: bool,
}

impl Pace {
    /// Hears that a step is finished, and whether that has changed the state.
    pub(super) fn hear(&mut self, has_news: bool) {
        if has_news {
            self.has_news = true;
            self.since.get_or_insert_with(Instant::now);
        }
    }

    /// Returns whether the state is to be stored now.
    ///
    /// - `interval`: how often that is done; never, if not said.
    /// - `hurries`: the run was asked to stop, and may be killed next.
    fn is_due(&self, interval: Option<Duration>, hurries: bool) -> bool {
        let passed = |wait: Duration| self.since.is_some_and(|it| it.elapsed() >= wait);
        self.has_news && (interval.is_some_and(passed) || hurries && self.rest().is_zero())
    }

    /// Returns how long a run that hurries waits before it stores the state again: as long as that took, so that it has time for other
    /// things.
    pub(super) fn rest(&self) -> Duration {
        let passed = self.since.map_or(Duration::MAX, |it| it.elapsed());
        if self.has_news { self.cost.saturating_sub(passed) } else { Duration::MAX }
    }

    /// The state was stored, which began at `began`.
    fn stored(&mut self, began: Instant) {
        self.cost = began.elapsed();
        self.since = Some(Instant::now());
        self.has_news = false;
    }
}

impl Run<'_, '_> {
    /// Returns whether the state is somebody else's by now, so that nothing more may be begun.
    pub(super) fn is_taken_away(&self) -> bool {
        self.ctx.place.is_some_and(|it| it.backend.is_taken_away())
    }

    /// Stores the state where that is due. Where it cannot be stored, nothing is lost: the journal has everything, and it is tried again,
    /// at the end of the run at last, which tells what is wrong.
    pub(super) fn store_meanwhile(&mut self) {
        let Some(place) = self.ctx.place else { return };
        let is_due = self.pace.is_due(place.interval, self.heard > 0);
        if !is_due || self.is_taken_away() || self.done.is_journal_torn {
            return;
        }
        let began = Instant::now();
        self.ctx.notes.take_into(&mut self.done.state);
        // What is being created may exist before it is recorded.
        let known = self.done.state.unconfirmed.clone();
        for note in self.being_created() {
            self.done.state.note_unconfirmed(note);
        }
        self.store_now(place);
        self.done.state.unconfirmed = known;
        self.pace.stored(began);
    }

    fn store_now(&mut self, place: &Place<'_>) {
        if self.done.state.lineage.is_empty() {
            self.done.state.lineage = place.lineage.to_owned();
        }
        let notes = &self.ctx.notes;
        let announce = |serial| {
            notes.store(serial);
            // What has failed fails again when the next step is noted, and is told then.
            let _ = notes.hand_over();
        };
        match place.backend.write_meanwhile(&self.done.state, announce) {
            Ok(stored) => {
                self.done.written =
                    Some(stored.serial).filter(|_| stored.is_written).or(self.done.written)
            }
            Err(refused) => {
                let why =
                    refused.problems.iter().map(|it| it.to_string()).collect::<Vec<_>>().join(" ");
                tracing::warn!(why, "the state was not stored meanwhile");
            }
        }
    }

    /// Tells once that the state is somebody else's, where steps run that are still waited for.
    pub(super) fn tell_taken_away(&mut self) {
        if !self.pace.is_told && self.is_taken_away() {
            self.pace.is_told = true;
            let text = "The state is not this run's any more: beginning nothing new, and waiting for what runs.";
            self.ctx.sink.event(Event::Message(text.into()));
        }
    }
}
