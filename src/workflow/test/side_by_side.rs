//! Test files that touch nothing outside run side by side with others; those that do run one after the other.

use std::collections::BTreeMap;
use std::sync::mpsc;

use parking_lot::{Condvar, Mutex};

use crate::diagnostic::Diagnostics;
use crate::testing::{FileOutcome, Suite, is_contained, run_file};
use crate::workflow::host::Host;
use crate::workflow::with_room;

/// How many files run at a time at most, whatever is asked for: each has threads of its own.
const MOST: usize = 8;

/// Which files are still to run.
struct Board {
    /// Whether each touches nothing outside; `None` once it has begun.
    open: Vec<Option<bool>>,
    /// Whether a file runs that does.
    is_occupied: bool,
}

impl Board {
    /// Takes the next file that may run; nothing where none may now.
    fn take(&mut self) -> Option<(usize, bool)> {
        let may =
            |it: &Option<bool>| matches!(it, Some(true)) || (it.is_some() && !self.is_occupied);
        let index = self.open.iter().position(may)?;
        let is_contained = self.open[index].take()?;
        self.is_occupied |= !is_contained;
        Some((index, is_contained))
    }

    fn is_over(&self) -> bool {
        self.open.iter().all(Option::is_none)
    }
}

/// Runs every file, and hands over what came of each, in their order.
///
/// # Errors
///
/// If the system refuses a thread.
pub(super) fn run(
    host: &Host<'_>,
    suite: &Suite,
    take: &mut dyn FnMut(FileOutcome),
) -> Result<(), Diagnostics> {
    let open: Vec<_> = suite.files.iter().map(|it| Some(is_contained(suite, it))).collect();
    let contained = open.iter().filter(|it| **it == Some(true)).count();
    let others = usize::from(contained < open.len());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = (contained + others).min(suite.request.parallelism).min(cores).clamp(1, MOST);
    if workers == 1 {
        for file in suite.files.iter() {
            if host.stop.asked() > 1 {
                break;
            }
            take(with_room(|runtime| runtime.block_on(run_file(suite, file, host.stop)))?);
        }
        return Ok(());
    }
    let board = Mutex::new(Board { open, is_occupied: false });
    let (turn, (send, receive)) = (Condvar::new(), mpsc::channel());
    let work = |send: mpsc::Sender<(usize, Result<FileOutcome, Diagnostics>)>| {
        while let Some((index, is_contained)) = next(&board, &turn) {
            let file = &suite.files[index];
            let done = with_room(|runtime| runtime.block_on(run_file(suite, file, host.stop)));
            if !is_contained {
                board.lock().is_occupied = false;
            }
            turn.notify_all();
            if send.send((index, done)).is_err() {
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let send = send.clone();
            // Without one more thread the others do the work.
            let _ = std::thread::Builder::new().spawn_scoped(scope, || work(send));
        }
        drop(send);
        in_order(receive, take)
    })
}

/// Waits for a file that may run; nothing where all have begun.
fn next(board: &Mutex<Board>, turn: &Condvar) -> Option<(usize, bool)> {
    let mut board = board.lock();
    loop {
        if board.is_over() {
            return None;
        }
        match board.take() {
            Some(it) => return Some(it),
            None => turn.wait(&mut board),
        }
    }
}

/// Hands over what comes, each behind those before it.
fn in_order(
    receive: mpsc::Receiver<(usize, Result<FileOutcome, Diagnostics>)>,
    take: &mut dyn FnMut(FileOutcome),
) -> Result<(), Diagnostics> {
    let mut waiting = BTreeMap::new();
    let mut due = 0;
    for (index, done) in receive {
        waiting.insert(index, done?);
        while let Some(outcome) = waiting.remove(&due) {
            take(outcome);
            due += 1;
        }
    }
    Ok(())
}
