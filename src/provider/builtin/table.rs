//! What an embedded provider offers: its kinds, data sources, ephemeral resources and functions, each with its schema.

use std::sync::Arc;

use async_trait::async_trait;
use rustc_hash::FxHashMap;

use super::attribute::{Attribute, Shape, schema};
use super::fields::Fields;
use super::resource::{Kind, Problem};
use crate::address::Instance;
use crate::schema::{FunctionParameter, FunctionSignature, ProviderSchema, Schema, Schemas};
use crate::value::{Type, Value};
use crate::world::World;

/// A data source, or an ephemeral resource.
#[async_trait]
pub(super) trait Source: Send + Sync {
    /// Returns its name.
    fn name(&self) -> &'static str;

    /// Returns its attributes.
    fn attributes(&self) -> &'static [Attribute];

    /// Returns what to use instead, where use gives a warning.
    fn deprecated(&self) -> Option<&'static str> {
        None
    }

    /// Checks a configuration by rules beyond types. What is unknown waits.
    fn check(&self, config: &Value, found: &mut Vec<Problem>) {
        let _ = (config, found);
    }

    /// Returns what is said once more when it cannot be read.
    fn afterword(&self) -> Option<Problem> {
        None
    }

    /// Reads it as the data source that has an address.
    async fn read_at(
        &self,
        _: Option<&Instance>,
        world: &Arc<World>,
        config: &Value,
        result: &mut Fields,
    ) -> Result<(), Problem> {
        self.read(world, config, result).await
    }

    /// Reads it: `result` comes as configured and leaves complete.
    async fn read(
        &self,
        world: &Arc<World>,
        config: &Value,
        result: &mut Fields,
    ) -> Result<(), Problem>;
}

/// The result of a function. The error names the argument at fault, from 0, and says why.
pub(super) type Called = Result<Value, (Option<usize>, String)>;

/// A provider's function.
pub(super) struct Function {
    /// Its name.
    pub name: &'static str,
    /// Its parameters: name and type.
    pub parameters: &'static [(&'static str, Shape)],
    /// The type of its result.
    pub returns: fn() -> Type,
    /// What it does; arguments are known and not null.
    pub body: fn(&World, &[Value]) -> Called,
}

/// Everything a provider offers, by name.
pub(super) struct Table {
    pub schema: Arc<ProviderSchema>,
    pub kinds: FxHashMap<&'static str, Entry<dyn Kind>>,
    pub data_sources: FxHashMap<&'static str, Entry<dyn Source>>,
    pub ephemeral: FxHashMap<&'static str, Entry<dyn Source>>,
    pub functions: FxHashMap<&'static str, &'static Function>,
}

pub(super) struct Entry<T: ?Sized + 'static> {
    pub offer: &'static T,
    pub schema: Arc<Schema>,
    pub ty: Type,
}

impl<T: ?Sized> Entry<T> {
    fn new(offer: &'static T, schema: Schema) -> Entry<T> {
        Entry { ty: schema.block.ty(), schema: Arc::new(schema), offer }
    }
}

impl Table {
    pub(super) fn new(
        kinds: &[&'static dyn Kind],
        data_sources: &[&'static dyn Source],
        ephemeral: &[&'static dyn Source],
        functions: &'static [Function],
    ) -> Table {
        let sources = |sources: &[&'static dyn Source]| -> FxHashMap<_, _> {
            let entry = |it: &'static dyn Source| {
                Entry::new(it, schema(0, it.attributes(), it.deprecated()))
            };
            sources.iter().map(|it| (it.name(), entry(*it))).collect()
        };
        let kind =
            |it: &'static dyn Kind| Entry::new(it, schema(it.version(), it.attributes(), None));
        let kinds = kinds.iter().map(|it| (it.name(), kind(*it))).collect();
        let (data_sources, ephemeral) = (sources(data_sources), sources(ephemeral));
        let schema = ProviderSchema {
            provider: Schema::default(),
            meta: None,
            resources: schemas(&kinds),
            data_sources: schemas(&data_sources),
            ephemeral: schemas(&ephemeral),
            functions: functions
                .iter()
                .map(|it| (it.name.into(), Arc::new(it.signature())))
                .collect(),
        };
        Table {
            schema: Arc::new(schema),
            kinds,
            data_sources,
            ephemeral,
            functions: functions.iter().map(|it| (it.name, it)).collect(),
        }
    }
}

fn schemas<T: ?Sized>(entries: &FxHashMap<&'static str, Entry<T>>) -> Schemas {
    entries.iter().map(|(name, it)| ((*name).into(), it.schema.clone())).collect()
}

impl Function {
    fn signature(&self) -> FunctionSignature {
        let parameters = self
            .parameters
            .iter()
            .map(|(name, shape)| FunctionParameter::of(*name, shape.ty()))
            .collect();
        FunctionSignature {
            parameters,
            variadic: None,
            returns: (self.returns)(),
            summary: None,
            description: None,
        }
    }
}
