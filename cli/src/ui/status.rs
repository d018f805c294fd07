//! The block at the end of the terminal while steps are carried out. What is printed meanwhile stands above it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use parking_lot::Mutex;

use crate::view::running::Running;

/// How often the block is drawn again.
const INTERVAL: Duration = Duration::from_millis(200);

/// A block that is drawn until it is dropped.
pub struct Status {
    block: ProgressBar,
    is_over: Arc<AtomicBool>,
    drawing: Option<JoinHandle<()>>,
}

impl Status {
    /// Begins to draw; nothing where the system has no thread for it.
    ///
    /// - `lines`, `width`: the room that it has.
    pub fn begin(running: Arc<Mutex<Running>>, lines: usize, width: usize) -> Option<Status> {
        let style = ProgressStyle::with_template("{msg}").ok()?;
        let block = ProgressBar::new_spinner().with_style(style);
        let is_over = Arc::new(AtomicBool::new(false));
        let (drawn, over) = (block.clone(), is_over.clone());
        let draw = move || {
            while !over.load(Ordering::SeqCst) {
                let text = running.lock().block(lines, width);
                drawn.set_message(text);
                drawn.tick();
                std::thread::park_timeout(INTERVAL);
            }
        };
        let drawing = std::thread::Builder::new().name("status".into()).spawn(draw).ok()?;
        Some(Status { block, is_over, drawing: Some(drawing) })
    }

    /// Returns what stands aside while something else is printed.
    pub fn block(&self) -> ProgressBar {
        self.block.clone()
    }
}

impl Drop for Status {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        if let Some(drawing) = self.drawing.take() {
            drawing.thread().unpark();
            let _ = drawing.join();
        }
        self.block.finish_and_clear();
    }
}
