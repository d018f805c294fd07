//! The journal of finished steps, as text: what one line says, and what a state becomes by it.
//!
//! The first line names the snapshot that the steps started from. A step that is about to be asked of a provider has a line
//! (`begun`) before it is asked, and one after it: its changes, or that it has ended without any (`ended`). So what was begun
//! and has no later line about the same object may exist, or be gone, without being recorded. A line starts with a checksum, so
//! that a torn last line is known as such. Writing it safely is `execute`'s, finding it `backend`'s.
//!
//! Where the state is stored while the run goes on, a line (`stored`) says so first, with the serial: the steps before it are in that
//! snapshot if it came to be, and the journal continues either.
//!
//! Each line behind the first has a number and the checksum of the line before it, so that lines that were removed, exchanged,
//! moved or doubled are noticed ([`Chain`]). Journals up to version 3 lack that: they are read, and told to be of an older version,
//! since nothing shows whether they are whole.

use sha2::{Digest, Sha256};

use super::text::{JsonWriter, Layout};
use super::write::{own_reads, write_object, write_output, write_reads};
use super::{Attributes, Object, OutputValue, Shared, State, Unconfirmed};
use crate::address::{Instance, InstanceKey, ProviderConfig};
use crate::value::Str;

mod reading;

use self::reading::parsed;
pub use self::reading::{Flaw, JournalContents, is_journal, read};

/// The snapshot that a journal continues.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Base {
    /// Its lineage; empty where there was no snapshot yet.
    pub lineage: String,
    /// Its serial.
    pub serial: u64,
    /// The lineage of what follows: the same, or the new one where there was none.
    pub next_lineage: String,
    /// The digest of the plan that is carried out, as the log has it; empty where it is not known.
    pub plan: String,
}

/// The lines of a journal that is written: each is tied to the one before it.
#[derive(Clone, Debug)]
pub struct Chain {
    /// How many lines there are.
    number: u64,
    /// The checksum of the last one.
    last: String,
}

impl Chain {
    /// Begins a journal. Returns its first line.
    pub fn begin(base: &Base) -> (Chain, String) {
        let line = first_line(base);
        let chain = Chain { number: 1, last: line[..CHECKSUM].to_owned() };
        (chain, line)
    }

    /// Returns the next line, which says this.
    pub fn line(&mut self, json: &str) -> String {
        let line = sealed(&format!("{} {} {json}", self.number, self.last));
        self.number += 1;
        self.last.replace_range(.., &line[..CHECKSUM]);
        line
    }

    /// Stands for all lines: their number, and the checksum of the last one.
    pub fn head(&self) -> String {
        format!("{}-{}", self.number, self.last)
    }
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

/// A step that a provider is about to be asked for, with what is known of its object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begun {
    /// Its instance.
    pub address: Instance,
    /// The key of a deposed object; `None` for the current one.
    pub deposed: Option<Str>,
    /// What is asked for: `create`, `update`, `delete`.
    pub action: String,
    /// The provider.
    pub provider: String,
    /// Attributes that may tell which object it is, by name. Nothing sensitive is among them.
    pub known: Vec<(String, String)>,
}

impl Begun {
    /// Returns the note of a creation without an answer; `None` where the step creates nothing.
    pub fn unconfirmed(&self) -> Option<Unconfirmed> {
        (self.action == "create").then(|| Unconfirmed {
            address: self.address.clone(),
            provider: self.provider.clone(),
            known: self.known.clone(),
        })
    }
}

/// Says that a step is about to begin.
pub fn begun_json(step: &Begun) -> String {
    let mut json = JsonWriter::new(Layout::Compact);
    json.open('{');
    json.member("begun", &step.action);
    json.member("address", &step.address.to_string());
    json.member_unless_empty("deposed", step.deposed.as_deref().unwrap_or_default());
    json.member("provider", &step.provider);
    json.key("known");
    json.open('{');
    step.known.iter().for_each(|(name, value)| json.member(name, value));
    json.close('}');
    json.close('}');
    json.finish()
}

/// Says that a step has ended and changed nothing.
pub fn ended_json(address: &Instance) -> String {
    let mut json = JsonWriter::new(Layout::Compact);
    json.open('{');
    json.member("ended", &address.to_string());
    json.close('}');
    json.finish()
}

/// Says that a snapshot of this serial is about to be written, while the run goes on.
pub fn stored_json(serial: u64) -> String {
    let mut json = JsonWriter::new(Layout::Compact);
    json.open('{');
    json.key("stored");
    json.literal(serial);
    json.close('}');
    json.finish()
}

fn first_line(base: &Base) -> String {
    let mut json = JsonWriter::new(Layout::Compact);
    json.open('{');
    json.key("journal");
    json.literal(VERSION);
    json.member("lineage", &base.lineage);
    json.key("serial");
    json.literal(base.serial);
    json.member("next_lineage", &base.next_lineage);
    json.member_unless_empty("plan", &base.plan);
    json.close('}');
    sealed(&json.finish())
}

/// Says what records say: they count together or, where the line is torn, not at all.
pub fn records_json(records: &[Record]) -> String {
    let mut json = JsonWriter::new(Layout::Compact);
    match records {
        [record] => write_record(&mut json, record),
        records => {
            json.open('[');
            for record in records {
                json.element();
                write_record(&mut json, record);
            }
            json.close(']');
        }
    }
    json.finish()
}

fn write_record(json: &mut JsonWriter, record: &Record) {
    json.open('{');
    match record {
        Record::Written { address, deposed, provider, provider_key, object } => {
            json.member("address", &address.to_string());
            json.key("object");
            let provider = format!("{provider}{provider_key}");
            write_object(json, &address.key, deposed.as_ref(), Some(&provider), object);
            if let Some(reads) = &object.reads {
                json.key("made_from");
                write_reads(json, reads);
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
                write_output(json, value);
            }
        }
    }
    json.close('}');
}

fn sealed(json: &str) -> String {
    format!("{} {json}\n", checksum(json))
}

/// Returns a line as any version may have written it.
#[cfg(test)]
pub(crate) fn sealed_for_tests(text: &str) -> String {
    sealed(text).trim_end().to_owned()
}

/// How many digits a checksum has.
const CHECKSUM: usize = 16;

fn checksum(json: &str) -> String {
    Sha256::digest(json.as_bytes())[..CHECKSUM / 2]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

impl Record {
    /// Returns the instance that it is about.
    fn address(&self) -> Option<&Instance> {
        match self {
            Record::Written { address, .. } | Record::Removed { address, .. } => Some(address),
            Record::Output { .. } => None,
        }
    }
}

/// Returns the changes that lead from one state to another, apart from results of conditions.
pub fn difference(old: &State, new: &State) -> Vec<Record> {
    let mut records = Vec::new();
    for (address, _, instance) in old.instances() {
        let now = new.instance(&address);
        let gone = |deposed: Option<Str>| Record::Removed { address: address.clone(), deposed };
        if instance.current.is_some() && now.is_none_or(|it| it.current.is_none()) {
            records.push(gone(None));
        }
        let deposed = instance
            .deposed
            .keys()
            .filter(|key| now.is_none_or(|it| !it.deposed.contains_key(*key)));
        records.extend(deposed.map(|key| gone(Some(key.clone()))));
    }
    for (address, resource, instance) in new.instances() {
        let before = old.instance(&address);
        let is_served_alike = before.is_some_and(|it| it.provider_key == instance.provider_key)
            && old.resources.get(&address.of()).is_some_and(|it| it.provider == resource.provider);
        let mut compare = |deposed: Option<&Str>, object: &Object, before: Option<&Object>| {
            if !is_served_alike || before.is_none_or(|it| !is_same(it, object)) {
                records.push(Record::Written {
                    address: address.clone(),
                    deposed: deposed.cloned(),
                    provider: resource.provider.clone().into_inner(),
                    provider_key: instance.provider_key.clone(),
                    object: Box::new(object.clone()),
                });
            }
        };
        if let Some(object) = &instance.current {
            compare(None, object, before.and_then(|it| it.current.as_deref()));
        }
        for (key, object) in &instance.deposed {
            compare(Some(key), object, before.and_then(|it| it.deposed.get(key)).map(|it| &**it));
        }
    }
    for (name, value) in &new.outputs {
        if old.outputs.get(name) != Some(value) {
            records.push(Record::Output { name: name.clone(), value: Some(value.clone()) });
        }
    }
    let gone = old.outputs.keys().filter(|it| !new.outputs.contains_key(*it));
    records.extend(gone.map(|it| Record::Output { name: it.clone(), value: None }));
    records
}

/// Returns whether two objects are written alike.
fn is_same(one: &Object, other: &Object) -> bool {
    let alike = |a: &Object, b: &Object| {
        a.status == b.status
            && a.schema_version == b.schema_version
            && a.besides == b.besides
            && a.dependencies == b.dependencies
            && own_reads(a) == own_reads(b)
            && a.create_before_destroy == b.create_before_destroy
            && a.skip_destroy == b.skip_destroy
    };
    let attributes = match (&one.attributes, &other.attributes) {
        (Attributes::Json(a), Attributes::Json(b)) => {
            a == b || parsed(a).is_some_and(|a| Some(a) == parsed(b))
        }
        (Attributes::Flat(a), Attributes::Flat(b)) => a == b,
        _ => false,
    };
    attributes && alike(one, other)
}

/// Returns whether a state holds all that the records say: each object as it was written last, none that went.
pub fn holds(state: &State, records: &[Record]) -> bool {
    let mut last = std::collections::BTreeMap::new();
    for record in records {
        match record {
            Record::Written { address, deposed, object, .. } => {
                last.insert((address, deposed), Some(object))
            }
            Record::Removed { address, deposed } => last.insert((address, deposed), None),
            Record::Output { .. } => None,
        };
    }
    last.into_iter().all(|((address, deposed), object)| {
        let instance = state.instance(address);
        let now = match deposed {
            Some(key) => instance.and_then(|it| it.deposed.get(key)),
            None => instance.and_then(|it| it.current.as_ref()),
        };
        match (now, object) {
            (None, None) => true,
            (Some(now), Some(object)) => is_same(now, object),
            _ => false,
        }
    })
}

/// The version of what this program writes.
const VERSION: u64 = 4;
/// The first version whose lines are chained.
const CHAINED: u64 = 4;

impl State {
    /// Takes over one finished change.
    pub fn record(&mut self, record: Record) {
        match record {
            Record::Written { address, deposed, provider, provider_key, object } => {
                let resource = self.resources.now_served_by(address.of(), &provider);
                let instance = resource.instances.or_default(address.key);
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
