//! Provisioners: what is done when an object was created, or before it is destroyed.
//!
//! `local-exec` runs a command of this machine; `remote-exec` and `file` reach another one over SSH. Others are plugins.

use super::Context;
use crate::address::Instance;
use crate::config::{Provisioner, Resource};
use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::event::{Event, Sink};
use crate::expression::Scope;
use crate::expression::body::decode_body;
use crate::lower::gone::GoneModule;
use crate::lower::removed::RemovedBlocks;
use crate::lower::structure::{ModuleId, Structure};
use crate::observe::gone::GoneScope;
use crate::observe::problems::of_provider;
use crate::plan::Change;
use crate::provider::ProviderDiagnostic;
use crate::provider::plugin::ProvisionerPlugin;
use crate::schema::BlockSchema;
use crate::syntax::Body;
use crate::value::{Marks, Value};

mod command;
#[cfg(feature = "ssh")]
mod connection;
#[cfg(feature = "ssh")]
mod dial;
mod external;
#[cfg(feature = "ssh")]
mod keys;
mod local;
#[cfg_attr(not(feature = "ssh"), path = "without_ssh.rs")]
mod remote;
mod schema;
#[cfg(feature = "ssh")]
mod scp;
#[cfg(feature = "ssh")]
mod ssh;
#[cfg(test)]
mod tests;

use schema::Kind;
pub use schema::{check, unknown_kinds};

/// When a provisioner runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Create,
    Destroy,
}

impl When {
    fn fits(self, provisioner: &Provisioner) -> bool {
        provisioner.on_destroy == (self == When::Destroy)
    }
}

/// What is to be run of a block.
pub(super) struct Provisioners<'p> {
    listed: Vec<&'p Provisioner>,
    /// The `connection` of the block, for those that say less of their own.
    connection: Option<&'p Body>,
}

impl<'p> Provisioners<'p> {
    /// Returns what a resource's block has to run then.
    pub(super) fn of(block: &'p Resource, when: When) -> Provisioners<'p> {
        let listed = block.besides.provisioners.iter().filter(|it| when.fits(it)).collect();
        Provisioners { listed, connection: block.besides.connection.as_deref() }
    }

    /// Returns whether there is nothing to run.
    pub(super) fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }
}

/// Returns what the `removed` blocks of an object have to run before it is destroyed.
fn of_removed<'p>(ctx: &Context<'p>, address: &Instance) -> Provisioners<'p> {
    let removed = ctx.removed.get_or_init(|| RemovedBlocks::of(ctx.config));
    let blocks = removed.about(address).into_iter();
    let listed = blocks.flat_map(|it| &it.provisioners).filter(|it| When::Destroy.fits(it));
    Provisioners { listed: listed.collect(), connection: None }
}

/// Runs what runs before an object is destroyed: of its block or, where that is gone, of the `removed` block.
/// Returns whether it may be destroyed.
pub(super) async fn before_destroy(ctx: &Context<'_>, change: &Change) -> bool {
    let number = ctx.block_of(change);
    let provisioners = match number.and_then(|it| ctx.graph.written(it)) {
        Some(block) => Provisioners::of(block, When::Destroy),
        None => of_removed(ctx, &change.address),
    };
    if provisioners.listed.is_empty() {
        return true;
    }
    let (address, own) = (&change.address, change.before.clone());
    let values = &ctx.observer.values;
    let is_declared = values.structure.module_id(&address.module).is_some();
    let gone = GoneModule::at(&values.structure, ctx.config, &address.module);
    if let Some(gone) = gone.filter(|_| number.is_some() && !is_declared) {
        let scope = GoneScope::new(ctx.observer, &gone).of_instance(address.key.clone(), own);
        return run(ctx, address, &provisioners, &scope).await;
    }
    let scope = values.scope(module_of(ctx, number, address));
    let scope = scope.with_each(address.key.clone(), None).with_self(own);
    run(ctx, address, &provisioners, &scope).await
}

/// The module instance of an object or, where that is not declared any more, another of the same module, else the root.
fn module_of(ctx: &Context<'_>, block: Option<usize>, address: &Instance) -> ModuleId {
    let structure = &ctx.observer.values.structure;
    if let Some(same) = structure.module_id(&address.module) {
        return same;
    }
    let alike = match block {
        Some(block) => structure.first_of(ctx.config, &ctx.graph.module_of(block).variant),
        None => structure.first_at(&address.module.module()),
    };
    alike.unwrap_or(Structure::ROOT)
}

/// Runs provisioners one after the other until one fails. Returns whether none did.
pub(super) async fn run(
    ctx: &Context<'_>,
    address: &Instance,
    provisioners: &Provisioners<'_>,
    scope: &dyn Scope,
) -> bool {
    for it in &provisioners.listed {
        if !run_one(ctx, address, it, provisioners.connection, scope).await {
            return false;
        }
    }
    true
}

async fn run_one(
    ctx: &Context<'_>,
    address: &Instance,
    provisioner: &Provisioner,
    base: Option<&Body>,
    scope: &dyn Scope,
) -> bool {
    let Some(call) = evaluate(ctx, address, provisioner, base, scope).await else {
        return false;
    };
    let Call { runner, config, connection } = call;
    let config = config.to_marked();
    let name = &provisioner.kind.text;
    if ctx.stop.asked() > 0 {
        let problem = ProviderDiagnostic::error(
            format!("{name} provisioner error"),
            "The run was interrupted before this provisioner began.",
        );
        let body = Some(&provisioner.body);
        ctx.observer.values.report([of_provider(&problem, Some(address), body)]);
        return false;
    }
    ctx.sink.event(Event::ProvisionStart(address.clone(), name.clone()));
    let hidden = hidden_output(config.marks());
    let tell = |text: &str| {
        let text = hidden.unwrap_or(text).to_owned();
        ctx.sink.event(Event::ProvisionProgress(address.clone(), name.clone(), text));
    };
    let (config, connection) = (config.value(), connection.as_ref());
    let problems = match runner {
        Runner::BuiltIn(Kind::LocalExec) => failure(local::local_exec(ctx, config, tell).await),
        Runner::BuiltIn(Kind::RemoteExec) => {
            failure(remote::remote_exec(ctx, config, connection, tell).await)
        }
        Runner::BuiltIn(Kind::File) => failure(remote::file(ctx, config, connection).await),
        Runner::Plugin(plugin, _) => external::run(ctx, plugin, (config, connection), tell).await,
    };
    let failed = problems.iter().any(|it| it.severity == Severity::Error);
    let event = if failed { Event::ProvisionErrored } else { Event::ProvisionComplete };
    ctx.sink.event(event(address.clone(), name.clone()));
    // That the run was interrupted is no failure to go on after.
    if failed && provisioner.continue_on_failure && ctx.stop.asked() == 0 {
        return true;
    }
    let body = Some(&provisioner.body);
    ctx.observer.values.report(problems.iter().map(|it| of_provider(it, Some(address), body)));
    !failed
}

fn failure(result: Result<(), ProviderDiagnostic>) -> Vec<ProviderDiagnostic> {
    result.err().into_iter().collect()
}

/// What runs a provisioner.
enum Runner<'p> {
    BuiltIn(Kind),
    /// A plugin, and the arguments that it announces.
    Plugin(&'p ProvisionerPlugin, &'p BlockSchema),
}

impl<'p> Runner<'p> {
    /// Returns what runs a provisioner, or what is wrong with the block or the plugin.
    async fn of(
        ctx: &Context<'p>,
        provisioner: &Provisioner,
        base: Option<&Body>,
    ) -> Result<Runner<'p>, Diagnostics> {
        let plugins = &ctx.observer.pool.provisioners;
        if let Some(plugin) = plugins.plugin(&provisioner.kind.text) {
            let unsound = schema::check_connection_of(provisioner, base);
            if unsound.has_errors() {
                return Err(unsound);
            }
            let found = match plugin.schema().await {
                Ok(schema) => return Ok(Runner::Plugin(plugin, schema)),
                Err(found) => found,
            };
            let body = Some(&provisioner.body);
            let found = found.iter().map(|it| of_provider(it, None, body));
            return Err(found.collect::<Vec<_>>().into());
        }
        let unsound = schema::check_one(provisioner, base, ctx.world);
        let kind = Kind::of(provisioner).filter(|_| !unsound.has_errors());
        kind.map(Runner::BuiltIn).ok_or(unsound)
    }

    /// Returns the arguments.
    fn schema(&self) -> &BlockSchema {
        match self {
            Runner::BuiltIn(kind) => kind.schema(),
            Runner::Plugin(_, schema) => schema,
        }
    }
}

/// A provisioner that is ready to run.
struct Call<'p> {
    runner: Runner<'p>,
    config: Value,
    connection: Option<Value>,
}

/// Returns what a provisioner's arguments are now, and how it connects; nothing where something is wrong with them.
async fn evaluate<'p>(
    ctx: &Context<'p>,
    address: &Instance,
    provisioner: &Provisioner,
    base: Option<&Body>,
    scope: &dyn Scope,
) -> Option<Call<'p>> {
    let runner = match Runner::of(ctx, provisioner, base).await {
        Ok(runner) => runner,
        Err(unsound) => {
            // Those of `removed` blocks are seen only now; of the others the errors were.
            ctx.observer.values.report(unsound.into_iter().filter(Diagnostic::is_error));
            return None;
        }
    };
    let (config, mut found) = decode_body(&provisioner.body, runner.schema(), scope, &[]);
    let connection = schema::connection_of(provisioner, base).map(|body| {
        let (connection, more) = decode_body(&body, schema::connection(), scope, &[]);
        found.extend(more);
        // What it says is not printed, so that nothing of it must be hidden.
        connection.to_plain().into()
    });
    let is_sound = !found.has_errors();
    ctx.observer.values.report(
        found.into_iter().map(|it| if it.address.is_none() { it.about(address) } else { it }),
    );
    is_sound.then_some(Call { runner, config, connection })
}

/// What stands in for each line of the output, where the arguments hold something that must not be shown.
fn hidden_output(marks: &Marks) -> Option<&'static str> {
    match (marks.ephemeral, marks.sensitive) {
        (true, _) => Some("(output suppressed due to ephemeral value in config)"),
        (false, true) => Some("(output suppressed due to sensitive value in config)"),
        (false, false) => None,
    }
}

/// Returns an argument's text; nothing is the empty text.
fn text(config: &Value, name: &str) -> String {
    config.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Returns the strings of a list, without nulls.
fn list(value: Option<&Value>) -> Vec<String> {
    let items = value.filter(|it| !it.is_null()).into_iter().flat_map(Value::children);
    items.filter_map(|it| it.as_str().map(str::to_owned)).collect()
}
