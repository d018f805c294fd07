//! The program `entail-plugin`: an embedded provider, or a provisioner, served as a plugin.
//!
//! Its own file name says which: `terraform-provider-random`, perhaps with a version after it; `scripted` is one that only
//! tells how it is called, and the objects of `folder` are files. Any name that begins with `terraform-provisioner-` is a
//! provisioner that runs commands of the shell. It is used by tests; `ENTAIL_PLUGIN_FAULTS` holds what it
//! does wrong then. With `-debug` it is started by hand, and prints what `TF_REATTACH_PROVIDERS` is to be set to.

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

use entail::address::Provider;
use entail::provider::builtin;
use entail::provider::plugin::serve::{Faults, Scripted, Starter, serve, serve_provisioner};
use entail::world::World;

#[path = "plugin/folder.rs"]
mod folder;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            // Without a place to say it, the exit code has to do.
            let _ = writeln!(std::io::stderr(), "{why}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let world = Arc::new(World::of_this_process());
    let name = std::env::args_os().next().unwrap_or_default();
    let name = std::path::Path::new(&name).file_name().unwrap_or_default().to_string_lossy();
    if name.starts_with("terraform-provisioner-") {
        return runtime()?.block_on(serve_provisioner(&world));
    }
    let kind = name.strip_prefix("terraform-provider-").unwrap_or("null");
    let kind = kind.split(['_', '.']).next().unwrap_or(kind);
    let address = Provider::implied(kind);
    let provider: Arc<dyn entail::provider::Provider> = match kind {
        "scripted" => Arc::new(Scripted::new(&world)),
        "folder" => Arc::new(folder::Folder::default()),
        _ => builtin::start(&address, &world)
            .ok_or_else(|| format!("There is no embedded provider named {kind:?}."))?,
    };
    let script = world.variable("ENTAIL_PLUGIN_FAULTS").unwrap_or_default();
    let faults = Faults::parse(script)?;
    let starter = match std::env::args_os().any(|it| it == "-debug") {
        true => Starter::Person(&address),
        false => Starter::Client,
    };
    runtime()?.block_on(serve(provider, faults, &world, starter))
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()
}
