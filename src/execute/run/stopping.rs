//! What a run does when it is asked to stop, and what it notes of creations to which no answer came.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::Run;
use crate::execute::{Creation, Report, begin};
use crate::state::{Unconfirmed, unconfirmed};

impl<'c> Run<'c, '_> {
    /// Heeds the request to stop. The first time, every provider is asked to end what it does; the call is returned, on its way. The
    /// second time, nothing is waited for any more.
    pub(super) fn hear(&mut self) -> Option<BoxFuture<'c, ()>> {
        let is_first = self.heard == 0;
        self.heard = self.ctx.stop.asked();
        self.done.stopped = true;
        self.abandons = self.heard > 1;
        if !is_first {
            return None;
        }
        // What is being created is noted in the state at once: this process may be killed before the answer comes.
        self.pace.hear(!self.being_created().is_empty() || self.ctx.notes.has_fresh());
        if crate::world::left_out() == Some("signal:stop") {
            return None;
        }
        let mut asking = self.ctx.observer.pool.stop().boxed();
        (&mut asking).now_or_never().is_none().then_some(asking)
    }

    /// Takes back a step that was stopped before a provider was asked.
    pub(super) fn put_back(&mut self, step: u32, report: Option<Report>) {
        let (node, _) = self.steps.vertices[step as usize];
        self.done.stopped = true;
        self.course.forget(step);
        for waiting in self.turns.end(node) {
            self.steps.schedule.again(waiting);
        }
        if self.begun.remove(&step)
            && let Some(change) = self.steps.changes.get(&node)
        {
            self.ctx.notes.end(&change.address);
        }
        self.tell_end(report);
        self.unreported += 1;
    }

    /// Notes what a step says of the object that it was to create: in the state and, where no answer came, in the journal.
    pub(super) fn note_creation(&mut self, step: u32, created: Creation) {
        if created == Creation::None {
            return;
        }
        let (node, phase) = self.steps.vertices[step as usize];
        let Some(change) = self.steps.changes.get(&node).copied() else { return };
        match created {
            Creation::None => {}
            Creation::Recorded => self.done.state.confirm(&change.address),
            Creation::Unanswered => {
                let Some(begun) = begin::begun(change, phase) else { return };
                let Some(note) = begun.unconfirmed() else { return };
                self.ctx.notes.unanswered(&begun);
                self.done.state.note_unconfirmed(note.clone());
                self.unanswered.push(note);
                self.pace.hear(true);
            }
        }
    }

    /// Drops the notes of objects that the plan has imported.
    pub(super) fn confirm_imported(&mut self) {
        for change in self.ctx.plan.changes.iter().filter(|it| it.details.importing.is_some()) {
            self.done.state.confirm(&change.address);
        }
    }

    /// Returns the objects that providers were asked to create, and have not answered for yet. A provider of this process makes
    /// nothing that is not recorded.
    pub(super) fn being_created(&self) -> Vec<Unconfirmed> {
        let steps = self.running.keys().filter(|it| self.begun.contains(it));
        let notes = steps.filter_map(|step| {
            let (node, phase) = self.steps.vertices[*step as usize];
            let change = self.steps.changes.get(&node)?;
            if self.ctx.notes.is_made(&change.address) {
                return None;
            }
            let is_process = self.ctx.observer.pool.is_process(&change.served_by.config.provider);
            begin::begun(change, phase).filter(|_| is_process)?.unconfirmed()
        });
        notes.collect()
    }

    /// Notes the creations that are abandoned, and tells of all that may exist without a record.
    pub(super) fn note_abandoned(&mut self) {
        let abandoned = self.being_created();
        for note in &abandoned {
            self.done.state.note_unconfirmed(note.clone());
        }
        self.unanswered.extend(abandoned);
        if !self.unanswered.is_empty() {
            const WHY: &str = "Providers were asked for the following, and no answer came:";
            let warning = unconfirmed::may_exist(&self.unanswered, &self.done.state, WHY);
            self.done.problems.push(warning);
        }
    }
}
