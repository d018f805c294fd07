//! What the server sends: one message after the other, from whatever thread.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response, ResponseError};
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::pending::Pending;

/// The way to the editor.
#[derive(Clone)]
pub struct Outgoing {
    stream: Arc<Mutex<Box<dyn Write + Send>>>,
    pending: Pending,
    asked: Arc<AtomicI32>,
}

impl Outgoing {
    pub fn new(stream: Box<dyn Write + Send>, pending: Pending) -> Outgoing {
        Outgoing { stream: Arc::new(Mutex::new(stream)), pending, asked: Arc::default() }
    }

    fn send(&self, message: Message) {
        let mut stream = self.stream.lock();
        // An editor that has gone is noticed where its messages are read.
        let _ = message.write(&mut *stream).and_then(|()| stream.flush());
    }

    /// Answers a request, or says that nobody wants the answer any more.
    pub fn answer(&self, id: RequestId, answer: Result<Json, ResponseError>) {
        let is_cancelled = self.pending.is_cancelled(&id);
        self.pending.end(&id);
        let response_result = match answer {
            Ok(_) if is_cancelled => {
                Err(error(ErrorCode::RequestCanceled as i32, "The request was taken back."))
            }
            other => other,
        };
        self.send(Response { id, response_result }.into());
    }

    /// Answers something that is no message, and so has no number.
    pub fn answer_broken(&self, code: i32, message: &str) {
        let text = json!({
            "jsonrpc": "2.0",
            "id": null,
            "error": { "code": code, "message": message },
        });
        let text = text.to_string();
        let mut stream = self.stream.lock();
        let _ = write!(stream, "Content-Length: {}\r\n\r\n{text}", text.len())
            .and_then(|()| stream.flush());
    }

    /// Tells the editor something.
    pub fn tell(&self, method: &str, params: impl Serialize) {
        let Ok(params) = serde_json::to_value(params) else { return };
        self.send(Notification { method: method.to_owned(), params }.into());
    }

    /// Asks the editor something; the answer is not waited for.
    pub fn ask(&self, method: &str, params: impl Serialize) {
        let Ok(params) = serde_json::to_value(params) else { return };
        let id = RequestId::from(self.asked.fetch_add(1, Ordering::Relaxed));
        self.send(Request { id, method: method.to_owned(), params }.into());
    }
}

/// An error as answers have it.
pub fn error(code: i32, message: impl Into<String>) -> ResponseError {
    ResponseError { code, message: message.into(), data: None }
}
