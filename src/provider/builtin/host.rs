//! A running embedded provider: the protocol's calls, answered from a table of kinds.

use std::sync::Arc;

use async_trait::async_trait;
use rustc_hash::FxHashMap;
use tokio::sync::watch;

use super::fields::Fields;
use super::resource::{Kind, Problem, check_attributes, failed};
use super::table::{Entry, Source, Table};
use crate::address::Instance;
use crate::provider::{
    AppliedObject, ApplyCall, ImportName, ImportedObject, OpenedEphemeral, PlanCall, PlannedObject,
    Provider, ReadObject, Response,
};
use crate::schema::ProviderSchema;
use crate::value::Value;
use crate::value::json::from_stored_json;
use crate::world::World;

/// A running provider.
pub(super) struct Host {
    table: &'static Table,
    world: Arc<World>,
    stopped: watch::Sender<bool>,
}

impl Host {
    pub(super) fn new(table: &'static Table, world: Arc<World>) -> Host {
        Host { table, world, stopped: watch::Sender::new(false) }
    }

    fn kind<T>(&self, name: &str, then: impl FnOnce(&Entry<dyn Kind>) -> Response<T>) -> Response<T>
    where
        T: Default,
    {
        match self.table.kinds.get(name) {
            Some(entry) => then(entry),
            None => {
                Response { value: T::default(), diagnostics: vec![no_such("resource type", name)] }
            }
        }
    }

    /// Waits, unless asked to stop before the time is over.
    async fn wait(&self, time: std::time::Duration) -> Result<(), Problem> {
        let mut stopped = self.stopped.subscribe();
        tokio::select! {
            () = tokio::time::sleep(time) => Ok(()),
            _ = stopped.wait_for(|it| *it) => Err(interrupted()),
        }
    }

    async fn change(
        &self,
        entry: &Entry<dyn Kind>,
        call: &ApplyCall<'_>,
    ) -> Result<Value, Problem> {
        let kind = entry.offer;
        if let Some(time) = kind.pause(call.prior, call.planned)? {
            self.wait(time).await?;
        }
        if call.planned.is_null() {
            kind.delete(&self.world, call.prior)?;
            return Ok(call.planned.clone());
        }
        let mut object = Fields::of(entry.ty, call.planned);
        if call.prior.is_null() {
            kind.create(&self.world, &mut object)?
        } else {
            kind.update(&mut object)?
        }
        Ok(object.into_value())
    }

    async fn fetch(
        &self,
        sources: &FxHashMap<&'static str, Entry<dyn Source>>,
        (name, address): (&str, Option<&Instance>),
        config: &Value,
    ) -> Response<Option<Value>> {
        let Some(entry) = sources.get(name) else { return failed(no_such("source", name)) };
        let mut result = Fields::of(entry.ty, config);
        let mut stopped = self.stopped.subscribe();
        let read = tokio::select! {
            biased;
            read = entry.offer.read_at(address, &self.world, config, &mut result) => read,
            _ = stopped.wait_for(|it| *it) => Err(interrupted()),
        };
        match read {
            Ok(()) => Response::ok(Some(result.into_value())),
            Err(problem) => {
                let mut response = failed(problem);
                response.diagnostics.extend(entry.offer.afterword());
                response
            }
        }
    }
}

fn validate_source(
    sources: &FxHashMap<&'static str, Entry<dyn Source>>,
    name: &str,
    config: &Value,
) -> Vec<Problem> {
    let Some(entry) = sources.get(name) else { return vec![no_such("source", name)] };
    let mut found: Vec<Problem> = entry
        .offer
        .deprecated()
        .map(|instead| Problem::warning("Deprecated", instead))
        .into_iter()
        .collect();
    entry.offer.check(config, &mut found);
    check_attributes(entry.offer.attributes(), config, &mut found);
    found
}

#[async_trait]
impl Provider for Host {
    async fn schema(&self) -> Response<Arc<ProviderSchema>> {
        Response::ok(self.table.schema.clone())
    }

    async fn validate_provider(&self, _: &Value) -> Vec<Problem> {
        Vec::new()
    }

    async fn configure(&self, _: &Value) -> Vec<Problem> {
        Vec::new()
    }

    async fn validate_resource(&self, kind: &str, config: &Value) -> Vec<Problem> {
        self.kind(kind, |entry| Response { value: (), diagnostics: entry.offer.validate(config) })
            .diagnostics
    }

    async fn validate_data(&self, kind: &str, config: &Value) -> Vec<Problem> {
        validate_source(&self.table.data_sources, kind, config)
    }

    async fn upgrade(&self, kind: &str, version: u64, stored: &str) -> Response<Option<Value>> {
        self.kind(kind, |entry| match upgraded(entry, &self.world, version, stored) {
            Ok(value) => Response::ok(Some(value)),
            Err(problem) => failed(problem),
        })
    }

    async fn read(
        &self,
        kind: &str,
        prior: &Value,
        private: &[u8],
        _: Option<&Value>,
    ) -> Response<Option<ReadObject>> {
        self.kind(kind, |entry| match entry.offer.is_there(&self.world, prior) {
            Ok(true) => Response::ok(Some(ReadObject {
                value: prior.clone(),
                private: private.to_vec(),
                identity: None,
            })),
            Ok(false) => Response::ok(Some(ReadObject {
                value: Value::Null(entry.ty),
                private: private.to_vec(),
                identity: None,
            })),
            Err(problem) => failed(problem),
        })
    }

    async fn plan(&self, call: PlanCall<'_>) -> Response<Option<PlannedObject>> {
        self.kind(call.kind, |entry| entry.offer.plan(entry.ty, &self.world, &call))
    }

    async fn apply(&self, call: ApplyCall<'_>) -> Response<Option<AppliedObject>> {
        let Some(entry) = self.table.kinds.get(call.kind) else {
            return failed(no_such("resource type", call.kind));
        };
        let (value, diagnostics) = match self.change(entry, &call).await {
            Ok(value) => (value, Vec::new()),
            // What failed to be made is not there; what failed to change or go is as it was.
            Err(problem) => (call.prior.clone(), vec![problem]),
        };
        Response {
            value: Some(AppliedObject {
                value,
                private: call.private.to_vec(),
                identity: None,
                legacy_types: false,
            }),
            diagnostics,
        }
    }

    async fn import(&self, kind: &str, name: &ImportName) -> Response<Vec<ImportedObject>> {
        // Nothing here is identified in another way.
        let id = name.id().unwrap_or_default();
        self.kind(kind, |entry| {
            let mut object = Fields::empty(entry.ty);
            match entry
                .offer
                .import(&self.world, id, &mut object)
                .unwrap_or_else(|| Err(no_import(kind)))
            {
                Ok(()) => Response::ok(vec![ImportedObject {
                    kind: kind.to_owned(),
                    value: object.into_value(),
                    private: Vec::new(),
                    identity: None,
                }]),
                Err(problem) => Response { value: Vec::new(), diagnostics: vec![problem] },
            }
        })
    }

    async fn move_state(
        &self,
        _: &str,
        from_kind: &str,
        _: u64,
        stored: &str,
        kind: &str,
    ) -> Response<Option<ReadObject>> {
        self.kind(kind, |entry| {
            let mut object = Fields::empty(entry.ty);
            let taken = entry.offer.take_over(from_kind, stored, &mut object);
            match taken.unwrap_or_else(|| Err(no_move(from_kind, kind))) {
                Ok(()) => Response::ok(Some(ReadObject {
                    value: object.into_value(),
                    private: Vec::new(),
                    identity: None,
                })),
                Err(problem) => failed(problem),
            }
        })
    }

    async fn read_data(&self, kind: &str, config: &Value) -> Response<Option<Value>> {
        self.fetch(&self.table.data_sources, (kind, None), config).await
    }

    async fn read_data_at(
        &self,
        address: &Instance,
        kind: &str,
        config: &Value,
    ) -> Response<Option<Value>> {
        self.fetch(&self.table.data_sources, (kind, Some(address)), config).await
    }

    async fn validate_ephemeral(&self, kind: &str, config: &Value) -> Vec<Problem> {
        validate_source(&self.table.ephemeral, kind, config)
    }

    async fn open(&self, kind: &str, config: &Value) -> Response<Option<OpenedEphemeral>> {
        let Response { value, diagnostics } =
            self.fetch(&self.table.ephemeral, (kind, None), config).await;
        Response {
            value: value.map(|value| OpenedEphemeral {
                value,
                private: Vec::new(),
                renew_at: None,
            }),
            diagnostics,
        }
    }

    async fn close(&self, _: &str, _: &[u8]) -> Vec<Problem> {
        Vec::new()
    }

    async fn call(
        &self,
        name: &str,
        arguments: &[Value],
    ) -> Result<Value, (Option<usize>, String)> {
        let Some(function) = self.table.functions.get(name) else {
            return Err((None, format!("There is no function {name:?}.")));
        };
        if let Some(index) = arguments.iter().position(Value::is_null) {
            return Err((Some(index), "argument must not be null".to_owned()));
        }
        if arguments.iter().any(|it| !it.is_wholly_known()) {
            return Ok(Value::unknown((function.returns)()));
        }
        (function.body)(&self.world, arguments)
    }

    async fn stop(&self) {
        self.stopped.send_replace(true);
    }
}

/// The provider was asked to stop while it waited for something.
fn interrupted() -> Problem {
    Problem::error("Wait interrupted", "The program was asked to stop before the time was over.")
}

fn upgraded(
    entry: &Entry<dyn Kind>,
    world: &World,
    version: u64,
    stored: &str,
) -> Result<Value, Problem> {
    let kind = entry.offer;
    let value = from_stored_json(stored, entry.ty)
        .map_err(|why| unreadable(kind.name(), &why.to_string()))?;
    if version == kind.version() {
        return Ok(value);
    }
    let mut object = Fields::of(entry.ty, &value);
    kind.upgrade(world, version, &mut object)
        .unwrap_or_else(|| Err(no_upgrade(kind.name(), version, kind.version())))?;
    Ok(object.into_value())
}

fn no_such(what: &str, name: &str) -> Problem {
    Problem::error("Unsupported type", format!("This provider has no {what} {name:?}."))
}

fn unreadable(kind: &str, why: &str) -> Problem {
    Problem::error(
        "Unable to Read Previously Saved State for UpgradeResourceState",
        format!("The stored object is no {kind}: {why}."),
    )
}

fn no_upgrade(kind: &str, from: u64, to: u64) -> Problem {
    Problem::error(
        "Unable to Upgrade Resource State",
        format!("There is no way from version {from} of {kind} to version {to}."),
    )
}

fn no_import(kind: &str) -> Problem {
    Problem::error(
        "Resource Import Not Implemented",
        format!("Objects of {kind} cannot be imported."),
    )
}

fn no_move(from: &str, to: &str) -> Problem {
    Problem::error(
        "Unable to Move Resource State",
        format!("An object of {from} cannot become one of {to}."),
    )
}
