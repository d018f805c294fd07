//! The server: from the first message to the last.

use std::collections::{BTreeSet, HashMap};
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};

use entail::assist::Workspace;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::world::World;
use lsp_server::{ErrorCode, Message, Request, RequestId, ResponseError};
use lsp_types::{InitializeParams, NumberOrString};
use parking_lot::Mutex;
use serde_json::Value as Json;

use super::capabilities::{Editor, initialized};
use super::checking::Checking;
use super::outgoing::{Outgoing, error};
use super::pending::Pending;
use super::published::Published;
use super::slow::{Slow, guarded};
use super::text::Encoding;
use super::uri::path;
use super::wire::{self, INVALID_REQUEST, Incoming};

/// The stack of the thread that answers, in bytes: as much as walking the tallest tree of an expression needs.
const STACK: usize = 64 << 20;

/// The most texts that are looked at together before the next message is read.
const TOGETHER: usize = 2_000;

/// How far the conversation has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing was agreed.
    Begun,
    Running,
    /// The editor has said goodbye.
    Over,
}

/// What the server knows.
pub struct Server {
    pub workspace: Workspace,
    pub encoding: Encoding,
    pub editor: Editor,
    pub out: Outgoing,
    pub pending: Pending,
    pub published: Arc<Mutex<Published>>,
    pub checking: Checking,
    pub slow: Slow,
    /// The versions of the open texts.
    pub versions: HashMap<PathBuf, i32>,
    /// Texts that have changed and are still to be looked at.
    pub touched: BTreeSet<PathBuf>,
    world: World,
    phase: Phase,
}

/// Serves an editor until it says that it is done, or its end of the stream is closed. Returns the exit code.
///
/// # Errors
///
/// If the system refuses a thread.
pub fn serve(
    world: &World,
    input: impl BufRead + Send + 'static,
    output: Box<dyn Write + Send>,
) -> Result<u8, Diagnostics> {
    let pending = Pending::default();
    let out = Outgoing::new(output, pending.clone());
    let (sender, receiver) = channel();
    let (reading, waiting, told) = (pending.clone(), world.clone(), out.clone());
    let reader = std::thread::Builder::new().name("reading".into());
    reader.spawn(move || listen(input, &sender, &reading)).map_err(no_thread)?;
    let slow = Slow::begin(out.clone(), pending.clone()).map_err(no_thread)?;
    let checking = Checking::default();
    let published = Arc::new(Mutex::new(Published::default()));
    checking.begin(published.clone(), out.clone()).map_err(no_thread)?;
    let server = Server {
        workspace: Workspace::new(World { is_trusted: false, ..waiting }, Vec::new()),
        encoding: Encoding::default(),
        editor: Editor::default(),
        out: told,
        pending,
        published,
        checking,
        slow,
        versions: HashMap::new(),
        touched: BTreeSet::new(),
        world: world.clone(),
        phase: Phase::Begun,
    };
    let worker = std::thread::Builder::new().name("answering".into()).stack_size(STACK);
    let worker = worker.spawn(move || server.run(&receiver)).map_err(no_thread)?;
    Ok(worker.join().unwrap_or(1))
}

fn no_thread(why: std::io::Error) -> Diagnostics {
    Diagnostic::error("Cannot start working")
        .detail(format!("The system refuses a thread: {why}."))
        .into()
}

/// Reads what the editor sends. What it takes back is noted at once, before what waits for its turn.
fn listen(mut input: impl BufRead, sender: &Sender<Incoming>, pending: &Pending) {
    while let Ok(Some(incoming)) = wire::read(&mut input) {
        match &incoming {
            Incoming::Message(Message::Request(it)) => pending.begin(&it.id),
            Incoming::Message(Message::Notification(it)) if it.method == "$/cancelRequest" => {
                if let Some(id) = it.params.get("id").cloned()
                    && let Ok(id) = serde_json::from_value(id)
                {
                    pending.cancel(&match id {
                        NumberOrString::Number(it) => RequestId::from(it),
                        NumberOrString::String(it) => RequestId::from(it),
                    });
                }
            }
            _ => {}
        }
        if sender.send(incoming).is_err() {
            return;
        }
    }
}

impl Server {
    fn run(mut self, incoming: &Receiver<Incoming>) -> u8 {
        while let Some(it) = self.next(incoming) {
            match it {
                Incoming::Broken(code, why) => self.out.answer_broken(code, &why),
                Incoming::Message(Message::Request(it)) => self.request(it),
                Incoming::Message(Message::Notification(it)) if it.method == "exit" => break,
                Incoming::Message(Message::Notification(it)) => {
                    if self.phase == Phase::Running {
                        let (method, params) = (it.method, it.params);
                        // A fault of the program ends nothing but this.
                        let _ = guarded(|| {
                            self.notified(&method, params);
                            Ok(Json::Null)
                        });
                    }
                }
                // Nothing was asked whose answer matters.
                Incoming::Message(Message::Response(_)) => {}
            }
        }
        self.checking.end();
        u8::from(self.phase != Phase::Over)
    }

    /// The next message; nothing once there is none to come. What was touched is looked at when none waits, or too many have come: whoever
    /// opens a thousand texts has them looked at together.
    fn next(&mut self, incoming: &Receiver<Incoming>) -> Option<Incoming> {
        if self.touched.is_empty() {
            return incoming.recv().ok();
        }
        let waiting = (self.touched.len() < TOGETHER).then(|| incoming.try_recv());
        match waiting {
            Some(Ok(it)) => Some(it),
            Some(Err(TryRecvError::Disconnected)) => None,
            Some(Err(TryRecvError::Empty)) | None => {
                // A fault of the program ends nothing but this.
                let _ = guarded(|| {
                    self.check_touched();
                    Ok(Json::Null)
                });
                incoming.recv().ok()
            }
        }
    }

    fn request(&mut self, it: Request) {
        let Request { id, method, params } = it;
        if self.pending.is_cancelled(&id) {
            return self.out.answer(id, Ok(Json::Null));
        }
        let answer = match (self.phase, &*method) {
            (Phase::Begun, "initialize") => self.initialize(params),
            (Phase::Begun, _) => {
                let code = ErrorCode::ServerNotInitialized as i32;
                Err(error(code, "The first request is initialize."))
            }
            (Phase::Running, "shutdown") => {
                self.phase = Phase::Over;
                Ok(Json::Null)
            }
            (Phase::Over, _) | (_, "initialize") => {
                Err(error(INVALID_REQUEST, format!("{method} has no place here any more.")))
            }
            (Phase::Running, _) => {
                let answer = guarded_request(self, &id, &method, params);
                match answer {
                    Some(answer) => answer,
                    // Somebody else answers.
                    None => return,
                }
            }
        };
        self.out.answer(id, answer);
    }

    fn initialize(&mut self, params: Json) -> Result<Json, ResponseError> {
        let params: InitializeParams = serde_json::from_value(params)
            .map_err(|it| error(ErrorCode::InvalidParams as i32, it.to_string()))?;
        let offered = params.capabilities.general.as_ref();
        let offered = offered.and_then(|it| it.position_encodings.as_deref());
        self.encoding = Encoding::agreed(offered);
        self.editor = Editor::of(&params.capabilities);
        self.published.lock().encoding = self.encoding;
        let mut roots: Vec<PathBuf> =
            params.workspace_folders.iter().flatten().map(|it| path(&it.uri)).collect();
        if params.workspace_folders.is_none() {
            #[expect(deprecated, reason = "editors that know no folders say it so")]
            roots.extend(params.root_uri.as_ref().map(path));
        }
        // Nothing that a folder holds is run unless the editor's user has said so.
        let options = params.initialization_options.as_ref();
        let is_trusted = options.and_then(|it| it.get("trusted")?.as_bool()).unwrap_or(false);
        let world = World { is_trusted, ..self.world.clone() };
        self.workspace = Workspace::new(world, roots);
        self.phase = Phase::Running;
        serde_json::to_value(initialized(self.encoding))
            .map_err(|it| error(ErrorCode::InternalError as i32, it.to_string()))
    }
}

/// Answers a request; nothing where it is answered later.
fn guarded_request(
    server: &mut Server,
    id: &RequestId,
    method: &str,
    params: Json,
) -> Option<Result<Json, ResponseError>> {
    let mut is_later = false;
    let answer = guarded(|| match server.answered(id, method, params) {
        Some(answer) => answer,
        None => {
            is_later = true;
            Ok(Json::Null)
        }
    });
    (!is_later).then_some(answer)
}
