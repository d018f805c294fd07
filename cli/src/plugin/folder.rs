//! The provider `folder`: its objects are files in the folder that its configuration names. For tests.
//!
//! It behaves as real providers do: an object that is not in its folder is "not found", deleting one that is missing is
//! an error, and so is creating one that exists. Without a known `dir` it works in [`UNCONFIGURED`].
//!
//! - It appends each call to the file `calls`, at its beginning and at its end.
//! - The file `control` says what goes wrong: lines such as `create b1 hold`, see [`Order`].

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::process::parent_id;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use entail::provider::{
    AppliedObject, ApplyCall, ImportName, ImportedObject, OpenedEphemeral, PlanCall, PlannedObject,
    Provider, ProviderDiagnostic, ReadObject, Response,
};
use entail::schema::{AttributeSchema, BlockSchema, ProviderSchema, Schema, Schemas};
use entail::value::json::from_json;
use entail::value::{PathStep, Str, Type, Value};

/// The folder of a provider whose configuration names none.
const UNCONFIGURED: &str = "unconfigured";

/// The longest time that an answer is held back.
const LONGEST_HOLD: Duration = Duration::from_secs(60);

/// What the file `control` asks of a call on an object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// `fail`: report an error and do nothing.
    Fail,
    /// `spoil`: do it, and report an error as well.
    Spoil,
    /// `hold`: do it, and answer after `Stop` or once the line is gone.
    Hold,
    /// `hold-spoil`: as `hold`, and report an error as well.
    HoldSpoil,
    /// `hold-deaf`: as `hold`, but `Stop` changes nothing.
    HoldDeaf,
}

/// A provider whose objects are files.
#[derive(Default)]
pub struct Folder {
    dir: parking_lot::Mutex<Option<String>>,
    is_stopped: AtomicBool,
}

fn attribute(optional: bool, computed: bool) -> AttributeSchema {
    AttributeSchema { optional, computed, ..AttributeSchema::of(Type::STRING) }
}

fn schema(attributes: &[(&str, bool, bool)]) -> Schema {
    let attributes: BTreeMap<Str, AttributeSchema> =
        attributes.iter().map(|it| (Str::from(it.0), attribute(it.1, it.2))).collect();
    Schema { block: BlockSchema { attributes, ..BlockSchema::default() }, ..Schema::default() }
}

fn one(name: &str, schema: Schema) -> Schemas {
    [(Str::from(name), Arc::new(schema))].into_iter().collect()
}

/// The attributes of an object: its name, its text, the folder that it was made in, and its name again.
const OBJECT: &[(&str, bool, bool)] =
    &[("id", false, true), ("made_in", false, true), ("name", true, true), ("text", true, false)];

fn announced() -> ProviderSchema {
    ProviderSchema {
        provider: schema(&[("dir", true, false)]),
        resources: one("folder_file", schema(OBJECT)),
        data_sources: one("folder_note", schema(&[("path", true, false), ("text", false, true)])),
        ephemeral: one("folder_loan", schema(&[("name", true, false), ("value", false, true)])),
        ..ProviderSchema::default()
    }
}

fn text(object: &Value, name: &str) -> Option<String> {
    object.get(name).and_then(Value::as_str).map(str::to_owned)
}

fn or_null(text: Option<String>) -> Value {
    text.map_or(Value::Null(Type::STRING), Value::string)
}

fn object(dir: &str, name: &str, text: Option<String>) -> Value {
    Value::object([
        ("id".into(), Value::string(name)),
        ("made_in".into(), Value::string(dir)),
        ("name".into(), Value::string(name)),
        ("text".into(), or_null(text)),
    ])
}

fn read_text(path: &Path) -> io::Result<Option<String>> {
    let text = fs::read_to_string(path)?;
    Ok(Some(text).filter(|it| !it.is_empty()))
}

/// Returns the order of the file `control` for a call on an object. `*` stands for any object.
fn order(call: &str, name: &str) -> Option<Order> {
    let text = fs::read_to_string("control").unwrap_or_default();
    let word = text.lines().find_map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let &[its_call, its_name, word] = &words[..] else { return None };
        (its_call == call && (its_name == name || its_name == "*")).then(|| word.to_owned())
    });
    match word.as_deref()? {
        "fail" => Some(Order::Fail),
        "spoil" => Some(Order::Spoil),
        "hold" => Some(Order::Hold),
        "hold-spoil" => Some(Order::HoldSpoil),
        "hold-deaf" => Some(Order::HoldDeaf),
        _ => None,
    }
}

fn note(line: &str) {
    let opened = OpenOptions::new().create(true).append(true).open("calls");
    // A test that misses a line says so.
    let _ = opened.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
}

fn failure(why: &io::Error) -> ProviderDiagnostic {
    ProviderDiagnostic::error("File operation failed", why.to_string())
}

impl Folder {
    fn dir(&self) -> String {
        self.dir.lock().clone().unwrap_or_else(|| UNCONFIGURED.to_owned())
    }

    /// Returns the path of an object in the folder of this provider.
    fn path(&self, name: &str) -> PathBuf {
        Path::new(&self.dir()).join(name)
    }

    /// Changes the world as planned, and returns the object that exists then.
    fn change(&self, prior: &Value, planned: &Value, name: &str) -> io::Result<Value> {
        let path = self.path(name);
        let content = text(planned, "text");
        let bytes = content.clone().unwrap_or_default();
        if planned.is_null() {
            fs::remove_file(&path)?;
            return Ok(planned.clone());
        }
        if prior.is_null() {
            fs::create_dir_all(self.dir())?;
            File::create_new(&path)?.write_all(bytes.as_bytes())?;
        } else {
            OpenOptions::new()
                .write(true)
                .truncate(true)
                .open(&path)?
                .write_all(bytes.as_bytes())?;
        }
        Ok(object(&self.dir(), name, content))
    }

    /// Waits until the line of `control` is gone or `Stop` arrives. Ends the process when its client is gone.
    async fn hold(&self, call: &str, name: &str, parent: u32) {
        let begun = Instant::now();
        while begun.elapsed() < LONGEST_HOLD {
            if parent_id() != parent {
                std::process::exit(1);
            }
            match order(call, name) {
                Some(Order::HoldDeaf) => {}
                Some(Order::Hold | Order::HoldSpoil) if !self.is_stopped.load(Ordering::SeqCst) => {
                }
                _ => return,
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Carries out a change as `control` says.
    async fn carry_out(&self, call: &ApplyCall<'_>, verb: &str, name: &str) -> Response<Value> {
        let parent = parent_id();
        let order = order(verb, name);
        if order == Some(Order::Fail) {
            let error = ProviderDiagnostic::error("Failed on request", format!("{verb} {name}"));
            return Response { value: call.prior.clone(), diagnostics: vec![error] };
        }
        let value = match self.change(call.prior, call.planned, name) {
            Ok(value) => value,
            Err(why) => {
                return Response { value: call.prior.clone(), diagnostics: vec![failure(&why)] };
            }
        };
        note(&format!("done {verb} {name}"));
        if matches!(order, Some(Order::Hold | Order::HoldSpoil | Order::HoldDeaf)) {
            self.hold(verb, name, parent).await;
        }
        let spoiled = matches!(order, Some(Order::Spoil | Order::HoldSpoil));
        let error = ProviderDiagnostic::error("Spoiled on request", format!("{verb} {name}"));
        Response { value, diagnostics: if spoiled { vec![error] } else { Vec::new() } }
    }
}

/// Returns a name that no object has.
fn new_name() -> String {
    let bytes = uuid_like();
    format!("f-{bytes}")
}

fn uuid_like() -> String {
    use std::hash::{BuildHasher, RandomState};
    format!("{:016x}", RandomState::new().hash_one(std::process::id()))
}

#[async_trait]
impl Provider for Folder {
    async fn schema(&self) -> Response<Arc<ProviderSchema>> {
        Response::ok(Arc::new(announced()))
    }

    async fn validate_provider(&self, _: &Value) -> Vec<ProviderDiagnostic> {
        Vec::new()
    }

    async fn configure(&self, config: &Value) -> Vec<ProviderDiagnostic> {
        *self.dir.lock() = text(config, "dir");
        note(&format!("configure {}", self.dir()));
        Vec::new()
    }

    async fn validate_resource(&self, _: &str, _: &Value) -> Vec<ProviderDiagnostic> {
        Vec::new()
    }

    async fn validate_data(&self, _: &str, _: &Value) -> Vec<ProviderDiagnostic> {
        Vec::new()
    }

    async fn upgrade(&self, _: &str, _: u64, stored: &str) -> Response<Option<Value>> {
        let ty = announced().resources.get("folder_file").map(|it| it.block.ty());
        Response::ok(ty.and_then(|ty| from_json(stored, ty).ok()))
    }

    async fn read(
        &self,
        _: &str,
        prior: &Value,
        private: &[u8],
        _: Option<&Value>,
    ) -> Response<Option<ReadObject>> {
        let name = text(prior, "id").unwrap_or_default();
        note(&format!("read {name} in {}", self.dir()));
        let value = match read_text(&self.path(&name)) {
            Ok(content) => object(&self.dir(), &name, content),
            Err(why) if why.kind() == io::ErrorKind::NotFound => Value::Null(prior.ty()),
            Err(why) => return Response { value: None, diagnostics: vec![failure(&why)] },
        };
        Response::ok(Some(ReadObject { value, private: private.to_vec(), identity: None }))
    }

    async fn plan(&self, call: PlanCall<'_>) -> Response<Option<PlannedObject>> {
        let (prior, proposed) = (call.prior, call.proposed);
        let unknown = || Value::unknown(Type::STRING);
        let of = |name: &str| proposed.get(name).cloned().unwrap_or(Value::Null(Type::STRING));
        let name = of("name");
        let planned = match (proposed.is_null(), prior.is_null()) {
            (true, _) => proposed.clone(),
            (false, false) => proposed.clone(),
            (false, true) => Value::object([
                ("id".into(), if name.is_null() { unknown() } else { name.clone() }),
                ("made_in".into(), unknown()),
                ("name".into(), if name.is_null() { unknown() } else { name.clone() }),
                ("text".into(), of("text")),
            ]),
        };
        let is_renamed =
            !proposed.is_null() && !prior.is_null() && prior.get("name") != Some(&name);
        let requires_replace = match is_renamed {
            true => vec![vec![PathStep::Attribute("name".into())]],
            false => Vec::new(),
        };
        Response::ok(Some(PlannedObject {
            planned,
            requires_replace,
            private: Vec::new(),
            identity: None,
            legacy_types: false,
        }))
    }

    async fn apply(&self, call: ApplyCall<'_>) -> Response<Option<AppliedObject>> {
        let verb = match (call.prior.is_null(), call.planned.is_null()) {
            (true, _) => "create",
            (false, false) => "update",
            (false, true) => "delete",
        };
        let name = text(call.prior, "id").or_else(|| text(call.planned, "name"));
        let name = name.unwrap_or_else(new_name);
        note(&format!("begin {verb} {name} in {}", self.dir()));
        let answer = self.carry_out(&call, verb, &name).await;
        note(&format!("end {verb} {name}"));
        let applied = AppliedObject {
            value: answer.value,
            private: Vec::new(),
            identity: None,
            legacy_types: false,
        };
        Response { value: Some(applied), diagnostics: answer.diagnostics }
    }

    async fn import(&self, kind: &str, name: &ImportName) -> Response<Vec<ImportedObject>> {
        let id = name.id().unwrap_or_default();
        note(&format!("import {id} in {}", self.dir()));
        let value = object(&self.dir(), id, None);
        let kind = kind.to_owned();
        Response::ok(vec![ImportedObject { kind, value, private: Vec::new(), identity: None }])
    }

    async fn move_state(
        &self,
        _: &str,
        _: &str,
        _: u64,
        _: &str,
        _: &str,
    ) -> Response<Option<ReadObject>> {
        Response::ok(None)
    }

    async fn read_data(&self, _: &str, config: &Value) -> Response<Option<Value>> {
        let path = text(config, "path").unwrap_or_default();
        match fs::read_to_string(&path) {
            Ok(content) => Response::ok(Some(Value::object([
                ("path".into(), Value::string(path)),
                ("text".into(), Value::string(content.trim())),
            ]))),
            Err(why) => Response { value: None, diagnostics: vec![failure(&why)] },
        }
    }

    async fn validate_ephemeral(&self, _: &str, _: &Value) -> Vec<ProviderDiagnostic> {
        Vec::new()
    }

    async fn open(&self, _: &str, config: &Value) -> Response<Option<OpenedEphemeral>> {
        let name = config.get("name").cloned().unwrap_or(Value::Null(Type::STRING));
        let value = Value::object([("name".into(), name.clone()), ("value".into(), name)]);
        Response::ok(Some(OpenedEphemeral { value, private: Vec::new(), renew_at: None }))
    }

    async fn close(&self, _: &str, _: &[u8]) -> Vec<ProviderDiagnostic> {
        Vec::new()
    }

    async fn call(&self, name: &str, _: &[Value]) -> Result<Value, (Option<usize>, String)> {
        Err((None, format!("There is no function named {name:?}.")))
    }

    async fn stop(&self) {
        note("stop");
        self.is_stopped.store(true, Ordering::SeqCst);
    }
}
