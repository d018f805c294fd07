//! The request to stop, shared by the signal handler and everything that runs or waits.

use std::sync::Arc;

use tokio::sync::watch;

/// The request to stop. Asked once, nothing new begins, waits end, and providers are asked to stop; asked twice, providers are not
/// waited for. A copy is the same request.
#[derive(Clone, Debug)]
pub struct Stop {
    asked: Arc<watch::Sender<u8>>,
}

impl Default for Stop {
    fn default() -> Stop {
        Stop { asked: Arc::new(watch::Sender::new(0)) }
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
        // The sender lives as long as `self`, so the wait ends with the request alone.
        let _ = self.asked.subscribe().wait_for(|it| *it >= times).await;
    }

    /// Does work unless the run is asked to stop, before or meanwhile: then the work is dropped where it waits.
    pub async fn unless_asked<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        if self.asked() > 0 {
            return None;
        }
        tokio::select! {
            biased;
            done = work => Some(done),
            () = self.wait_for(1) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_ends_with_the_first_request() {
        let stop = Stop::default();
        assert_eq!(stop.unless_asked(async { 1 }).await, Some(1));
        let copy = stop.clone();
        let (done, ()) = tokio::join!(stop.unless_asked(std::future::pending::<()>()), async {
            copy.ask();
        });
        assert_eq!(done, None);
        assert_eq!(stop.unless_asked(async { 1 }).await, None);
    }
}
