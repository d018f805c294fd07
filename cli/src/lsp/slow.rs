//! What may wait for others – states, plugins, proofs – is done beside what is quick.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};

use lsp_server::{ErrorCode, RequestId, ResponseError};
use serde_json::Value as Json;

use super::outgoing::{Outgoing, error};
use super::pending::Pending;

/// The stack of the thread, in bytes.
const STACK: usize = 64 << 20;

/// Work that gives the answer to a request.
pub type Work = Box<dyn FnOnce() -> Result<Json, ResponseError> + Send>;

/// The thread that does it.
pub struct Slow(Sender<(RequestId, Work)>);

impl Slow {
    /// Begins to wait for work.
    pub fn begin(out: Outgoing, pending: Pending) -> std::io::Result<Slow> {
        let (sender, receiver) = channel::<(RequestId, Work)>();
        let work = move || {
            for (id, work) in receiver {
                let is_wanted = !pending.is_cancelled(&id);
                let answer = if is_wanted { guarded(work) } else { Ok(Json::Null) };
                out.answer(id, answer);
            }
        };
        std::thread::Builder::new().name("slow".into()).stack_size(STACK).spawn(work)?;
        Ok(Slow(sender))
    }

    /// Does work for a request, once what came before it is done.
    pub fn add(&self, id: RequestId, work: Work) {
        // The thread ends with the server alone.
        let _ = self.0.send((id, work));
    }
}

/// Does work; a fault of the program is the answer to this request, and ends nothing else.
pub fn guarded(work: impl FnOnce() -> Result<Json, ResponseError>) -> Result<Json, ResponseError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|cause| {
        let words = cause.downcast_ref::<String>().cloned();
        let words = words.or_else(|| cause.downcast_ref::<&str>().map(ToString::to_string));
        let words = words.unwrap_or_else(|| "a fault without words".to_owned());
        Err(error(
            ErrorCode::InternalError as i32,
            format!("A fault of the program kept it from answering: {words}"),
        ))
    })
}
