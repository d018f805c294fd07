//! One scheduler, for the walk that plans and the walk that applies: hands out what nothing is waited for any more.

use std::collections::VecDeque;
use std::hash::Hash;
use std::pin::Pin;
use std::task::Poll;

use futures_util::poll;
use futures_util::stream::FuturesUnordered;
use rustc_hash::FxHashMap;

use crate::lists::Lists;

/// Asks once, and returns the answer where it is there at once, as those of the program itself are; else it is waited for among others.
pub async fn begin<F: Future>(
    question: F,
    open: &mut FuturesUnordered<Pin<Box<F>>>,
) -> Option<F::Output> {
    let mut question = Box::pin(question);
    match poll!(&mut question) {
        Poll::Ready(answer) => Some(answer),
        Poll::Pending => {
            open.push(question);
            None
        }
    }
}

/// Numbered things, some of which wait for others.
#[derive(Debug, Default)]
pub struct Schedule {
    waiting: Vec<u32>,
    /// What waits for each thing.
    users: Lists<u32>,
    ready: VecDeque<u32>,
    /// What has been freed since, where that goes before all that was ready.
    freed: Option<VecDeque<u32>>,
    settled: Vec<bool>,
    /// What each thing waited for last; itself where it waited for nothing.
    last: Vec<u32>,
    left: usize,
}

impl Schedule {
    /// Returns a schedule of `count` things; `(n, m)`: `n` waits for `m`. A pair may occur more than once.
    pub fn new(
        count: usize,
        waits: impl IntoIterator<Item = (u32, u32), IntoIter: Clone>,
    ) -> Schedule {
        Schedule::holding(count, waits, [])
    }

    /// Like [`Schedule::new`], with some things held from the start.
    pub fn holding(
        count: usize,
        waits: impl IntoIterator<Item = (u32, u32), IntoIter: Clone>,
        held: impl IntoIterator<Item = u32>,
    ) -> Schedule {
        // Gone through several times: a list of them would be large.
        let waits = waits.into_iter();
        let mut schedule = Schedule {
            waiting: vec![0; count],
            users: Lists::of(waits.clone().map(|it| (it.1, it.0))),
            ready: VecDeque::new(),
            freed: None,
            settled: vec![false; count],
            last: (0..count as u32).collect(),
            left: count,
        };
        for (user, _) in waits {
            schedule.waiting[user as usize] += 1;
        }
        for thing in held {
            schedule.waiting[thing as usize] += 1;
        }
        schedule.ready.extend((0..count as u32).filter(|it| schedule.waiting[*it as usize] == 0));
        schedule
    }

    /// Lets what is freed by something that is done go before all that was ready: it lies near what is done, in memory too.
    pub fn nearest_first(self) -> Schedule {
        Schedule { freed: Some(VecDeque::new()), ..self }
    }

    /// Returns the next thing that waits for nothing.
    pub fn take_ready(&mut self) -> Option<u32> {
        let freed = self.freed.as_mut().and_then(VecDeque::pop_front);
        freed.or_else(|| self.ready.pop_front())
    }

    /// Says that a thing is done: what waited only for it becomes ready.
    pub fn complete(&mut self, thing: u32) {
        if std::mem::replace(&mut self.settled[thing as usize], true) {
            return;
        }
        self.left -= 1;
        for &user in self.users.get(thing) {
            self.waiting[user as usize] -= 1;
            self.last[user as usize] = thing;
            if self.waiting[user as usize] == 0 {
                self.freed.as_mut().unwrap_or(&mut self.ready).push_back(user);
            }
        }
    }

    /// Adds things up to number `count`, and lets things wait further: `(n, m)`: `n`, not settled, waits for `m`.
    ///
    /// - `held`: things that wait until they are released.
    /// - `released`: things that were held and are no longer.
    pub fn extend(
        &mut self,
        count: usize,
        waits: impl IntoIterator<Item = (u32, u32)>,
        held: impl IntoIterator<Item = u32>,
        released: impl IntoIterator<Item = u32>,
    ) {
        let first = self.waiting.len();
        let count = count.max(first);
        self.left += count - first;
        self.waiting.resize(count, 0);
        self.settled.resize(count, false);
        self.last.extend(first as u32..count as u32);
        for (user, used) in waits {
            if !self.settled[used as usize] && !self.settled[user as usize] {
                self.waiting[user as usize] += 1;
                self.users.push(used, user);
            }
        }
        held.into_iter().for_each(|it| self.waiting[it as usize] += 1);
        self.ready
            .extend((first as u32..count as u32).filter(|it| self.waiting[*it as usize] == 0));
        released.into_iter().for_each(|it| self.release(it));
    }

    /// Releases a held thing.
    pub fn release(&mut self, thing: u32) {
        self.waiting[thing as usize] -= 1;
        if self.waiting[thing as usize] == 0 {
            self.ready.push_back(thing);
        }
    }

    /// Makes a thing ready again that was taken and waits for nothing.
    pub fn again(&mut self, thing: u32) {
        if self.waiting[thing as usize] == 0 {
            self.ready.push_back(thing);
        }
    }

    /// Returns whether something is ready.
    pub fn has_ready(&self) -> bool {
        !self.ready.is_empty() || self.freed.as_ref().is_some_and(|it| !it.is_empty())
    }

    /// Returns how many things are not done.
    pub fn left(&self) -> usize {
        self.left
    }

    /// Returns whether a thing is done.
    pub fn is_settled(&self, thing: u32) -> bool {
        self.settled[thing as usize]
    }

    /// Returns the thing that was done last of those that a thing has waited for.
    pub fn last_awaited(&self, thing: u32) -> Option<u32> {
        Some(self.last[thing as usize]).filter(|it| *it != thing)
    }

    /// Returns the things that are not done, for a report of what waits for itself.
    pub fn unsettled(&self) -> Vec<u32> {
        (0..self.settled.len() as u32).filter(|it| !self.settled[*it as usize]).collect()
    }
}

/// Returns things each of which comes before the next, and the last before the first; the least first. Empty where there are none.
///
/// - `before`: pairs of what comes before what.
pub fn circle<T: Copy + Ord + Hash>(before: impl Iterator<Item = (T, T)>) -> Vec<T> {
    let mut things: Vec<T> = Vec::new();
    let mut numbers: FxHashMap<T, u32> = FxHashMap::default();
    let mut number = |thing: T| {
        *numbers.entry(thing).or_insert_with(|| {
            things.push(thing);
            things.len() as u32 - 1
        })
    };
    let pairs: Vec<(u32, u32)> = before.map(|it| (number(it.0), number(it.1))).collect();
    let mut schedule = Schedule::new(things.len(), pairs.iter().map(|it| (it.1, it.0)));
    while let Some(next) = schedule.take_ready() {
        schedule.complete(next);
    }
    // What only comes after a circle is left, too; walking back from there leads into it.
    let mut back: FxHashMap<u32, u32> = FxHashMap::default();
    back.extend(pairs.iter().filter(|it| !schedule.is_settled(it.0)).map(|it| (it.1, it.0)));
    let thing = |it: &u32| things[*it as usize];
    let start = schedule.unsettled().into_iter().min_by_key(thing);
    let mut path: Vec<u32> = start.into_iter().collect();
    let mut places: FxHashMap<u32, usize> = path.iter().map(|it| (*it, 0)).collect();
    while let Some(previous) = path.last().and_then(|it| back.get(it)) {
        if let Some(at) = places.insert(*previous, path.len()) {
            let mut circle: Vec<T> = path[at..].iter().rev().map(thing).collect();
            let first = circle.iter().enumerate().min_by_key(|it| it.1).map_or(0, |it| it.0);
            circle.rotate_left(first);
            return circle;
        }
        path.push(*previous);
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::{Schedule, circle};

    #[test]
    fn a_circle_is_shown_from_its_least_on_without_what_comes_after() {
        let pairs = [(5, 3), (3, 4), (4, 5), (4, 1), (1, 0), (7, 3)];
        assert_eq!(circle(pairs.into_iter()), [3, 4, 5]);
        assert_eq!(circle([(1, 2), (2, 3), (1, 3)].into_iter()), Vec::<i32>::new());
    }

    #[test]
    fn a_thing_is_ready_when_everything_it_waits_for_is_settled() {
        let mut schedule = Schedule::new(3, [(2, 0), (2, 1), (2, 0)]);
        assert_eq!(
            (schedule.take_ready(), schedule.take_ready(), schedule.take_ready()),
            (Some(0), Some(1), None)
        );
        schedule.complete(0);
        assert_eq!(schedule.take_ready(), None);
        schedule.complete(1);
        assert_eq!(schedule.take_ready(), Some(2));
        schedule.complete(2);
        assert_eq!(schedule.left(), 0);
    }

    #[test]
    fn what_is_freed_may_go_before_what_was_ready() {
        let taken = |mut schedule: Schedule| {
            let first = schedule.take_ready().expect("something waits for nothing");
            schedule.complete(first);
            assert!(schedule.has_ready());
            std::iter::once(first).chain(std::iter::from_fn(|| schedule.take_ready())).collect()
        };
        let schedule = || Schedule::new(4, [(1, 0), (3, 0)]);
        let (as_they_come, nearest): (Vec<u32>, Vec<u32>) =
            (taken(schedule()), taken(schedule().nearest_first()));
        assert_eq!((as_they_come, nearest), (vec![0, 2, 1, 3], vec![0, 1, 3, 2]));
    }

    #[test]
    fn what_is_found_late_holds_back_its_user() {
        let mut schedule = Schedule::holding(3, [(1, 0)], [2]);
        assert_eq!(schedule.take_ready(), Some(0));
        schedule.extend(5, [(1, 3), (3, 4), (2, 4)], [], [2]);
        assert_eq!((schedule.take_ready(), schedule.take_ready()), (Some(4), None));
        schedule.complete(0);
        assert_eq!(schedule.take_ready(), None);
        schedule.complete(4);
        assert_eq!((schedule.take_ready(), schedule.take_ready()), (Some(3), Some(2)));
        schedule.complete(3);
        assert_eq!(schedule.take_ready(), Some(1));
    }
}
