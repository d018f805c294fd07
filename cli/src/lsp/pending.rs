//! Which requests wait for an answer, and which of them nobody wants any more.

use std::collections::HashMap;
use std::sync::Arc;

use lsp_server::RequestId;
use parking_lot::Mutex;

/// The requests that are not answered yet; each with whether it was taken back.
#[derive(Clone, Debug, Default)]
pub struct Pending(Arc<Mutex<HashMap<RequestId, bool>>>);

impl Pending {
    /// Notes a request.
    pub fn begin(&self, id: &RequestId) {
        self.0.lock().insert(id.clone(), false);
    }

    /// Takes a request back, if it still waits.
    pub fn cancel(&self, id: &RequestId) {
        if let Some(is_cancelled) = self.0.lock().get_mut(id) {
            *is_cancelled = true;
        }
    }

    /// Returns whether a request was taken back.
    pub fn is_cancelled(&self, id: &RequestId) -> bool {
        self.0.lock().get(id).copied().unwrap_or(false)
    }

    /// Notes that a request is answered.
    pub fn end(&self, id: &RequestId) {
        self.0.lock().remove(id);
    }
}
