//! What stands for a stack without reading it: sizes and times of files, lineage and serial where there is no file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use entail::world::World;
use sha2::{Digest as _, Sha256};

use super::hex;
use crate::reading::{self, file_mark};
use crate::stacks::{Place, Stack};

/// Returns what stands for a stack: its state first, then its configuration; nothing where it cannot be told.
///
/// - `at`: where its state is.
pub fn mark(world: &Arc<World>, stack: &Stack, folders: &[PathBuf], at: &str) -> Option<String> {
    let state = of_state(world, stack, at)?;
    let Place::Module { folder, .. } = &stack.place else { return Some(state) };
    let all = std::iter::once(folder).chain(folders);
    Some(format!("{state}:{}", of_files(all, stack)))
}

/// Returns what stands for the configuration of a stack: the files of its own folder, and what `fleet.hcl` gives.
pub fn of_configuration(stack: &Stack) -> String {
    match &stack.place {
        Place::Module { folder, .. } => of_files(std::iter::once(folder), stack),
        Place::State { .. } => String::new(),
    }
}

fn of_files<'a>(folders: impl Iterator<Item = &'a PathBuf>, stack: &Stack) -> String {
    let mut digest = Sha256::new();
    if let Some(plan) = stack.plan() {
        digest.update(plan.to_string_lossy().as_bytes());
        digest.update(file_mark(&plan).unwrap_or_default());
    }
    folders.for_each(|it| of_folder(it, &mut digest));
    digest.update(format!("{:?}", reading::variables(stack)));
    hex(&digest.finalize()[..12])
}

/// Returns what stands for the state of a stack.
pub fn of_state(world: &Arc<World>, stack: &Stack, at: &str) -> Option<String> {
    let file = match &stack.place {
        Place::State { file, .. } => file.clone(),
        Place::Module { .. } => {
            at.strip_prefix("local ").and_then(|it| it.rsplit_once(' ')).map(|it| it.0.into())
        }
    };
    match file {
        Some(file) if file.exists() => file_mark(&file),
        Some(_) => Some("none".to_owned()),
        None => {
            let state = reading::state(world, stack).ok()?;
            Some(format!("{}:{}", state.lineage, state.serial))
        }
    }
}

/// Takes in names, sizes and times of the files of a configuration.
fn of_folder(folder: &Path, digest: &mut Sha256) {
    const ENDINGS: &[&str] = &["tf", "tofu", "json", "tfvars", "hcl"];
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|it| it.path())
        .filter(|it| it.extension().is_some_and(|it| ENDINGS.iter().any(|known| it == *known)))
        .collect();
    files.sort();
    for file in files {
        digest.update(file.to_string_lossy().as_bytes());
        digest.update(file_mark(&file).unwrap_or_default());
    }
}
