//! `-generate-config-out`: blocks for imports that have none, declared before the plan and written to a file after it.

use std::path::Path;
use std::sync::Arc;

use super::session::Session;
use crate::address::{ConfigResource, InstanceKey, Module as ModuleAddr};
use crate::backend::files::{self, Fresh};
use crate::config::{Config, Import, Module, Resource, ResourceBesides};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::lower::BlockGraph;
use crate::observe::imports::without_block;
use crate::plan::Plan;
use crate::provider::{ImportName, identity_json};
use crate::rarely::Rarely;
use crate::request::{PlanMode, Request};
use crate::syntax::Body;
use crate::value::text::shown;
use crate::world::{PRODUCT, World};

/// Makes room for the blocks that the plan is to write: each import without one gets an empty block.
///
/// # Errors
///
/// If the file exists already, or the plan is none that imports.
pub fn declare(session: &mut Session, request: &Request) -> Result<(), Diagnostic> {
    let Some(path) = &request.generate_config_out else { return Ok(()) };
    if request.mode != PlanMode::Normal {
        return Err(Diagnostic::error("Invalid generate-config-out flag").detail(
            "Config can only be generated during a normal plan operation, and not during a refresh-only or destroy plan.",
        ));
    }
    must_be_new(&session.world, path)?;
    let root = session.config.root();
    let imports = root.imports.iter();
    let blocks: Vec<Resource> = imports.filter_map(|it| missing(root, it)).collect();
    if blocks.is_empty() {
        return Ok(());
    }
    let mut root = Module::clone(root);
    root.resources.extend(blocks.into_iter().map(Arc::new));
    session.config.modules.insert(ModuleAddr::default(), Arc::new(root));
    session.graph = BlockGraph::of(session.engine(), &session.config);
    Ok(())
}

fn must_be_new(world: &World, path: &Path) -> Result<(), Diagnostic> {
    if !world.files.exists(&world.root.join(path)) {
        return Ok(());
    }
    Err(Diagnostic::error("Target generated file already exists").detail(
        format!("{PRODUCT} can only write generated config into a new file. Either choose a different target location or move all existing configuration out of the target file, delete it and try again."),
    ))
}

/// The empty block of an import in the root module that has none.
fn missing(root: &Module, import: &Import) -> Option<Resource> {
    let target = import.fixed_target()?;
    let block = target.config();
    if !block.module.is_root()
        || target.key != InstanceKey::None
        || root.resources.contains_key(&block.resource)
    {
        return None;
    }
    let besides = ResourceBesides {
        generated: true,
        provider: import.provider.clone().map(Box::new),
        ..ResourceBesides::default()
    };
    Some(Resource {
        declared: import.declared,
        labels: (import.to.span, import.to.span),
        body: Body { span: import.declared, ..Body::default() },
        provider_source: root.provider_of_import(import)?.into(),
        besides: Rarely::of(besides),
        name: block.resource,
    })
}

/// Complains of imports whose resource no block declares, and for which none can be written.
pub fn missing_blocks(config: &Config, request: &Request) -> Diagnostics {
    let mut problems = Diagnostics::new();
    for (path, import) in config.imports() {
        let Some(target) = import.target_from(path) else { continue };
        if config.resource(&target).is_some() {
            continue;
        }
        problems.push(match request.generate_config_out {
            Some(_) => not_generated(config, path, import, &target),
            None => without_block(&target, Some(import.declared)),
        });
    }
    problems
}

/// - `path`: the module that the import is in.
fn not_generated(
    config: &Config,
    path: &ModuleAddr,
    import: &Import,
    target: &ConfigResource,
) -> Diagnostic {
    let address = import.fixed_target().filter(|_| path.is_root());
    let in_module = config.module(&target.module).is_none()
        || !path.is_root()
        || address.as_ref().is_some_and(|it| !it.module.is_root());
    let name = address.map_or_else(|| target.to_string(), |it| it.to_string());
    let (summary, why) = if in_module {
        (
            "Cannot generate configuration for resource inside sub-module",
            "Configuration generation is only possible for resources in the root module, and not possible for resources in sub-modules.",
        )
    } else {
        (
            "Configuration generation for count and for_each resources not supported",
            "Configuration generation is only possible for resources that do not use count or for_each",
        )
    };
    Diagnostic::error(summary)
        .detail(format!("The configuration for the given import {name} does not exist. {why}"))
        .at(import.declared)
}

/// Returns the text of a file with every block that was written for a plan; `None` where there is none.
pub fn text(plan: &Plan) -> Option<String> {
    let mut out = String::new();
    for change in &plan.changes {
        let Some(block) = &change.details.generated_config else { continue };
        let from = match change.details.importing.as_deref() {
            Some(ImportName::Id(id)) => format!(" from {}", shown(id)),
            Some(ImportName::Identity(it)) => format!(" from {}", shown(&identity_json(it))),
            None => String::new(),
        };
        out.push_str(&format!("\n# __generated__ by OpenTofu{from}\n{block}\n"));
    }
    (!out.is_empty()).then(|| {
        format!("# __generated__ by OpenTofu\n# Please review these resources and move them into your main configuration files.\n{out}")
    })
}

/// Writes the blocks of a plan into a new file, and returns whether there were any.
///
/// # Errors
///
/// If the file exists by now, or cannot be written.
pub fn write(world: &World, plan: &Plan, path: &Path) -> Result<bool, Diagnostic> {
    must_be_new(world, path)?;
    let Some(text) = text(plan) else { return Ok(false) };
    let written = match files::create(path, text.as_bytes(), Fresh::Usual) {
        Ok(false) => Err(std::io::ErrorKind::AlreadyExists.into()),
        other => other,
    };
    written.map_err(|error| {
        Diagnostic::error("Failed to create target generated file").detail(format!(
            "The generated file {} cannot be written: {error}. Choose another place for it with -generate-config-out.",
            path.display()
        ))
    })
}

/// The warning that comes with every file that was written.
pub fn experimental() -> Diagnostic {
    Diagnostic::warning("Config generation is experimental").detail(
        "Generating configuration during import is currently experimental, and the generated configuration format may change in future versions.",
    )
}
