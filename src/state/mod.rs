//! Snapshots of what exists: the model, and the file formats it is read from and written to.

use std::collections::BTreeMap;

use arcstr::Substr;

use crate::address::{Instance, InstanceKey, Keyed, ProviderConfig, RareMap};
use crate::rarely::{Rarely, plain};
use crate::value::{Str, Type, Value};

pub mod journal;
mod legacy;
pub mod names;
pub mod objects;
mod problems;
pub mod providers;
pub mod read;
mod same;
mod recognise;
pub mod renames;
mod resources;
mod shared;
mod stored;
#[cfg(test)]
mod tests;
pub mod text;
pub mod unconfirmed;
mod version4;
pub mod write;

pub use resources::Resources;
pub use same::{digest, is_same, is_same_record};
pub use shared::Shared;
pub use unconfirmed::Unconfirmed;

/// What exists, as last recorded.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Which history this snapshot belongs to: a UUID, empty before the first write.
    pub lineage: String,
    /// Counts the snapshots of a lineage, from 1.
    pub serial: u64,
    /// The version of the program that wrote it, where it was read from a file.
    pub written_by: Option<String>,
    /// Root outputs by name.
    pub outputs: BTreeMap<Str, OutputValue>,
    /// Resources in no order; instances of one resource stand together.
    pub resources: Resources,
    /// Results of conditions, as last recorded.
    pub checks: Option<Vec<CheckResult>>,
    /// Objects that may exist without a record, mostly none.
    pub unconfirmed: Vec<Unconfirmed>,
}

/// A root output as recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputValue {
    /// Its value, unmarked.
    pub value: Value,
    /// Its type as recorded.
    pub ty: Type,
    /// Whether it is sensitive.
    pub sensitive: bool,
    /// `deprecated`
    pub deprecated: Option<Str>,
}

/// A resource of one module instance: its provider and its instances.
#[derive(Clone, Debug)]
pub struct ResourceState {
    /// The provider configuration that all its instances use.
    pub provider: Shared<ProviderConfig>,
    /// Its instances by key.
    pub instances: Keyed<InstanceState>,
}

/// An instance: its current object, if any, and deposed ones.
#[derive(Clone, Debug, Default)]
pub struct InstanceState {
    /// The key of the provider instance, where the provider configuration repeats.
    pub provider_key: InstanceKey,
    /// The current object.
    pub current: Option<Shared<Object>>,
    /// Deposed objects by key (8 hexadecimal digits).
    pub deposed: RareMap<Str, Shared<Object>>,
}

/// A remote object as recorded.
#[derive(Clone, Debug)]
pub struct Object {
    /// Whether it is whole.
    pub status: Status,
    /// The version of the schema that `attributes` follow.
    pub schema_version: u64,
    /// The attributes as stored: the JSON text of an object (or a legacy flat map). Decoded only with a schema.
    pub attributes: Attributes,
    /// The resources it rests on, as OpenTofu records them: addresses without instance keys.
    pub dependencies: Box<[Str]>,
    /// The instances it read, our own record (`None` where another program wrote the state).
    pub reads: Option<Box<[Str]>>,
    /// What that record calls it where others name it there, by this very text. It may have moved since.
    pub recorded_as: Option<Str>,
    /// Replaced by making the new one first.
    pub create_before_destroy: bool,
    /// Forgotten rather than destroyed.
    pub skip_destroy: bool,
    /// What else is recorded of it, mostly nothing.
    pub besides: Rarely<ObjectBesides>,
}

/// What a provider asks to keep, in words of its own: mostly nothing.
pub type Private = Rarely<Vec<u8>>;

/// What is recorded of few objects.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjectBesides {
    /// The paths of sensitive values within, as stored.
    pub sensitive: Box<[crate::value::Path]>,
    /// What the provider asked to keep.
    pub private: Private,
    /// The identity and its schema version, as stored.
    pub identity: Option<Box<StoredIdentity>>,
}

impl Object {
    /// Returns it with what its provider asked to keep, and by what it identifies the object.
    pub fn kept_with(mut self, private: Private, identity: Option<Box<StoredIdentity>>) -> Object {
        self.set_private(private);
        self.set_identity(identity);
        self
    }

    /// Says what the provider asked to keep.
    pub fn set_private(&mut self, private: Private) {
        if self.besides.private != private {
            self.besides.private = private;
        }
    }

    /// Says by what the object is identified.
    pub fn set_identity(&mut self, identity: Option<Box<StoredIdentity>>) {
        if identity.is_some() || self.besides.identity.is_some() {
            self.besides.identity = identity;
        }
    }

    /// Says which values within are sensitive.
    pub fn set_sensitive(&mut self, sensitive: Box<[crate::value::Path]>) {
        if self.besides.sensitive != sensitive {
            self.besides.sensitive = sensitive;
        }
    }
}

plain!(ObjectBesides);

/// An identity and the version of its schema.
pub type StoredIdentity = (Box<str>, u64);

/// Stored attributes.
#[derive(Clone, Debug)]
pub enum Attributes {
    /// JSON text of an object.
    Json(Substr),
    /// The flat map of state version 3 and older.
    Flat(RareMap<String, String>),
}

/// Whether an object is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Status {
    /// Whole.
    #[default]
    Ready,
    /// Half made: the next plan replaces it.
    Tainted,
}

/// The recorded result of the conditions of one object.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckResult {
    /// `resource`, `output`, `check` or `var`
    pub kind: Str,
    /// The block's address.
    pub config_address: Str,
    /// `pass`, `fail`, `error` or `unknown`
    pub status: Str,
    /// Each repetition: address, status, failure messages. `None` where nothing is known of them.
    pub objects: Option<Vec<(Str, Str, Vec<Str>)>>,
}

impl State {
    /// Returns the current object of an instance.
    pub fn current(&self, address: &Instance) -> Option<&Object> {
        self.instance(address)?.current.as_deref()
    }

    /// Returns an instance.
    pub fn instance(&self, address: &Instance) -> Option<&InstanceState> {
        self.instance_near(address, u32::MAX)
    }

    /// Returns an instance whose resource is likely to be the one at the place `near` of all.
    pub fn instance_near(&self, address: &Instance, near: u32) -> Option<&InstanceState> {
        self.resources.of_near(address, near)?.instances.get(&address.key)
    }

    /// Iterates over the addresses of all instances, deposed-only ones included, in address order.
    pub fn instances(&self) -> impl Iterator<Item = (Instance, &ResourceState, &InstanceState)> {
        self.resources.iter().flat_map(|(address, resource)| {
            resource
                .instances
                .iter()
                .map(move |(key, instance)| (address.instance(key.clone()), &**resource, instance))
        })
    }

    /// Returns whether nothing is recorded.
    pub fn is_empty(&self) -> bool {
        self.resources.is_empty() && self.outputs.is_empty() && self.unconfirmed.is_empty()
    }
}
