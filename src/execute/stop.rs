//! The wish to stop, shared by whoever hears of it and whoever heeds it.

use tokio::sync::watch;

/// The wish to stop: once, running steps are finished and saved; twice, they are abandoned and what is known is saved.
#[derive(Debug)]
pub struct Stop {
    asked: watch::Sender<u8>,
}

impl Default for Stop {
    fn default() -> Stop {
        Stop { asked: watch::Sender::new(0) }
    }
}

impl Stop {
    /// Asks to stop, once more. Returns how often it was asked by now.
    pub fn ask(&self) -> u8 {
        self.asked.send_modify(|it| *it = it.saturating_add(1));
        self.asked()
    }

    /// Returns how often it was asked.
    pub fn asked(&self) -> u8 {
        *self.asked.borrow()
    }

    /// Waits until it was asked that often.
    pub async fn wait_for(&self, times: u8) {
        // The sender lives as long as `self`, so the wait ends with the wish alone.
        let _ = self.asked.subscribe().wait_for(|it| *it >= times).await;
    }
}
