//! The tables that rest on several stacks: which reads which, and which object uses which.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use entail::backend::shape::Arguments;
use entail::backend::{settings, workspace};
use entail::diagnostic::Diagnostics;
use entail::value::Value;
use entail::world::World;

use super::{ACROSS, Run, no_room, rereading};
use crate::facts::place_of;
use crate::lake::{Bucket, Catalogue, bucket_of, table};
use crate::stacks::Stack;
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
    pub(super) fn across(
        &self,
        catalogue: &mut Catalogue,
        buckets: &[(u32, Vec<&Stack>)],
    ) -> Result<(), Diagnostics> {
        let mut rows: BTreeMap<u32, Bucket> = BTreeMap::new();
        self.reads_stack(catalogue, &mut rows);
        self.reread(catalogue, buckets)?;
        let uses =
            std::mem::replace(&mut *self.uses.lock(), Uses::new().map_err(|it| no_room(&it))?);
        let (Some(forth), Some(back)) = (table("uses"), table("used_by")) else { return Ok(()) };
        let joined = uses.join(&mut |(stack, user), (other, used)| {
            let of = |it: &str| bucket_of(it, self.buckets);
            rows.entry(of(stack)).or_default().add(forth, &[stack, user, other, used]);
            rows.entry(of(other)).or_default().add(back, &[other, used, stack, user]);
        });
        joined.map_err(|why| no_room(&why))?;
        for (number, mut bucket) in rows {
            for table in ACROSS.iter().filter_map(|it| table(it)) {
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

    /// Takes in what the objects of buckets mention that were not written again.
    fn reread(
        &self,
        catalogue: &Catalogue,
        buckets: &[(u32, Vec<&Stack>)],
    ) -> Result<(), Diagnostics> {
        let Some(table) = table("attribute") else { return Ok(()) };
        let files = |it: &Catalogue, number: u32| {
            it.files.get(table.name).and_then(|it| it.get(&number)).cloned()
        };
        let stale: Vec<(u32, crate::lake::File)> = buckets
            .iter()
            .filter_map(|(number, _)| Some((*number, files(&self.last, *number)?)))
            .filter(|(number, it)| files(catalogue, *number).as_ref() == Some(it))
            .filter(|(number, _)| !self.is_read_again.lock().contains(number))
            .collect();
        let reread = crate::reading::each(&stale, crate::reading::threads(), |(_, file)| {
            let mut bucket = Bucket::default();
            self.take_in(&mut bucket, table, file, &|_| true)?;
            let found = rereading::mentions(&bucket, &|_| true);
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
