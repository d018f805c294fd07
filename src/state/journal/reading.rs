//! Lines of a journal to records, up to the first that is damaged.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::names;
use super::super::read::own::{Likely, is_complete};
use super::super::read::{Reader, output_from};
use super::super::version4::{ObjectV4, OutputV4};
use super::{Base, Begun, CHAINED, CHECKSUM, Record, VERSION, checksum};
use crate::address::Instance;
use crate::value::Str;

/// A journal as read.
#[derive(Debug, Default)]
pub struct JournalContents {
    /// The snapshot it continues; `None` where the first line is not whole.
    pub base: Option<Base>,
    /// Its whole records, in order.
    pub records: Vec<Record>,
    /// Steps that were begun and of whose end nothing is said, in order.
    pub unfinished: Vec<Begun>,
    /// Objects that were created and recorded, in order.
    pub created: Vec<Instance>,
    /// Snapshots that were written, or were about to be, while the run went on: the serial, and how many records stand before.
    pub stored: Vec<(u64, usize)>,
    /// Why it is not wholly read.
    pub flaw: Option<Flaw>,
    /// The version, where it is one whose lines are not chained.
    older: Option<u64>,
}

/// Why a journal is not wholly read. A last line without its end is no flaw: it was being written when the run ended, and was
/// never reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// The first line does not say which snapshot it continues.
    Start,
    /// A newer version of the program has written it.
    Newer(u64),
    /// So many lines cannot be read.
    Lines(usize),
    /// In so many places lines are missing, or stand where they were not written.
    Order(usize),
    /// An older version of the program has written it, whose journals do not show whether lines are missing.
    Older(u64),
}

/// Follows the chain of lines.
struct Links {
    /// The number that the next line must have.
    number: u64,
    /// The checksum that it must name; nothing where the line before it cannot be read.
    last: Option<String>,
    broken: usize,
}

impl Links {
    /// Begins behind the first line.
    fn behind(line: &[u8]) -> Links {
        Links { number: 1, last: sum_of(line).map(str::to_owned), broken: 0 }
    }

    /// Takes the next line. Returns what it says, wherever it stands.
    fn take<'a>(&mut self, line: Option<&'a str>, sum: Option<&str>) -> Option<&'a str> {
        let found = line.and_then(|it| {
            let (number, rest) = it.split_once(' ')?;
            let (last, json) = rest.split_once(' ')?;
            Some((number.parse::<u64>().ok()?, last, json))
        });
        let Some((number, last, json)) = found else {
            (self.number, self.last) = (self.number + 1, None);
            return None;
        };
        let fits = number == self.number && self.last.as_deref().is_none_or(|it| it == last);
        self.broken += usize::from(!fits);
        (self.number, self.last) = (number.saturating_add(1), sum.map(str::to_owned));
        Some(json)
    }
}

/// Whether a text begins as a journal does.
pub fn is_journal(text: &[u8]) -> bool {
    let first = text.split_inclusive(|it| *it == b'\n').next().and_then(unsealed);
    first.is_some_and(|it| read_base(it).is_ok())
}

/// Reads a journal. A record says what an object is, whatever it was before, so those behind a damaged line count too.
pub fn read(text: &[u8]) -> JournalContents {
    let mut reader = Reader::default();
    let mut found = JournalContents::default();
    let mut unread = 0;
    let mut links = None;
    for (index, line) in text.split_inclusive(|&it| it == b'\n').enumerate() {
        let json = unsealed(line);
        if index == 0 {
            match json.map(read_base) {
                Some(Ok((base, version))) => {
                    found.base = Some(base);
                    match version {
                        CHAINED.. => links = Some(Links::behind(line)),
                        older => found.older = Some(older),
                    }
                }
                Some(Err(flaw)) => found.flaw = Some(flaw),
                None if is_torn(line) => {}
                None => found.flaw = Some(Flaw::Start),
            }
            // Where the first line cannot be read, those behind it are read as this version writes them.
            if found.flaw.is_some() {
                links = Some(Links { number: 1, last: None, broken: 0 });
            }
            continue;
        }
        let json = match &mut links {
            Some(links) if !(json.is_none() && is_torn(line)) => links.take(json, sum_of(line)),
            _ => json,
        };
        match json.and_then(|it| read_line(&mut reader, it)) {
            Some(Line::Begun(step)) => found.unfinished.push(*step),
            Some(Line::Ended(address)) => found.end(&address),
            Some(Line::Stored(serial)) => found.stored.push((serial, found.records.len())),
            Some(Line::Records(records)) => {
                found.note_created(&records);
                records.iter().filter_map(Record::address).for_each(|it| found.end(it));
                found.records.extend(records);
            }
            None if is_torn(line) => {}
            None => unread += 1,
        }
    }
    let broken = links.map_or(0, |it| it.broken);
    let in_order = [
        (unread > 0).then_some(Flaw::Lines(unread)),
        (broken > 0).then_some(Flaw::Order(broken)),
        found.older.map(Flaw::Older),
    ];
    found.flaw = found.flaw.or(in_order.into_iter().flatten().next());
    found
}

impl JournalContents {
    /// Notes which of the objects that were being created are recorded now.
    fn note_created(&mut self, records: &[Record]) {
        let is_being_created = |address: &Instance| {
            self.unfinished.iter().any(|it| it.action == "create" && it.address == *address)
        };
        let written = records.iter().filter_map(|it| match it {
            Record::Written { address, deposed: None, .. } => Some(address),
            _ => None,
        });
        let created: Vec<Instance> = written.filter(|it| is_being_created(it)).cloned().collect();
        self.created.extend(created);
    }

    /// Something is said about an object: what was begun with it is over.
    fn end(&mut self, address: &Instance) {
        self.unfinished.retain(|it| it.address != *address);
    }
}

/// Returns whether a line that cannot be read is the first part of one: the run has ended while it was written.
fn is_torn(line: &[u8]) -> bool {
    let text = match std::str::from_utf8(line) {
        Ok(text) => text,
        // A letter may be cut in two.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&line[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    let (sum, json) = text.split_once(' ').unwrap_or((text, ""));
    let is_whole_sum = sum.len() == CHECKSUM;
    let is_sum = sum.len() <= CHECKSUM && sum.bytes().all(|it| it.is_ascii_hexdigit());
    // The number of the line and the checksum of the one before it may be cut, too.
    let json = match json.split_once(' ') {
        Some((number, rest)) if is_number(number) => match rest.split_once(' ') {
            Some((_, json)) => json,
            None if rest.bytes().all(|it| it.is_ascii_hexdigit()) => "",
            None => rest,
        },
        None if is_number(json) => "",
        _ => json,
    };
    let is_open = json.is_empty()
        || serde_json::from_str::<serde::de::IgnoredAny>(json).is_err_and(|it| it.is_eof());
    !line.ends_with(b"\n") && is_sum && is_open && (is_whole_sum || text.len() == sum.len())
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit())
}

/// The checksum of a line, as it stands there.
fn sum_of(line: &[u8]) -> Option<&str> {
    std::str::from_utf8(line.get(..CHECKSUM)?).ok()
}

pub(super) fn parsed(json: &str) -> Option<serde_json::Value> {
    serde_json::from_str(json).ok()
}

fn unsealed(line: &[u8]) -> Option<&str> {
    let line = std::str::from_utf8(line).ok()?;
    // The end of the last line may be all that is missing.
    let (sum, json) = line.strip_suffix('\n').unwrap_or(line).split_once(' ')?;
    (sum == checksum(json)).then_some(json)
}

fn read_base(json: &str) -> Result<(Base, u64), Flaw> {
    #[derive(Deserialize)]
    struct Version {
        journal: u64,
    }
    #[derive(Deserialize)]
    struct Line {
        lineage: String,
        serial: u64,
        next_lineage: String,
        #[serde(default)]
        plan: String,
    }
    let version: Version = serde_json::from_str(json).map_err(|_| Flaw::Start)?;
    if version.journal > VERSION {
        return Err(Flaw::Newer(version.journal));
    }
    let line: Line = serde_json::from_str(json).map_err(|_| Flaw::Start)?;
    let Line { lineage, serial, next_lineage, plan } = line;
    Ok((Base { lineage, serial, next_lineage, plan }, version.journal))
}

/// A line behind the first.
enum Line {
    Begun(Box<Begun>),
    Ended(Instance),
    Stored(u64),
    Records(Vec<Record>),
}

fn read_line(reader: &mut Reader, json: &str) -> Option<Line> {
    if json.starts_with("{\"begun\"") {
        return read_begun(json).map(|it| Line::Begun(Box::new(it)));
    }
    if json.starts_with("{\"ended\"") {
        #[derive(Deserialize)]
        struct Ended {
            ended: String,
        }
        let line: Ended = serde_json::from_str(json).ok()?;
        return names::instance(&line.ended).map(Line::Ended);
    }
    if json.starts_with("{\"stored\"") {
        #[derive(Deserialize)]
        struct Stored {
            stored: u64,
        }
        return serde_json::from_str(json).ok().map(|it: Stored| Line::Stored(it.stored));
    }
    if !json.starts_with('[') {
        return Some(Line::Records(vec![read_record(reader, json)?]));
    }
    let parts: Vec<&RawValue> = serde_json::from_str(json).ok()?;
    let records: Option<_> = parts.into_iter().map(|it| read_record(reader, it.get())).collect();
    records.map(Line::Records)
}

fn read_begun(json: &str) -> Option<Begun> {
    #[derive(Deserialize)]
    struct Read {
        begun: String,
        address: String,
        #[serde(default)]
        deposed: Option<String>,
        provider: String,
        known: std::collections::BTreeMap<String, String>,
    }
    let it: Read = serde_json::from_str(json).ok()?;
    Some(Begun {
        address: names::instance(&it.address)?,
        deposed: it.deposed.map(Str::from),
        action: it.begun,
        provider: it.provider,
        known: it.known.into_iter().collect(),
    })
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
        made_from: Option<Vec<String>>,
        /// What older versions wrote, which did not look behind data sources.
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
    let (_, deposed, mut object) =
        reader.object(&address.of(), &object, &mut Likely::of(&[], 0)).ok()?;
    let own =
        line.made_from.or_else(|| line.reads.filter(|it| is_complete(it.iter().map(|it| &**it))));
    object.reads = own.map(|it| it.into_iter().map(Str::from).collect());
    let provider = provider.into_inner();
    Some(Record::Written { address, deposed, provider, provider_key, object: Box::new(object) })
}
