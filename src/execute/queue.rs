//! Events on their way to the listener, held back until the steps they tell of are safe.

use parking_lot::{Mutex, MutexGuard};

use crate::event::{Event, Sink};

/// Holds events back until the steps they tell of are safe: in order, so that nothing starts before what it waited for
/// is reported as finished.
pub struct Queue<'a> {
    listener: &'a dyn Sink,
    held: Mutex<Vec<Event>>,
    filled: tokio::sync::Notify,
}

impl<'a> Queue<'a> {
    /// Returns an empty queue in front of a listener.
    pub fn new(listener: &'a dyn Sink) -> Queue<'a> {
        Queue { listener, held: Mutex::default(), filled: tokio::sync::Notify::new() }
    }

    /// Passes on what is held: it is safe.
    pub fn release(&self) {
        let held = std::mem::take(&mut *self.held());
        held.into_iter().for_each(|it| self.listener.event(it));
    }

    /// Passes on what is held but for what claims to be complete, because that is recorded nowhere. Returns the
    /// addresses of the latter.
    pub fn release_unsaved(&self) -> Vec<String> {
        let mut unsaved = Vec::new();
        for event in std::mem::take(&mut *self.held()) {
            match event {
                Event::ApplyComplete(subject, ..) => unsaved.push(subject.address.to_string()),
                event => self.listener.event(event),
            }
        }
        unsaved
    }

    /// Returns whether nothing is held.
    pub fn is_empty(&self) -> bool {
        self.held().is_empty()
    }

    /// Waits until something was put in since the last time.
    pub(super) async fn filled(&self) {
        self.filled.notified().await;
    }

    fn held(&self) -> MutexGuard<'_, Vec<Event>> {
        self.held.lock()
    }
}

impl Sink for Queue<'_> {
    fn event(&self, event: Event) {
        self.held().push(event);
        self.filled.notify_one();
    }
}
