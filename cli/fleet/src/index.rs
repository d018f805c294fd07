//! `fleet index`: states and configurations become a lake. Only buckets with stacks that changed are written again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::policy::VOCABULARY_VERSION;
use entail::world::World;
use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};

use crate::facts::{Extractor, place_of};
use crate::lake::{Bucket, Catalogue, File, HINTS, Indexed, Lake, Listed, TABLES, Table, VERSION};
use crate::lake::{bucket_of, buckets_for, file as path_of, tag};
use crate::reading::{self, Lineages, in_a_line};
use crate::settings::Settings;
use crate::stacks::{Place, Stack, find};
use crate::uses::{Mentions, Uses};

mod across;
mod hints;
mod joining;
mod marks;
mod mending;
mod outcome;
mod rereading;

use mending::{Damage, take_out_damaged};

pub use across::place_of_module;
pub use marks::of_configuration as configuration_mark;
pub use outcome::Outcome;

/// The tables that rest on several stacks: they are written when all others are.
const ACROSS: &[&str] = &["reads_stack", "uses", "used_by"];

/// How often an index is tried where others write the same lake in an object store.
const ATTEMPTS: usize = 5;

/// The stacks of one bucket.
#[derive(Default)]
struct Those<'a> {
    stacks: Vec<&'a Stack>,
    /// How many it had when it was written last.
    before: usize,
}

/// What was read of the stacks of one bucket.
#[derive(Default)]
struct Read {
    indexed: BTreeMap<String, Indexed>,
    failed: BTreeMap<String, Diagnostics>,
    problems: Diagnostics,
    files: BTreeMap<&'static str, File>,
    changed: usize,
}

/// Writes what is known of a fleet into a lake.
///
/// # Errors
///
/// If the lake cannot be read or written: then it stays as it was.
pub fn index(world: &Arc<World>, settings: &Settings, lake: &Lake) -> Result<Outcome, Diagnostics> {
    let found = find(world, settings);
    let (mut stacks, mut failed) = (Vec::new(), BTreeMap::new());
    for named in found.stacks {
        match named.stack {
            Ok(stack) => stacks.push(stack),
            Err(problems) => drop(failed.insert(named.name, problems)),
        }
    }
    let outcome = attempt(world, lake, &stacks)?;
    let mut problems = found.problems;
    problems.extend(outcome.problems);
    failed.extend(outcome.failed);
    Ok(Outcome { failed, problems, ..outcome })
}

/// Indexes the stacks, and begins again where another index has written the lake meanwhile.
fn attempt(world: &Arc<World>, lake: &Lake, stacks: &[Stack]) -> Result<Outcome, Diagnostics> {
    let mut left = ATTEMPTS;
    loop {
        let run = Run::new(world, lake, stacks)?;
        let result = run.go(stacks);
        left -= 1;
        if result.is_ok() || left == 0 || !run.is_overtaken()? {
            return result;
        }
    }
}

struct Run<'a> {
    world: &'a Arc<World>,
    lake: &'a Lake,
    extractor: Extractor,
    /// The catalogue that holds until this one is whole.
    last: Catalogue,
    /// The generation of the catalogue that was found, if there was one.
    began: Option<u64>,
    /// The files that were found.
    listed: Vec<Listed>,
    damage: Damage,
    buckets: u32,
    generation: u64,
    /// What tells the files of this run from those of others, where no lock keeps them out.
    tag: String,
    lineages: Mutex<Lineages>,
    uses: Mutex<Uses>,
    /// Stacks that were read again.
    changed: Mutex<BTreeSet<String>>,
    names: BTreeSet<String>,
}

impl<'a> Run<'a> {
    fn new(
        world: &'a Arc<World>,
        lake: &'a Lake,
        stacks: &[Stack],
    ) -> Result<Run<'a>, Diagnostics> {
        let found = lake.catalogue()?;
        let began = found.as_ref().map(|it| it.generation);
        let (mut last, listed) = (found.unwrap_or_default(), lake.list()?);
        let wanted = buckets_for(stacks.len());
        let mut damage = Damage::default();
        if last.vocabulary == VOCABULARY_VERSION && last.fits(wanted) {
            damage = take_out_damaged(lake, &mut last, &listed)?;
        } else {
            // Buckets that have grown too large are spread anew, and all is written again.
            let generation = last.generation;
            last = Catalogue { generation, buckets: wanted, ..Catalogue::default() };
        }
        let uses = Uses::new().map_err(|why| no_room(&why))?;
        Ok(Run {
            world,
            lake,
            extractor: Extractor::new(world)?,
            buckets: last.buckets,
            generation: last.generation.checked_add(1).unwrap_or(1),
            last,
            began,
            listed,
            damage,
            tag: if lake.is_locked() { String::new() } else { tag() },
            lineages: Mutex::default(),
            uses: Mutex::new(uses),
            changed: Mutex::default(),
            names: stacks.iter().map(|it| it.name.clone()).collect(),
        })
    }

    /// Whether another index has written the lake since this one began.
    fn is_overtaken(&self) -> Result<bool, Diagnostics> {
        if self.lake.is_locked() {
            return Ok(false);
        }
        Ok(self.lake.catalogue()?.map(|it| it.generation) != self.began)
    }

    fn go(&self, stacks: &[Stack]) -> Result<Outcome, Diagnostics> {
        let mut by_bucket: BTreeMap<u32, Those> = BTreeMap::new();
        for stack in stacks {
            let those = by_bucket.entry(bucket_of(&stack.name, self.buckets)).or_default();
            those.stacks.push(stack);
        }
        // A bucket that lost its last stack is written again, too.
        for name in self.last.stacks.keys() {
            by_bucket.entry(bucket_of(name, self.buckets)).or_default().before += 1;
        }
        // Whoever is unchanged has its lineage first.
        for (name, it) in self.last.stacks.iter().filter(|it| self.names.contains(it.0)) {
            self.lineages.lock().take(&it.lineage, name).err().unwrap_or_default();
        }
        let buckets: Vec<(u32, Those)> = by_bucket.into_iter().collect();
        let threads = reading::threads();
        let read = reading::each(&buckets, threads, |(number, it)| self.bucket(*number, it))?;
        let mut catalogue = Catalogue {
            version: VERSION,
            vocabulary: VOCABULARY_VERSION.to_owned(),
            generation: self.generation,
            buckets: self.buckets,
            ..Catalogue::default()
        };
        let mut outcome = Outcome::default();
        for ((number, _), read) in buckets.iter().zip(read) {
            let read = read?;
            outcome.changed += read.changed;
            outcome.failed.extend(read.failed);
            outcome.problems.extend(read.problems);
            catalogue.stacks.extend(read.indexed);
            for (table, file) in read.files {
                catalogue.files.entry(table.to_owned()).or_default().insert(*number, file);
            }
        }
        let is_other = outcome.changed > 0 || catalogue.stacks.len() != self.last.stacks.len();
        if is_other || self.damage.is_any {
            self.across(&mut catalogue)?;
        } else {
            self.keep_across(&mut catalogue);
        }
        let is_anew = self.began.is_some() && self.last.vocabulary.is_empty();
        let is_new = catalogue.stacks != self.last.stacks || catalogue.files != self.last.files;
        if is_anew || is_new {
            if self.is_overtaken()? {
                return Err(overtaken(&self.lake.name).into());
            }
            self.lake.put(&catalogue)?;
        }
        self.lake.tidy(&catalogue, &self.listed)?;
        outcome.stacks = catalogue.stacks.len();
        outcome.objects = catalogue.objects();
        outcome.bytes = catalogue.bytes();
        Ok(outcome)
    }

    /// Reads the stacks of a bucket that changed, and writes its files again where there are any.
    fn bucket(&self, number: u32, those: &Those<'_>) -> Result<Read, Diagnostics> {
        let mut read = Read::default();
        let (mut stays, mut again) = (BTreeSet::new(), Vec::new());
        let is_whole = !self.damage.buckets.contains(&number);
        for stack in &those.stacks {
            let known = self.last.stacks.get(&stack.name).filter(|_| is_whole);
            match known.filter(|it| self.is_unchanged(it, stack)) {
                Some(it) => {
                    stays.insert(stack.name.clone());
                    read.indexed.insert(stack.name.clone(), it.clone());
                }
                None => again.push(*stack),
            }
        }
        if is_whole && again.is_empty() && stays.len() == those.before {
            for (table, file) in self.files_of(number) {
                read.files.insert(table.name, file.clone());
            }
            let hints = self.last.files.get(HINTS).and_then(|it| it.get(&number));
            read.files.extend(hints.map(|it| (HINTS, it.clone())));
            return Ok(read);
        }
        let (mut bucket, mut mentions) = (Bucket::default(), Mentions::default());
        for stack in again {
            match self.stack(stack, &mut bucket, &mut mentions) {
                Ok((indexed, problems)) => {
                    read.changed += 1;
                    self.changed.lock().insert(stack.name.clone());
                    read.problems.extend(problems);
                    read.indexed.insert(stack.name.clone(), indexed);
                }
                Err(problems) => {
                    // What was known of it before is still the last that is known.
                    if let Some(it) = self.last.stacks.get(&stack.name) {
                        let error = Some(in_a_line(&problems));
                        let known = Indexed { error, mark: None, ..it.clone() };
                        read.indexed.insert(stack.name.clone(), known);
                        stays.insert(stack.name.clone());
                    }
                    read.failed.insert(stack.name.clone(), problems);
                }
            }
        }
        for (table, file) in self.files_of(number).filter(|_| !stays.is_empty()) {
            let is_kept = |row: &[Option<&str>]| row[0].is_some_and(|it| stays.contains(it));
            self.take_in(&mut bucket, table, file, &is_kept)?;
        }
        self.uses.lock().absorb(mentions).map_err(|why| no_room(&why))?;
        for table in TABLES.iter().filter(|it| !ACROSS.contains(&it.name)) {
            if let Some(file) = self.write(&mut bucket, table, number)? {
                read.files.insert(table.name, file);
            }
        }
        let hints = hints::of(&bucket);
        if !hints.is_empty() {
            read.files.insert(HINTS, self.put(hints.into(), 0, (HINTS, "bin"), number)?);
        }
        Ok(read)
    }

    /// Whether a stack is as it was indexed, as far as that can be told without reading all of it.
    fn is_unchanged(&self, known: &Indexed, stack: &Stack) -> bool {
        let mark =
            || marks::mark(&reading::world_of(self.world, stack), stack, &known.folders, &known.at);
        known.error.is_none()
            && known.digest == settings_of(stack)
            && known.mark.is_some()
            && known.mark == mark()
    }

    /// Adds the rows of one stack.
    fn stack(
        &self,
        stack: &Stack,
        bucket: &mut Bucket,
        mentions: &mut Mentions,
    ) -> Result<(Indexed, Diagnostics), Diagnostics> {
        let world = reading::world_of(self.world, stack);
        let at = self.at(&world, stack);
        let before = marks::of_state(&world, stack, &at);
        let snapshots = reading::open(&world, stack)?;
        let state = reading::state(&world, stack)?;
        self.lineages.lock().take(&state.lineage, &stack.name)?;
        let mut indexed = Indexed {
            lineage: state.lineage.clone(),
            serial: state.serial,
            digest: settings_of(stack),
            objects: reading::objects(&state),
            place: match &stack.place {
                Place::Module { .. } => stack.name.clone(),
                Place::State { file: Some(file), .. } => {
                    let own = file.strip_prefix(&self.world.root).unwrap_or(file);
                    own.display().to_string()
                }
                Place::State { .. } => snapshots.name(),
            },
            at,
            ..Indexed::default()
        };
        let extracted = self.extractor.extract(stack, state, bucket, mentions)?;
        indexed.reads = extracted.reads;
        indexed.is_planned = extracted.is_planned;
        indexed.folders = extracted.folders;
        // What was written while it was read is read again the next time.
        let after = marks::mark(&world, stack, &indexed.folders, &indexed.at);
        indexed.mark =
            after.filter(|it| before.as_ref().is_some_and(|before| it.starts_with(before)));
        let name = &stack.name;
        let of_plan = extracted.plan_problems.iter().take(1).map(|it| {
            Diagnostic::warning(it.summary.clone())
                .detail(format!("The plan of stack `{name}` is left out: {}", it.detail))
        });
        let problems = extracted.problems.iter().take(1).map(|it| {
            Diagnostic::warning(it.summary.clone())
                .detail(format!("Of stack `{name}`, only the state is known: {}", it.detail))
        });
        Ok((indexed, Diagnostics(problems.chain(of_plan).collect())))
    }

    /// Where the state of a stack is, as those that read it name the place.
    fn at(&self, world: &Arc<World>, stack: &Stack) -> String {
        match &stack.place {
            Place::State { backend, config, workspace, .. } => {
                place_of(backend, config, Some(workspace), &world.root)
            }
            Place::Module { folder, .. } => place_of_module(world, folder),
        }
    }

    fn files_of(&self, number: u32) -> impl Iterator<Item = (&'static Table, &File)> {
        let tables = TABLES.iter().filter(|it| !ACROSS.contains(&it.name));
        tables.filter_map(move |it| Some((it, self.last.files.get(it.name)?.get(&number)?)))
    }

    fn take_in(
        &self,
        bucket: &mut Bucket,
        table: &Table,
        file: &File,
        stays: &dyn Fn(&[Option<&str>]) -> bool,
    ) -> Result<(), Diagnostics> {
        let bytes = self.lake.read(&file.path)?;
        let bytes =
            bytes.ok_or_else(|| self.lake.failed(&file.path, "read", &"it is not there"))?;
        bucket
            .take_in(table, bytes, stays)
            .map_err(|why| self.lake.failed(&file.path, "read", &why))
    }

    /// Writes a table of a bucket; nothing where it has no rows. A file that would be the same stays.
    fn write(
        &self,
        bucket: &mut Bucket,
        table: &Table,
        number: u32,
    ) -> Result<Option<File>, Diagnostics> {
        let made = bucket.file(table).map_err(|why| self.lake.failed(table.name, "made", &why))?;
        let Some((bytes, rows)) = made else { return Ok(None) };
        self.put(bytes, rows, (table.name, "parquet"), number).map(Some)
    }

    /// Writes a file of a bucket, unless it is the same as before.
    fn put(
        &self,
        bytes: Bytes,
        rows: usize,
        (name, ending): (&str, &str),
        number: u32,
    ) -> Result<File, Diagnostics> {
        let digest = hex(&Sha256::digest(&bytes)[..16]);
        let known = self.last.files.get(name).and_then(|it| it.get(&number));
        if let Some(known) = known.filter(|it| it.digest == digest) {
            return Ok(known.clone());
        }
        let path = path_of(name, number, (self.generation, &self.tag), ending);
        let file = File { path, rows, bytes: bytes.len(), digest };
        self.lake.write(&file.path, bytes)?;
        Ok(file)
    }
}

/// What `fleet.hcl` says of a stack, in short.
fn settings_of(stack: &Stack) -> String {
    hex(&Sha256::digest(format!("{:?}", stack.labels))[..8])
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}

fn overtaken(lake: &str) -> Diagnostic {
    Diagnostic::error("Another index is under way").detail(format!(
        "Other processes have written {lake} while this one indexed into it, {ATTEMPTS} times. Index again when they have ended."
    ))
}

fn no_room(why: &std::io::Error) -> Diagnostics {
    Diagnostic::error("No room for work")
        .detail(format!("A file for the work cannot be written: {why}. See TMPDIR."))
        .into()
}
