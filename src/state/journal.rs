//! The journal of finished steps, as text: what one line says, and what a state becomes by it.
//!
//! The first line names the snapshot that the steps started from; each further line holds one change. A line starts
//! with a checksum, so that a torn last line is known as such. Writing it safely is `execute`'s, finding it `backend`'s.

use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::read::{Reader, output_from};
use super::text::{JsonWriter, Layout};
use super::version4::{ObjectV4, OutputV4};
use super::write::{write_object, write_output, write_reads};
use super::{Object, OutputValue, ResourceState, Shared, State, names};
use crate::address::{Instance, InstanceKey, ProviderConfig};
use crate::value::Str;

/// The snapshot that a journal continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// Its lineage; empty where there was no snapshot yet.
    pub lineage: String,
    /// Its serial.
    pub serial: u64,
    /// The lineage of what follows: the same, or the new one where there was none.
    pub next_lineage: String,
}

/// One finished change.
#[derive(Clone, Debug)]
pub enum Record {
    /// An object is now this.
    Written {
        /// Its instance.
        address: Instance,
        /// The key of a deposed object; `None` for the current one.
        deposed: Option<Str>,
        /// The provider configuration of its resource.
        provider: ProviderConfig,
        /// The instance of that configuration.
        provider_key: InstanceKey,
        /// The object.
        object: Box<Object>,
    },
    /// An object is gone.
    Removed {
        /// Its instance.
        address: Instance,
        /// The key of a deposed object; `None` for the current one.
        deposed: Option<Str>,
    },
    /// A root output is now this; `None` when it is gone.
    Output {
        /// Its name.
        name: Str,
        /// Its value.
        value: Option<OutputValue>,
    },
}

/// Writes the first line.
pub fn first_line(base: &Base) -> String {
    let mut json = JsonWriter::new(Layout::Compact);
    json.open('{');
    json.key("journal");
    json.literal(1);
    json.member("lineage", &base.lineage);
    json.key("serial");
    json.literal(base.serial);
    json.member("next_lineage", &base.next_lineage);
    json.close('}');
    sealed(&json.finish())
}

/// Writes a record as a line.
pub fn line(record: &Record) -> String {
    let mut json = JsonWriter::new(Layout::Compact);
    json.open('{');
    match record {
        Record::Written { address, deposed, provider, provider_key, object } => {
            json.member("address", &address.to_string());
            json.key("object");
            let provider = format!("{provider}{provider_key}");
            write_object(&mut json, &address.key, deposed.as_ref(), Some(&provider), object);
            if let Some(reads) = &object.reads {
                json.key("reads");
                write_reads(&mut json, reads);
            }
        }
        Record::Removed { address, deposed } => {
            json.member("address", &address.to_string());
            json.member_unless_empty("deposed", deposed.as_deref().unwrap_or_default());
        }
        Record::Output { name, value } => {
            json.member("output", name);
            if let Some(value) = value {
                json.key("value");
                write_output(&mut json, value);
            }
        }
    }
    json.close('}');
    sealed(&json.finish())
}

fn sealed(json: &str) -> String {
    format!("{} {json}\n", checksum(json))
}

fn checksum(json: &str) -> String {
    Sha256::digest(json.as_bytes())[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads a journal: its base and its whole records. What follows a torn line was never reported and is left out.
/// `None` where not even the first line is whole.
pub fn read(text: &[u8]) -> Option<(Base, Vec<Record>)> {
    let mut lines = text.split_inclusive(|&it| it == b'\n').map_while(unsealed);
    let base = read_base(lines.next()?)?;
    let mut reader = Reader::default();
    Some((base, lines.map_while(|line| read_record(&mut reader, line)).collect()))
}

fn unsealed(line: &[u8]) -> Option<&str> {
    let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let (sum, json) = line.split_once(' ')?;
    (sum == checksum(json)).then_some(json)
}

fn read_base(json: &str) -> Option<Base> {
    #[derive(Deserialize)]
    struct Line {
        journal: u64,
        lineage: String,
        serial: u64,
        next_lineage: String,
    }
    let line: Line = serde_json::from_str(json).ok()?;
    let base = Base { lineage: line.lineage, serial: line.serial, next_lineage: line.next_lineage };
    (line.journal == 1).then_some(base)
}

fn read_record(reader: &mut Reader, json: &str) -> Option<Record> {
    #[derive(Deserialize)]
    struct Line<'a> {
        #[serde(default)]
        address: Option<String>,
        #[serde(default)]
        deposed: Option<String>,
        #[serde(borrow, default)]
        object: Option<&'a RawValue>,
        #[serde(default)]
        reads: Option<Vec<String>>,
        #[serde(default)]
        output: Option<String>,
        #[serde(borrow, default)]
        value: Option<&'a RawValue>,
    }
    let line: Line<'_> = serde_json::from_str(json).ok()?;
    if let Some(name) = line.output {
        let value = match line.value {
            Some(value) => Some(
                output_from(&name, &serde_json::from_str::<OutputV4<'_>>(value.get()).ok()?)
                    .ok()?,
            ),
            None => None,
        };
        return Some(Record::Output { name: name.into(), value });
    }
    let address = names::instance(&line.address?)?;
    let Some(object) = line.object else {
        return Some(Record::Removed { address, deposed: line.deposed.map(Str::from) });
    };
    let object: ObjectV4<'_> = serde_json::from_str(object.get()).ok()?;
    let (provider, provider_key) = reader.provider(object.provider()?)?;
    let (_, deposed, mut object) = reader.object(&address.of(), object).ok()?;
    object.reads = line.reads.map(|it| it.into_iter().map(Str::from).collect());
    Some(Record::Written { address, deposed, provider, provider_key, object: Box::new(object) })
}

impl State {
    /// Takes over one finished change.
    pub fn record(&mut self, record: Record) {
        match record {
            Record::Written { address, deposed, provider, provider_key, object } => {
                let fresh =
                    || ResourceState { provider: provider.clone(), instances: Default::default() }.into();
                let resource = self.resources.entry(address.of()).or_insert_with(fresh);
                resource.provider = provider;
                let instance = resource.instances.entry(address.key).or_default();
                instance.provider_key = provider_key;
                match deposed {
                    Some(key) => drop(instance.deposed.insert(key, (*object).into())),
                    None => instance.current = Some((*object).into()),
                }
            }
            Record::Removed { address, deposed } => {
                drop(self.remove_object(&address, deposed.as_deref()))
            }
            Record::Output { name, value: Some(value) } => drop(self.outputs.insert(name, value)),
            Record::Output { name, value: None } => drop(self.outputs.remove(&name)),
        }
    }

    /// Takes an object out, and its instance and resource where they hold no other.
    pub fn remove_object(&mut self, address: &Instance, deposed: Option<&str>) -> Option<Object> {
        let of = address.of();
        let resource = self.resources.get_mut(&of)?;
        let instance = resource.instances.get_mut(&address.key)?;
        let object = match deposed {
            Some(key) => instance.deposed.remove(key),
            None => instance.current.take(),
        };
        if instance.current.is_none() && instance.deposed.is_empty() {
            resource.instances.remove(&address.key);
        }
        if resource.instances.is_empty() {
            self.resources.remove(&of);
        }
        object.map(Shared::into_inner)
    }
}
