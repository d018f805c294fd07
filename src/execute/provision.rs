//! Provisioners: commands that run when an object was created, or before it is destroyed.
//!
//! `local-exec` is the one that there is. The others need a connection to another machine.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::Context;
use super::command::Command;
use crate::address::Instance;
use crate::config::{Provisioner, Resource};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::expression::body::{decode_body, validate_body};
use crate::expression::evaluate_constant;
use crate::lower::structure::{ModuleId, Structure};
use crate::observe::problems::of_provider;
use crate::observe::values::ValueScope;
use crate::operation::event::{Event, Sink};
use crate::plan::Change;
use crate::provider::ProviderDiagnostic;
use crate::schema::{AttributeSchema, BlockSchema};
use crate::value::text::shown;
use crate::value::{Marks, Type, Value};

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

/// Returns whether any of them runs then.
pub(super) fn has_any(provisioners: &[Provisioner], when: When) -> bool {
    provisioners.iter().any(|it| when.fits(it))
}

/// Checks the provisioners of a block before anything is done. What they evaluate to is seen when they run.
pub fn check(block: &Resource) -> Diagnostics {
    let mut problems = Diagnostics::new();
    block.provisioners.iter().for_each(|it| problems.extend(check_one(it)));
    problems
}

fn check_one(provisioner: &Provisioner) -> Diagnostics {
    match &*provisioner.kind.text {
        "local-exec" => {}
        "file" | "remote-exec" => return not_supported(provisioner).into(),
        _ => return unknown_kind(provisioner).into(),
    }
    let mut problems = validate_body(&provisioner.body, schema());
    let (attributes, _) = provisioner.body.just_attributes();
    let command = attributes
        .iter()
        .find(|it| &*it.name.text == "command")
        .map(|it| evaluate_constant(&it.value));
    if command.is_some_and(|it| it.is_ok_and(|value| value.as_str() == Some(""))) {
        problems.push(no_command(provisioner));
    }
    problems
}

/// The arguments of `local-exec`.
fn schema() -> &'static BlockSchema {
    static SCHEMA: OnceLock<BlockSchema> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let optional = |ty: Type| AttributeSchema { optional: true, ..AttributeSchema::of(ty) };
        let attributes = BTreeMap::from([
            (
                "command".into(),
                AttributeSchema { required: true, ..AttributeSchema::of(Type::STRING) },
            ),
            ("environment".into(), optional(Type::map(Type::STRING))),
            ("interpreter".into(), optional(Type::list(Type::STRING))),
            ("quiet".into(), optional(Type::BOOL)),
            ("working_dir".into(), optional(Type::STRING)),
        ]);
        BlockSchema { attributes, ..BlockSchema::default() }
    })
}

/// Runs what runs before an object is destroyed: of its block or, where that is gone, of the `removed` block.
/// Returns whether it may be destroyed.
pub(super) async fn before_destroy(ctx: &Context<'_>, change: &Change) -> bool {
    let provisioners: Vec<&Provisioner> = match ctx.config.resource(&change.address.config()) {
        Some(block) => block.provisioners.iter().collect(),
        None => ctx
            .config
            .modules
            .iter()
            .flat_map(|(path, module)| module.removed.iter().map(move |it| (path, it)))
            .filter(|(path, block)| {
                crate::lower::requested::removes(path, &block.from.0, &change.address)
            })
            .flat_map(|it| &it.1.provisioners)
            .collect(),
    };
    let scope =
        ctx.observer.values.scope(module_of(&ctx.observer.values.structure, &change.address));
    let scope = scope.with_each(change.address.key.clone(), None).with_self(change.before.clone());
    run(ctx, &change.address, provisioners, When::Destroy, &scope).await
}

/// The module instance of an object or, where that is not declared any more, another of the same module, else the root.
fn module_of(structure: &Structure, address: &Instance) -> ModuleId {
    let same = structure.modules.iter().position(|it| it.address == address.module);
    let alike = || structure.modules.iter().position(|it| it.path == address.module.module());
    same.or_else(alike).map_or(Structure::ROOT, |it| ModuleId(it as u32))
}

/// Runs provisioners one after the other until one fails. Returns whether none did.
pub(super) async fn run<'p>(
    ctx: &Context<'_>,
    address: &Instance,
    provisioners: impl IntoIterator<Item = &'p Provisioner>,
    when: When,
    scope: &ValueScope<'_, '_>,
) -> bool {
    for provisioner in provisioners.into_iter().filter(|it| when.fits(it)) {
        if !run_one(ctx, address, provisioner, scope).await {
            return false;
        }
    }
    true
}

async fn run_one(
    ctx: &Context<'_>,
    address: &Instance,
    provisioner: &Provisioner,
    scope: &ValueScope<'_, '_>,
) -> bool {
    let unsound = check_one(provisioner);
    if unsound.has_errors() {
        // Those of `removed` blocks are seen only now.
        ctx.observer.values.report(unsound);
        return false;
    }
    let (config, found) = decode_body(&provisioner.body, schema(), scope, &[]);
    let is_wrong = found.has_errors();
    ctx.observer.values.report(
        found.into_iter().map(|it| if it.address.is_none() { it.about(address) } else { it }),
    );
    if is_wrong {
        return false;
    }
    let (config, marks) = config.unmark_deep();
    let kind = &provisioner.kind.text;
    ctx.sink.event(Event::ProvisionStart(address.clone(), kind.clone()));
    let hidden = hidden_output(&marks);
    let tell = |text: &str| {
        let text = hidden.unwrap_or(text).to_owned();
        ctx.sink.event(Event::ProvisionProgress(address.clone(), kind.clone(), text));
    };
    let result = local_exec(ctx, &config, tell).await;
    let event = if result.is_ok() { Event::ProvisionComplete } else { Event::ProvisionErrored };
    ctx.sink.event(event(address.clone(), kind.clone()));
    let Err(problem) = result else { return true };
    if provisioner.continue_on_failure {
        return true;
    }
    ctx.observer.values.report([of_provider(
        &problem,
        Some(address),
        Some((&provisioner.body, provisioner.declared)),
    )]);
    false
}

/// What stands in for each line of the output, where the arguments hold something that must not be shown.
fn hidden_output(marks: &Marks) -> Option<&'static str> {
    match (marks.ephemeral, marks.sensitive) {
        (true, _) => Some("(output suppressed due to ephemeral value in config)"),
        (false, true) => Some("(output suppressed due to sensitive value in config)"),
        (false, false) => None,
    }
}

async fn local_exec(
    ctx: &Context<'_>,
    config: &Value,
    tell: impl Fn(&str),
) -> Result<(), ProviderDiagnostic> {
    let text = |name: &str| config.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let command = text("command");
    if !config.is_wholly_known() || command.is_empty() {
        return Err(ProviderDiagnostic::error(
            "Invalid local-exec provisioner command",
            "The command must be a non-empty string.",
        ));
    }
    let items = |name: &str| config.get(name).map(Value::entries).unwrap_or_default();
    let mut words: Vec<String> = list(config.get("interpreter"));
    if words.is_empty() {
        words = vec!["/bin/sh".into(), "-c".into()];
    }
    words.push(command.clone());
    let environment = items("environment")
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_string(), value.as_str()?.to_owned())))
        .collect();
    let folder_shown = text("working_dir");
    let run =
        Command { words, environment, folder: ctx.world.root.join(&folder_shown), folder_shown };
    match config.get("quiet").and_then(Value::as_bool) {
        Some(true) => tell("local-exec: Executing: Suppressed by quiet=true"),
        _ => tell(&format!(
            "Executing: [{}]",
            run.words.iter().map(|it| shown(it)).collect::<Vec<_>>().join(" ")
        )),
    }
    run.run(ctx.stop, tell).await.map_err(|(why, output)| {
        ProviderDiagnostic::error(
            "local-exec provisioner error",
            format!("Error running command '{command}': {why}. Output: {output}"),
        )
    })
}

/// The strings of a list, without nulls.
fn list(value: Option<&Value>) -> Vec<String> {
    let items = value.filter(|it| !it.is_null()).into_iter().flat_map(Value::children);
    items.filter_map(|it| it.as_str().map(str::to_owned)).collect()
}

/// A provisioner that is part of the language, but not of this program yet.
fn not_supported(provisioner: &Provisioner) -> Diagnostic {
    let kind = &provisioner.kind.text;
    Diagnostic::error("Unsupported provisioner").at(provisioner.kind.span).detail(format!(
        "The provisioner {kind:?} needs a connection to another machine, which entail does not support yet. Nothing is planned or \
         changed. Of the provisioners, \"local-exec\" is supported."
    ))
}

/// A provisioner that nobody knows.
fn unknown_kind(provisioner: &Provisioner) -> Diagnostic {
    let kind = &provisioner.kind.text;
    Diagnostic::error("Missing required provisioner plugin").at(provisioner.kind.span).detail(format!(
        "This configuration requires provisioner plugin {kind:?}, which isn't available. External provisioner plugins are not supported."
    ))
}

/// The command is empty.
fn no_command(provisioner: &Provisioner) -> Diagnostic {
    Diagnostic::error("Invalid local-exec provisioner command")
        .at(provisioner.declared)
        .detail("The command must be a non-empty string.")
}
