//! Looking for problems, in the background: the newest task of each folder, those that were touched last first.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use entail::assist::problems::Task;
use parking_lot::{Condvar, Mutex};

use super::outgoing::Outgoing;
use super::published::Published;

/// The stack of the thread, in bytes: as much as walking the tallest tree of an expression needs.
const STACK: usize = 64 << 20;

/// What is still to be looked at.
#[derive(Clone, Default)]
pub struct Checking {
    queue: Arc<(Mutex<Queue>, Condvar)>,
}

#[derive(Default)]
struct Queue {
    tasks: VecDeque<Task>,
    is_over: bool,
}

impl Checking {
    /// Begins to look for problems.
    pub fn begin(&self, published: Arc<Mutex<Published>>, out: Outgoing) -> std::io::Result<()> {
        let checking = self.clone();
        let work = move || {
            while let Some(task) = checking.next() {
                // A fault of the program ends nothing but this task.
                if let Ok(found) = catch_unwind(AssertUnwindSafe(|| task.run())) {
                    published.lock().found(&task.root, found, &out);
                }
            }
        };
        std::thread::Builder::new().name("checking".into()).stack_size(STACK).spawn(work)?;
        Ok(())
    }

    /// Adds tasks, in the place of older ones for the same folders. What was touched comes first.
    pub fn add(&self, tasks: Vec<Task>, is_touched: bool) {
        let mut queue = self.queue.0.lock();
        queue.tasks.retain(|it| !tasks.iter().any(|other| other.root == it.root));
        match is_touched {
            true => tasks.into_iter().rev().for_each(|it| queue.tasks.push_front(it)),
            false => queue.tasks.extend(tasks),
        }
        self.queue.1.notify_one();
    }

    /// Ends when the task at hand is done.
    pub fn end(&self) {
        let mut queue = self.queue.0.lock();
        (queue.is_over, queue.tasks) = (true, VecDeque::new());
        self.queue.1.notify_all();
    }

    fn next(&self) -> Option<Task> {
        let mut queue = self.queue.0.lock();
        loop {
            if queue.is_over {
                return None;
            }
            if let Some(task) = queue.tasks.pop_front() {
                return Some(task);
            }
            self.queue.1.wait(&mut queue);
        }
    }
}
