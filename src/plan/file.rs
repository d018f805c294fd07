//! Saving a plan to a file and loading it: a ZIP archive of the plan, both states, the configuration's sources and more.
//!
//! Entries: `tfplan`, `tfstate`, `tfstate-prev`, `tfconfig/…`, `.terraform.lock.hcl`, `facts/…`, `signature`. A loaded plan needs
//! neither configuration nor credentials nor the folder it was made in. It is read in memory: nothing of it is ever unpacked.

use std::collections::BTreeMap;
use std::io::{Cursor, Read as _, Write as _};
use std::path::Path;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::Plan;
use super::codec::{Damaged, Decoder, Encoder, Read};
use super::entries::is_known;
use super::exchange;
use super::signature::{self, Signer, SigningKey};
use crate::backend::files::{self, Fresh};
use crate::backend::seal::{Part, Seals};
use crate::diagnostic::{Diagnostic, Sort};
use crate::error::Error;
use crate::state::write::{WRITTEN_VERSION, write_compact};
use crate::state::{State, is_same};
use crate::value::text::shown;
use crate::world::{PROGRAM, side_by_side};

mod content;
mod unpacked;

use self::content::{
    read_not_looked_at, read_plan, read_secrets, write_not_looked_at, write_plan, write_secrets,
};
pub use self::unpacked::Unpacked;

const MAGIC: &[u8] = b"entail plan\n";

/// What a plan file holds beside the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanExtras {
    /// The configuration's files: their names relative to the root module's folder, with `/`, and their texts.
    pub sources: BTreeMap<String, String>,
    /// Which folder each module call leads to, as `modules.json` says it.
    pub modules: Option<String>,
    /// The dependency lock file.
    pub lock_file: Option<String>,
    /// The facts and conclusions the plan rests on, by name.
    pub facts: BTreeMap<String, Vec<u8>>,
    /// What else was asked for or must be the same at apply, by name.
    pub settings: BTreeMap<String, String>,
    /// Who has signed the file that this was read from.
    pub signer: Option<Signer>,
    /// What OpenTofu's own library finds besides in its entry, where it is to find one in the file. Nothing is read of that.
    pub exchange: Option<Exchange>,
}

/// What a plan does not know of itself, and its entry for OpenTofu's library has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The type of the backend.
    pub backend: String,
    /// The names of the ephemeral root variables.
    pub ephemeral_variables: Vec<String>,
}

impl Plan {
    /// Writes the plan to a file, at once; signed, where there is a key, and sealed.
    pub fn save(
        &self,
        path: &Path,
        extras: &PlanExtras,
        (key, seals): (Option<&SigningKey>, &Seals),
    ) -> Result<(), Diagnostic> {
        let archive = archive(self, extras, key).map_err(|error| not_saved(path, &error))?;
        let sealed = seals.seal(Part::Plan, &archive)?;
        // A name that was mistyped is told, and makes no folder.
        if !files::has_folder(path) {
            return Err(not_saved(path, &std::io::ErrorKind::NotFound.into()));
        }
        files::replace(path, &sealed, Fresh::Private).map_err(|error| not_saved(path, &error))
    }

    /// Reads a plan from a file.
    pub fn load(path: &Path, seals: &Seals) -> Result<(Plan, PlanExtras), Diagnostic> {
        let unpacked = Plan::unpack(path, seals)?;
        let (plan, settings) = unpacked.plan(path)?;
        Ok((plan, unpacked.into_extras(settings)))
    }

    /// Unpacks the file of a plan, whose parts can be read side by side then.
    ///
    /// # Errors
    ///
    /// If there is no such file, it cannot be unsealed, or it is not one archive with the entries of a plan of this version.
    pub fn unpack(path: &Path, seals: &Seals) -> Result<Unpacked, Diagnostic> {
        let missing = || std::io::Error::from(std::io::ErrorKind::NotFound);
        let bytes = files::read(path).and_then(|it| it.ok_or_else(missing));
        let bytes = bytes.map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => no_such_file(path),
            _ => not_a_plan(path, &error.into()),
        })?;
        let opened = seals.open(Part::Plan, &bytes)?;
        unpack(&opened, MOST_UNPACKED).map_err(|why| not_a_plan(path, &why))
    }

    /// Reads a plan from the bytes of a file.
    ///
    /// # Errors
    ///
    /// If they are none, or are damaged: with a phrase that says so.
    pub fn read(bytes: &[u8]) -> Result<(Plan, PlanExtras), Error> {
        unpack(bytes, MOST_UNPACKED)?.read()
    }

    /// Tells whether the plan may be applied to what is on record now.
    ///
    /// - `current`: the latest snapshot; `None` where there is none.
    pub fn check_current(&self, current: Option<&State>) -> Result<(), Diagnostic> {
        let planned = &self.prior_state;
        let is_first = planned.lineage.is_empty() && planned.serial == 0;
        let (lineage, serial) =
            current.map(|it| (it.lineage.as_str(), it.serial)).unwrap_or_default();
        if !is_first && planned.lineage != lineage {
            return Err(other_lineage());
        }
        let has_appeared = is_first && current.is_some_and(|it| !it.is_empty());
        if planned.serial != serial || has_appeared {
            return Err(stale());
        }
        Ok(())
    }

    /// Tells whether what is on record holds what it held when the plan was made: another program, or a person, may have changed
    /// what stands under a serial.
    ///
    /// - `current`: the latest snapshot, with the moves of the configuration.
    pub fn check_content(&self, current: &State) -> Result<(), Diagnostic> {
        let is_first = self.prior_state.lineage.is_empty();
        if is_first || is_same(current, &self.previous_state) { Ok(()) } else { Err(stale()) }
    }
}

/// Returns whether a file looks like an archive, so that `show` may tell plans from states.
pub fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK")
}

fn archive(plan: &Plan, extras: &PlanExtras, key: Option<&SigningKey>) -> std::io::Result<Vec<u8>> {
    let mut entries = entries(plan, extras);
    if let Some(key) = key {
        let signature = key.sign(&entries);
        entries.insert(signature::ENTRY.into(), signature);
    }
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    // Other programs look at the first entry alone.
    let first = entries.remove_entry("tfplan");
    for (name, content) in first.into_iter().chain(entries) {
        zip.start_file(name, options.large_file(content.len() > 0x7fff_ffff))?;
        zip.write_all(&content)?;
    }
    Ok(zip.finish()?.into_inner())
}

/// The entry that has this program's own document where `tfplan` has that of another.
const OWN: &str = "facts/plan";

fn entries(plan: &Plan, extras: &PlanExtras) -> BTreeMap<String, Vec<u8>> {
    let own = if extras.exchange.is_some() { OWN } else { "tfplan" };
    let mut entries = BTreeMap::from([
        (own.to_owned(), document(plan, extras)),
        ("tfstate".to_owned(), write_compact(&plan.prior_state).into_bytes()),
        ("tfstate-prev".to_owned(), write_compact(&plan.previous_state).into_bytes()),
    ]);
    if let Some(exchange) = &extras.exchange {
        entries.insert("tfplan".to_owned(), exchange::write(plan, exchange));
    }
    let mut add = |name: String, content: &[u8]| drop(entries.insert(name, content.to_vec()));
    for (name, text) in &extras.sources {
        add(format!("tfconfig/{name}"), text.as_bytes());
    }
    for (name, text) in
        [("tfconfig/modules.json", &extras.modules), (".terraform.lock.hcl", &extras.lock_file)]
    {
        if let Some(text) = text {
            add(name.to_owned(), text.as_bytes());
        }
    }
    for (name, facts) in &extras.facts {
        add(format!("facts/{name}"), facts);
    }
    entries
}

/// How many bytes an archive may hold unpacked: more than any plan, less than a machine has room for.
const MOST_UNPACKED: u64 = 2 << 30;

/// Unpacks an archive that holds at most so many bytes. The error is a phrase without a full stop.
fn unpack(bytes: &[u8], most: u64) -> Result<Unpacked, Error> {
    let mut zip = ZipArchive::new(Cursor::new(bytes))
        .map_err(|_| "the given file is not a valid plan file")?;
    if !is_one_archive(bytes, &zip) {
        return Err("the plan file holds more than one archive, or an entry twice".into());
    }
    let mut surplus = None;
    for index in 0..zip.len() {
        let entry = zip.by_index_raw(index).map_err(|_| damaged())?;
        let name = entry.name().map_err(|_| damaged())?.into_owned();
        if local_name(bytes, entry.header_start()) != Some(entry.name_raw()) {
            return Err(renamed(&name));
        }
        if !is_known(&name) {
            surplus.get_or_insert(name);
        }
    }
    // The states are most of the archive.
    let (states, others) = side_by_side(
        || inflate(bytes, zip.clone(), most, |it| STATES.contains(&it)),
        || inflate(bytes, zip.clone(), most, |it| !STATES.contains(&it)),
    );
    let mut entries = others?;
    entries.append(&mut states?);
    if entries.values().map(|it| it.len() as u64).sum::<u64>() > most {
        return Err(too_large(most));
    }
    let signature = entries.get(signature::ENTRY).map(|it| Signer::of(it, &entries));
    let signer = signature.transpose()?;
    let first = entries.remove("tfplan").ok_or("the given file is not a valid plan file")?;
    let document = entries.remove(OWN).unwrap_or(first);
    if let Some(name) = surplus {
        return Err(unexpected(&name));
    }
    // What another program made may mean anything.
    content(&document)?;
    let mut state = |name: &str| entries.remove(name).ok_or_else(damaged);
    let states = [state(STATES[0])?, state(STATES[1])?];
    let mut extras = PlanExtras { signer, ..PlanExtras::default() };
    for (name, content) in entries {
        keep(&mut extras, &name, content).ok_or_else(damaged)?;
    }
    Ok(Unpacked { document, states, extras })
}

/// The entries of the state that a plan starts from, and of the one before the refresh.
const STATES: [&str; 2] = ["tfstate", "tfstate-prev"];

/// Unpacks some of the entries of an archive, of at most so many bytes together.
fn inflate(
    bytes: &[u8],
    mut zip: ZipArchive<Cursor<&[u8]>>,
    most: u64,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<BTreeMap<String, Vec<u8>>, Error> {
    let mut entries: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut packed_state = None;
    let mut left = most;
    for index in 0..zip.len() {
        let entry = zip.by_index(index).map_err(|_| damaged())?;
        let name = entry.name().map_err(|_| damaged())?.into_owned();
        if !is_wanted(&name) {
            continue;
        }
        let packed = STATES.contains(&name.as_str()).then(|| {
            let from = usize::try_from(entry.data_start()?).ok()?;
            let content =
                bytes.get(from..)?.get(..usize::try_from(entry.compressed_size()).ok()?)?;
            Some((entry.compression(), entry.crc32(), entry.size(), content))
        });
        let packed = packed.flatten();
        let content = match packed.filter(|it| packed_state == Some(*it)) {
            // Where the refresh found nothing, the states are the same.
            Some(_) => entries[STATES[0]].clone(),
            None => {
                let mut content = Vec::new();
                // What an entry says of its length need not be true.
                entry.take(left + 1).read_to_end(&mut content).map_err(|_| damaged())?;
                content
            }
        };
        left = left.checked_sub(content.len() as u64).ok_or_else(|| too_large(most))?;
        if name == STATES[0] {
            packed_state = packed;
        }
        entries.insert(name, content);
    }
    Ok(entries)
}

/// Returns whether an archive begins with the bytes and ends with them, and has each entry once: so that every program that reads it
/// finds the same entries.
fn is_one_archive(bytes: &[u8], zip: &ZipArchive<Cursor<&[u8]>>) -> bool {
    /// How many bytes the record at the end of an archive has that has no comment.
    const END: usize = 22;
    let Some(end) = bytes.len().checked_sub(END).and_then(|it| bytes.get(it..)) else {
        return false;
    };
    // How many entries there are in all; the library keeps one of each name.
    let count = u16::from_le_bytes([end[10], end[11]]);
    let is_whole = end.starts_with(b"PK\x05\x06") && end[20..] == [0, 0];
    is_whole && zip.offset() == 0 && (count == u16::MAX || usize::from(count) == zip.len())
}

/// Returns the name in the local header of an entry, which other programs may read instead of the directory of the archive.
///
/// - `start`: where the header begins, in bytes.
fn local_name(bytes: &[u8], start: u64) -> Option<&[u8]> {
    /// How many bytes a local header has before its name.
    const FIXED: usize = 30;
    let header = bytes.get(usize::try_from(start).ok()?..)?;
    let length = u16::from_le_bytes([*header.get(26)?, *header.get(27)?]);
    header.get(FIXED..FIXED + usize::from(length))
}

fn keep(extras: &mut PlanExtras, name: &str, content: Vec<u8>) -> Option<()> {
    if let Some(name) = name.strip_prefix("facts/") {
        extras.facts.insert(name.into(), content);
        return Some(());
    }
    let text = String::from_utf8(content).ok()?;
    match name.strip_prefix("tfconfig/") {
        Some("modules.json") => extras.modules = Some(text),
        Some(name) => drop(extras.sources.insert(name.into(), text)),
        None if name == ".terraform.lock.hcl" => extras.lock_file = Some(text),
        None => {}
    }
    Some(())
}

fn too_large(most: u64) -> Error {
    format!("the plan file holds more than {} MB when unpacked, which no plan does", most >> 20)
        .into()
}

fn renamed(name: &str) -> Error {
    format!("the entry {} of the plan file has another name in its own header", shown(name)).into()
}

fn unexpected(name: &str) -> Error {
    format!("the plan file holds an entry {}, which no plan does", shown(name)).into()
}

fn damaged() -> Error {
    "the plan file is invalid".into()
}

fn document(plan: &Plan, extras: &PlanExtras) -> Vec<u8> {
    let mut out = Encoder::default();
    write_plan(&mut out, plan);
    let settings: Vec<_> = extras.settings.iter().collect();
    out.list(&settings, |out, (name, text)| {
        out.text(name);
        out.text(text);
    });
    write_not_looked_at(&mut out, plan.not_looked_at);
    write_secrets(&mut out, &plan.changes);
    let version = WRITTEN_VERSION.as_bytes();
    let mut whole = [MAGIC, env!("CARGO_PKG_VERSION").as_bytes(), b" ", version, b"\n"].concat();
    whole.extend_from_slice(&out.finish());
    whole
}

/// Returns what stands behind the line that says which program made a plan.
fn content(document: &[u8]) -> Result<&[u8], Error> {
    let Some(rest) = document.strip_prefix(MAGIC) else {
        return Err("the plan file was made by another program; plan files cannot be shared between programs".into());
    };
    let end = rest.iter().position(|it| *it == b'\n').ok_or_else(damaged)?;
    let this = format!("{} {WRITTEN_VERSION}", env!("CARGO_PKG_VERSION"));
    let written = String::from_utf8_lossy(&rest[..end]);
    if written != this {
        return Err(format!(
            "plan file was created by version {written}, but this is {this}; plan files cannot be transferred between \
             different versions"
        ).into());
    }
    Ok(&rest[end + 1..])
}

fn read_document(
    document: &[u8],
    states: (State, State),
) -> Result<(Plan, BTreeMap<String, String>), Error> {
    let content = content(document)?;
    let read = || -> Read<_> {
        let mut input = Decoder::new(content)?;
        let mut plan = read_plan(&mut input, states)?;
        let settings =
            input.list(|input| Ok((input.text()?.to_string(), input.text()?.to_string())))?;
        plan.not_looked_at = read_not_looked_at(&mut input)?;
        read_secrets(&mut input, &mut plan.changes)?;
        input.finish()?;
        Ok((plan, settings))
    };
    read().map_err(|Damaged| damaged())
}

/// The file cannot be written.
fn not_saved(path: &Path, error: &std::io::Error) -> Diagnostic {
    Diagnostic::error("Failed to write plan file")
        .detail(format!("The plan file {} could not be written: {error}.", path.display()))
}

fn no_such_file(path: &Path) -> Diagnostic {
    let name = path.display();
    Diagnostic::error(format!("Failed to load {:?} as a plan file", name.to_string()))
        .detail(format!("There is no such file. To save a plan: {PROGRAM} plan -out=FILE"))
        .sort(Sort::NoSuchFile)
}

/// The file is no plan, or not one of ours.
fn not_a_plan(path: &Path, why: &Error) -> Diagnostic {
    Diagnostic::error(format!("Failed to load {:?} as a plan file", path.display().to_string()))
        .detail(format!("Error: {why}"))
}

/// The plan was made for the state of something else.
fn other_lineage() -> Diagnostic {
    Diagnostic::error("Saved plan does not match the given state").detail(
        "The given plan file can not be applied because it was created from a different state lineage.",
    )
}

/// The state changed since.
fn stale() -> Diagnostic {
    Diagnostic::error("Saved plan is stale").detail(
        "The given plan file can no longer be applied because the state was changed by another operation after the plan was \
         created.",
    )
}

#[cfg(test)]
#[path = "file_tests.rs"]
pub(in crate::plan) mod tests;
