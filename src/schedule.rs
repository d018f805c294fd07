//! One scheduler, for the walk that plans and the walk that applies: hands out what nothing is waited for any more.

use std::collections::VecDeque;

/// Numbered things, some of which wait for others.
#[derive(Debug, Default)]
pub struct Schedule {
    waiting: Vec<u32>,
    users: Vec<Vec<u32>>,
    ready: VecDeque<u32>,
    settled: Vec<bool>,
    left: usize,
}

impl Schedule {
    /// Returns a schedule of `count` things; `(n, m)`: `n` waits for `m`. A pair may occur more than once.
    pub fn new(count: usize, waits: impl IntoIterator<Item = (u32, u32)>) -> Schedule {
        Schedule::holding(count, waits, [])
    }

    /// Like [`Schedule::new`], with some things held from the start.
    pub fn holding(
        count: usize,
        waits: impl IntoIterator<Item = (u32, u32)>,
        held: impl IntoIterator<Item = u32>,
    ) -> Schedule {
        let mut schedule = Schedule {
            waiting: vec![0; count],
            users: vec![Vec::new(); count],
            ready: VecDeque::new(),
            settled: vec![false; count],
            left: count,
        };
        for (user, used) in waits {
            schedule.waiting[user as usize] += 1;
            schedule.users[used as usize].push(user);
        }
        for thing in held {
            schedule.waiting[thing as usize] += 1;
        }
        schedule.ready.extend((0..count as u32).filter(|it| schedule.waiting[*it as usize] == 0));
        schedule
    }

    /// Returns the next thing that waits for nothing.
    pub fn take_ready(&mut self) -> Option<u32> {
        self.ready.pop_front()
    }

    /// Says that a thing is done: what waited only for it becomes ready.
    pub fn settle(&mut self, thing: u32) {
        if std::mem::replace(&mut self.settled[thing as usize], true) {
            return;
        }
        self.left -= 1;
        for user in std::mem::take(&mut self.users[thing as usize]) {
            self.waiting[user as usize] -= 1;
            if self.waiting[user as usize] == 0 {
                self.ready.push_back(user);
            }
        }
    }

    /// Adds a thing that waits for nothing, and that `user` (not settled) then waits for.
    pub fn add_before(&mut self, thing: u32, user: u32) {
        let needed = thing as usize + 1;
        if self.waiting.len() < needed {
            self.left += needed - self.waiting.len();
            self.waiting.resize(needed, 0);
            self.users.resize_with(needed, Vec::new);
            self.settled.resize(needed, false);
        }
        self.waiting[user as usize] += 1;
        self.users[thing as usize].push(user);
        self.ready.push_back(thing);
    }

    /// Releases a held thing, for which `user` (not settled) then waits.
    pub fn release_before(&mut self, thing: u32, user: u32) {
        self.waiting[user as usize] += 1;
        self.users[thing as usize].push(user);
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

    /// Makes room for things that take no part.
    pub fn skip_to(&mut self, count: usize) {
        while self.waiting.len() < count {
            self.waiting.push(0);
            self.users.push(Vec::new());
            self.settled.push(true);
        }
    }

    /// Returns whether something is ready.
    pub fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Returns how many things are not done.
    pub fn left(&self) -> usize {
        self.left
    }

    /// Returns whether a thing is done.
    pub fn is_settled(&self, thing: u32) -> bool {
        self.settled[thing as usize]
    }

    /// Returns the things that are not done, for a report of what waits for itself.
    pub fn unsettled(&self) -> Vec<u32> {
        (0..self.settled.len() as u32).filter(|it| !self.settled[*it as usize]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Schedule;

    #[test]
    fn a_thing_is_ready_when_everything_it_waits_for_is_settled() {
        let mut schedule = Schedule::new(3, [(2, 0), (2, 1), (2, 0)]);
        assert_eq!(
            (schedule.take_ready(), schedule.take_ready(), schedule.take_ready()),
            (Some(0), Some(1), None)
        );
        schedule.settle(0);
        assert_eq!(schedule.take_ready(), None);
        schedule.settle(1);
        assert_eq!(schedule.take_ready(), Some(2));
        schedule.settle(2);
        assert_eq!(schedule.left(), 0);
    }

    #[test]
    fn what_is_found_late_holds_back_its_user() {
        let mut schedule = Schedule::new(2, [(1, 0)]);
        assert_eq!(schedule.take_ready(), Some(0));
        schedule.add_before(2, 0);
        assert_eq!(schedule.take_ready(), Some(2));
        schedule.settle(2);
        assert_eq!(schedule.take_ready(), Some(0));
    }
}
