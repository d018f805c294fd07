//! The tables that rest on several stacks: which reads which, and which object uses which.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use entail::backend::shape::Arguments;
use entail::backend::{settings, workspace};
use entail::diagnostic::Diagnostics;
use entail::value::Value;
use entail::world::World;

use super::{ACROSS, Run, no_room, rereading};
use crate::facts::place_of;
use crate::lake::{Bucket, Catalogue, File, bucket_of, table};
use crate::uses::Uses;

impl Run<'_> {
    /// Leaves the tables that rest on several stacks as they are.
    pub(super) fn keep_across(&self, catalogue: &mut Catalogue) {
        for name in ACROSS {
            if let Some(files) = self.last.files.get(*name) {
                catalogue.files.insert((*name).to_owned(), files.clone());
            }
        }
    }

    /// Writes the tables that rest on several stacks, where they are not the same as before.
    pub(super) fn across(&self, catalogue: &mut Catalogue) -> Result<(), Diagnostics> {
        let mut rows: BTreeMap<u32, Bucket> = BTreeMap::new();
        self.reads_stack(catalogue, &mut rows);
        let fresh = || Uses::new().map_err(|why| no_room(&why));
        let mut uses = std::mem::replace(&mut *self.uses.lock(), fresh()?);
        let mut changed = self.changed.lock().clone();
        let gone = self.last.stacks.keys().filter(|it| !catalogue.stacks.contains_key(*it));
        changed.extend(gone.cloned());
        let is_small = changed.len() * 4 <= self.last.stacks.len() && !self.damage.is_any;
        if is_small && self.join_changed(catalogue, &mut uses, &changed)? {
            return self.write_across(catalogue, rows, &["reads_stack"]);
        }
        *self.uses.lock() = uses;
        self.reread(catalogue, &changed)?;
        let uses = std::mem::replace(&mut *self.uses.lock(), fresh()?);
        let (Some(forth), Some(back)) = (table("uses"), table("used_by")) else { return Ok(()) };
        let joined = uses.join(&mut |(stack, user), (other, used)| {
            let of = |it: &str| bucket_of(it, self.buckets);
            rows.entry(of(stack)).or_default().add(forth, &[stack, user, other, used]);
            rows.entry(of(other)).or_default().add(back, &[other, used, stack, user]);
        });
        joined.map_err(|why| no_room(&why))?;
        self.write_across(catalogue, rows, ACROSS)
    }

    fn write_across(
        &self,
        catalogue: &mut Catalogue,
        rows: BTreeMap<u32, Bucket>,
        names: &[&str],
    ) -> Result<(), Diagnostics> {
        for (number, mut bucket) in rows {
            for table in names.iter().filter_map(|it| table(it)) {
                if let Some(file) = self.write(&mut bucket, table, number)? {
                    let files = catalogue.files.entry(table.name.to_owned()).or_default();
                    files.insert(number, file);
                }
            }
        }
        Ok(())
    }

    fn reads_stack(&self, catalogue: &Catalogue, rows: &mut BTreeMap<u32, Bucket>) {
        let Some(table) = table("reads_stack") else { return };
        let places: BTreeMap<&str, &str> =
            catalogue.stacks.iter().map(|(name, it)| (it.at.as_str(), name.as_str())).collect();
        for (name, it) in &catalogue.stacks {
            for read in it.reads.iter().filter_map(|it| places.get(it.as_str())) {
                if read != name {
                    let bucket = rows.entry(bucket_of(name, self.buckets)).or_default();
                    bucket.add(table, &[name, read]);
                }
            }
        }
    }

    /// Takes in what the objects of stacks mention that were not read again.
    fn reread(&self, catalogue: &Catalogue, changed: &BTreeSet<String>) -> Result<(), Diagnostics> {
        let Some(table) = table("attribute") else { return Ok(()) };
        let files: Vec<&File> = catalogue.files_of(table.name).map(|it| it.1).collect();
        let reread = crate::reading::each(&files, crate::reading::threads(), |file| {
            let mut bucket = Bucket::default();
            let stays = |row: &[Option<&str>]| row[0].is_some_and(|it| !changed.contains(it));
            self.take_in(&mut bucket, table, file, &stays)?;
            let found = rereading::mentions(&bucket);
            self.uses.lock().absorb(found).map_err(|why| no_room(&why))
        })?;
        reread.into_iter().collect()
    }
}

/// Where the state of a root module is, as those that read it name the place.
pub fn place_of_module(world: &Arc<World>, folder: &Path) -> String {
    let selected = workspace::selected(world).unwrap_or_default();
    let saved = settings::read(&workspace::data_folder(world)).ok().flatten();
    if let Some(it) = saved {
        return place_of(&it.kind, &it.arguments, Some(&selected), folder);
    }
    let declared = declared(world);
    match declared {
        Some((kind, arguments)) => place_of(&kind, &arguments, Some(&selected), folder),
        None => place_of("local", &usual(&selected), None, folder),
    }
}

/// The usual file of a workspace's state.
fn usual(selected: &str) -> Arguments {
    let path = match selected == workspace::DEFAULT {
        true => "terraform.tfstate".to_owned(),
        false => format!("terraform.tfstate.d/{selected}/terraform.tfstate"),
    };
    Arguments::from([("path".to_owned(), Value::string(&path))])
}

/// What the root module says of its backend.
fn declared(world: &Arc<World>) -> Option<(String, Arguments)> {
    let sources = entail::diagnostic::Sources::default();
    let root = entail::operation::session::root_place(world, &sources).ok()?;
    entail::operation::backends::arguments(&root).ok()?
}
