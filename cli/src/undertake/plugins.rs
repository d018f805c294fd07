//! `providers lock`, `providers mirror`, `providers schema`: the plugins of a configuration.

use std::sync::Arc;

use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::install::Requirements;
use entail::observe::pool::Pool;
use entail::operation::plugins;
use entail::operation::plugins::lock::{self, News};
use entail::operation::plugins::mirror::{self, Why};
use entail::operation::session::Session;
use entail::world::World;

use super::{unless_interrupted, with_interrupts, with_room};
use crate::commands::no_words;
use crate::commands::providers::{LockArgs, MirrorArgs, SchemaArgs};
use crate::ui::Ui;
use crate::view::style::Paint;
use crate::view::{PRODUCT, schema};

fn required(ui: &Ui, world: &Arc<World>) -> Result<Requirements, Diagnostics> {
    let session = Session::open_unchecked(world.clone(), ui.sources.clone())?;
    let (required, problems) = Requirements::of(&session.config);
    if problems.has_errors() { Err(problems) } else { Ok(required) }
}

/// Adds checksums to the lock file.
pub fn lock(ui: &Ui, world: &Arc<World>, args: &LockArgs) -> Result<u8, Diagnostics> {
    let places = [args.fs_mirror.is_some(), args.net_mirror.is_some(), args.oci_mirror.is_some()];
    if places.iter().filter(|it| **it).count() > 1 {
        return Err(Diagnostic::error("Conflicting options")
            .detail("Of -fs-mirror, -net-mirror and -oci-mirror, at most one can be given.")
            .into());
    }
    let choices = lock::Choices {
        platforms: args.platform.clone(),
        folder: args.fs_mirror.clone(),
        mirror: args.net_mirror.clone(),
        images: args.oci_mirror.clone(),
        providers: args.words.clone(),
    };
    with_interrupts(ui, |runtime| {
        let required = required(ui, world)?;
        let tell = |it: lock::Progress| ui.say(&locking(ui, &it));
        let locked = lock::lock(world, &ui.sources, &required, &choices, &tell);
        let (has_news, problems) = runtime.block_on(unless_interrupted(ui, locked))?;
        ui.diagnostics(problems);
        let style = ui.style();
        let success = style.paint(&[Paint::Bold, Paint::Green], "Success!");
        ui.say(&match has_news {
            true => format!(
                "\n{success} {}\n\nReview the changes in .terraform.lock.hcl and then commit to your\nversion control system to retain the new checksums.\n\n",
                style.bold(&format!("{PRODUCT} has updated the lock file."))
            ),
            false => format!(
                "\n{success} {}\n",
                style.bold(&format!("{PRODUCT} has validated the lock file and found no need for changes."))
            ),
        });
        Ok(0)
    })?
}

fn locking(ui: &Ui, progress: &lock::Progress) -> String {
    match progress {
        lock::Progress::Fetching(provider, version, platform) => {
            format!("- Fetching {} {version} for {platform}...\n", provider.short())
        }
        lock::Progress::Retrieved(provider, version, platform, result) => {
            let keys = match result.keys() {
                keys if keys.is_empty() => keys,
                keys => format!(", key ID {}", ui.style().bold(&keys)),
            };
            let word = result.summary();
            format!("- Retrieved {} {version} for {platform} ({word}{keys})\n", provider.short())
        }
        lock::Progress::Obtained(provider, platform, news) => {
            let what = match news {
                News::Provider => {
                    "This was a new provider and the checksums for this platform are now tracked in the lock file"
                }
                News::Hashes => {
                    "Additional checksums for this platform are now tracked in the lock file"
                }
                News::Nothing => {
                    "All checksums for this platform were already tracked in the lock file"
                }
            };
            format!("- Obtained {} checksums for {platform}; {what}\n", provider.short())
        }
    }
}

/// Fills a folder with archives of plugins.
pub fn mirror(ui: &Ui, world: &Arc<World>, args: &MirrorArgs) -> Result<u8, Diagnostics> {
    let [folder] = &args.words[..] else {
        return Err(Diagnostic::error("No output directory specified")
            .detail("The providers mirror command requires an output directory as a command-line argument.")
            .into());
    };
    let platforms = lock::platforms(&args.platform)?;
    with_interrupts(ui, |runtime| {
        let required = required(ui, world)?;
        let tell = |it: mirror::Progress| ui.say(&mirroring(&it));
        let folder = std::path::Path::new(folder);
        let work = mirror::mirror(world, &ui.sources, &required, &platforms, folder, &tell);
        let problems = runtime.block_on(unless_interrupted(ui, async { Ok(work.await) }))?;
        Ok(ui.diagnostics(problems))
    })?
}

fn mirroring(progress: &mirror::Progress) -> String {
    match progress {
        mirror::Progress::Skipped(it) => {
            format!("- Skipping {it} because it is built in to {PRODUCT}\n")
        }
        mirror::Progress::Mirroring(it) => format!("- Mirroring {}...\n", it.short()),
        mirror::Progress::Selected(version, why) => {
            let why = match why {
                Why::Locked => "to match dependency lock file".to_owned(),
                Why::Allowed(conditions) => format!("to meet constraints {conditions}"),
                Why::Newest => "with no constraints".to_owned(),
            };
            format!("  - Selected v{version} {why}\n")
        }
        mirror::Progress::Downloading(platform) => {
            format!("  - Downloading package for {platform}...\n")
        }
        mirror::Progress::Authenticated(result) => {
            format!("  - Package authenticated: {result}\n")
        }
    }
}

/// Prints what the providers of the configuration and the state accept and return.
pub fn describe(ui: &Ui, world: &Arc<World>, args: &SchemaArgs) -> Result<u8, Diagnostics> {
    no_words(&args.words)?;
    if !args.json {
        return Err(
            Diagnostic::error("The `providers schema` command requires the `-json` flag.").into()
        );
    }
    with_room(|runtime| {
        let session = Session::open_unchecked(world.clone(), ui.sources.clone())?;
        let state = session.snapshot()?.state.unwrap_or_default();
        let (required, problems) = plugins::required(&session, &state);
        if problems.has_errors() {
            return Err(problems);
        }
        let needed = required.0.into_keys();
        let (pool, problems) = runtime.block_on(Pool::schemas_only(&session.supply, needed));
        if problems.has_errors() {
            return Err(problems);
        }
        ui.diagnostics(problems);
        let schemas = pool.schemas().map(|(address, it)| (address, &**it));
        ui.out(&schema::all(schemas));
        Ok(0)
    })?
}
