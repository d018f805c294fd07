//! States on their way: which one is read or written at this moment, and how much of it, for whoever wants to tell of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use parking_lot::Mutex;

use crate::world::World;

tokio::task_local! {
    /// What is on its way by the question that is being asked.
    static CURRENT: Arc<Moving>;
}

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the store.
    In,
    /// To the store.
    Out,
}

/// A state on its way.
#[derive(Debug)]
pub struct Moving {
    /// Which way.
    pub way: Way,
    /// How messages call the place.
    pub place: String,
    /// Since when.
    pub since: Instant,
    arrived: AtomicU64,
    expected: AtomicU64,
}

impl Moving {
    /// Returns how many bytes have arrived, of a state that is read.
    pub fn arrived(&self) -> u64 {
        self.arrived.load(Ordering::Relaxed)
    }

    /// Returns how many bytes there are, where that is known.
    pub fn expected(&self) -> Option<u64> {
        Some(self.expected.load(Ordering::Relaxed)).filter(|it| *it > 0)
    }
}

/// What is on its way in one world.
#[derive(Debug, Default)]
pub struct Moves(Mutex<Option<Arc<Moving>>>);

impl Moves {
    /// Returns what is on its way in a world.
    pub fn of(world: &World) -> Arc<Moves> {
        world.once(|_| Moves::default())
    }

    /// Returns the state that is on its way now.
    pub fn current(&self) -> Option<Arc<Moving>> {
        self.0.lock().clone()
    }

    /// Asks a question by which a state goes to a place or comes from it.
    ///
    /// - `size`: how much goes; 0 where only the answer tells how much comes.
    pub(super) async fn during<T>(
        &self,
        (way, place, size): (Way, String, usize),
        question: impl Future<Output = T>,
    ) -> T {
        let moving = Arc::new(Moving {
            way,
            place,
            since: Instant::now(),
            arrived: AtomicU64::new(0),
            expected: AtomicU64::new(size as u64),
        });
        *self.0.lock() = Some(moving.clone());
        let answer = CURRENT.scope(moving, question).await;
        *self.0.lock() = None;
        answer
    }
}

/// Notes that an answer of this length has begun to come.
pub(super) fn expect(length: Option<u64>) {
    let _ = CURRENT.try_with(|it| {
        if it.way == Way::In {
            it.arrived.store(0, Ordering::Relaxed);
            it.expected.store(length.unwrap_or(0), Ordering::Relaxed);
        }
    });
}

/// Notes that so many bytes more have come.
pub(super) fn arrive(bytes: usize) {
    // Whatever else is asked is of no interest.
    let _ = CURRENT.try_with(|it| it.arrived.fetch_add(bytes as u64, Ordering::Relaxed));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_on_its_way_is_known_while_it_is() {
        let moves = Moves::default();
        assert!(moves.current().is_none());
        let question = async {
            expect(Some(7));
            arrive(3);
            moves.current().map(|it| (it.way, it.arrived(), it.expected()))
        };
        let seen = moves.during((Way::In, "there".into(), 0), question).await;
        assert_eq!(seen, Some((Way::In, 3, Some(7))));
        let question = async {
            // What comes back then is no state.
            expect(Some(7));
            moves.current().map(|it| (it.way, it.expected()))
        };
        let seen = moves.during((Way::Out, "there".into(), 9), question).await;
        assert_eq!(seen, Some((Way::Out, Some(9))));
        assert!(moves.current().is_none());
        arrive(1);
    }
}
