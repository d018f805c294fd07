//! Where one begins: addresses, and the nodes that edited blocks stand for.

use std::collections::BTreeSet;
use std::path::Path;

use entail_rules::Node;

use super::edits::{Edit, Edits};
use crate::address::{Mode, ResourceName};
use crate::diagnostic::{Diagnostic, Sources};
use crate::lower::Structure;
use crate::lower::structure::{ModuleId, NodeKind};
use crate::operation::explain::{Asked, ExplainContext};
use crate::world::Files;

/// What changes.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// The nodes.
    pub nodes: BTreeSet<Node>,
    /// Blocks that are there no more, of which the state holds nothing.
    pub gone: Vec<String>,
}

impl Start {
    /// Adds what an address names.
    ///
    /// # Errors
    ///
    /// If nothing has it.
    pub fn address(&mut self, text: &str, context: &ExplainContext) -> Result<(), Diagnostic> {
        let asked = Asked::read(text, context)?;
        self.asked(&asked, context);
        Ok(())
    }

    /// Adds what lines of a file stand in.
    ///
    /// # Errors
    ///
    /// If the file is none of the configuration, or its lines stand in nothing that has a value.
    pub fn edits(
        &mut self,
        edits: &Edits,
        context: &ExplainContext,
        (files, root, sources): (&Files, &Path, &Sources),
    ) -> Result<(), Diagnostic> {
        let text = files.read_text(&root.join(&edits.file));
        let is_file = text.is_ok();
        let text = text.unwrap_or_default();
        let (found, gone) = edits.found(sources, &text);
        let modules = modules_of(&edits.file, context);
        if edits.before.is_none() && (found.is_empty() || modules.is_empty()) {
            let what = match (is_file, modules.is_empty()) {
                (false, _) => "There is no such file.",
                (true, true) => "The configuration does not read this file.",
                (true, false) => "No block of the configuration stands there.",
            };
            return Err(
                Diagnostic::error("Nothing stands there").detail(format!("{}: {what}", edits.file))
            );
        }
        for module in modules {
            found.iter().for_each(|it| self.edit(context, module, it));
            for edit in &gone {
                let before = self.nodes.len();
                self.edit(context, module, edit);
                if self.nodes.len() == before {
                    self.gone.push(name_of(&context.structure, module, edit));
                }
            }
        }
        Ok(())
    }

    fn edit(&mut self, context: &ExplainContext, module: ModuleId, edit: &Edit) {
        let structure = &context.structure;
        let node = structure.module(module);
        let label = |at: usize| edit.labels.get(at).map_or("", String::as_str);
        match edit.kind.as_str() {
            "variable" => self.nodes.extend(node.variables.get(label(0))),
            "local" => self.nodes.extend(node.besides.locals.get(label(0))),
            "output" => self.nodes.extend(node.outputs.get(label(0))),
            "check" => self.nodes.extend(node.besides.checks.get(label(0))),
            "resource" | "data" | "ephemeral" => {
                let mode = match edit.kind.as_str() {
                    "resource" => Mode::Managed,
                    "data" => Mode::Data,
                    _ => Mode::Ephemeral,
                };
                let name = ResourceName { mode, kind: label(0).into(), name: label(1).into() };
                // What has lost its block may be in the state still.
                let module = node.address.clone();
                let address = crate::address::Resource { module, resource: name };
                if let Some(id) = structure.resource_id(&address) {
                    self.asked(&Asked::Resource(id), context);
                }
            }
            "module" => {
                let Some(call) = structure.call_in(module, label(0)).map(|it| structure.call(it))
                else {
                    return;
                };
                for child in call.all_instances() {
                    let variables = &structure.module(child).variables;
                    match edit.argument.as_deref() {
                        Some(name) if variables.contains_key(name) => {
                            self.nodes.insert(variables[name]);
                        }
                        Some("count" | "for_each") => drop(self.nodes.insert(call.keys)),
                        _ => self.asked(&Asked::Module(child), context),
                    }
                }
            }
            "provider" => self.provider(structure, module, label(0)),
            _ => {}
        }
    }

    /// Adds what can be asked as one: the objects in it, and what modules give out.
    fn asked(&mut self, asked: &Asked, context: &ExplainContext) {
        let structure = &context.structure;
        self.nodes.extend(asked.node());
        self.nodes.extend(asked.objects(context));
        let modules = match asked {
            Asked::Module(id) => vec![*id],
            Asked::Call(id) => structure.call(*id).instances.values().copied().collect(),
            _ => Vec::new(),
        };
        self.nodes.extend(modules.iter().flat_map(|it| structure.module(*it).outputs.values()));
    }

    fn provider(&mut self, structure: &Structure, module: ModuleId, name: &str) {
        let node = structure.module(module);
        let provider = node.config.provider_of(name);
        for (at, kind) in structure.nodes.iter().enumerate() {
            let NodeKind::Provider(id) = kind else { continue };
            let config = &structure.providers[id.index()].0.config;
            if config.provider == provider && config.module == node.path {
                self.nodes.insert(Node(at as u32));
            }
        }
    }
}

/// The module instances whose files stand in the folder of a file.
fn modules_of(file: &str, context: &ExplainContext) -> Vec<ModuleId> {
    let folder = file.rsplit_once('/').map_or(".", |it| it.0);
    let is_given = file.ends_with(".tfvars") || file.ends_with(".tfvars.json");
    let all = context.structure.modules.iter().enumerate();
    let within = all.filter(|(at, it)| match is_given {
        // Values are given to the root module, wherever their file lies.
        true => *at == 0,
        false => it.config.directory == folder,
    });
    within.map(|it| ModuleId(it.0 as u32)).collect()
}

fn name_of(structure: &Structure, module: ModuleId, edit: &Edit) -> String {
    let module = &structure.module(module).address;
    let prefix = if module.is_root() { String::new() } else { format!("{module}.") };
    let kind = match edit.kind.as_str() {
        "resource" => String::new(),
        "variable" => "var.".to_owned(),
        kind => format!("{kind}."),
    };
    format!("{prefix}{kind}{}", edit.labels.join("."))
}
