//! The files of a configuration.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::model::{Block, Kind, Model, Module, Origin, Repetition, Source};

const REQUIRED: &str = "terraform {\n  required_providers {\n    folder = { source = \"example.com/test/folder\" }\n  }\n}\n";

const NET: &str = "variable \"dir\" {}
variable \"version_\" {}
resource \"terraform_data\" \"x\" {
  input = var.dir
  triggers_replace = var.version_
}
output \"dir\" { value = terraform_data.x.output }
";

/// Returns the text of each file.
pub fn files(model: &Model) -> BTreeMap<String, String> {
    let mut files = BTreeMap::from([("net/main.tf".to_owned(), NET.to_owned())]);
    let mut root = format!("{REQUIRED}provider \"folder\" {{ dir = \"world/base\" }}\n");
    for source in &model.sources {
        files.insert(format!("notes/{}", source.name), format!("world/{}\n", source.name));
        root += &provider(source);
    }
    for block in model.blocks.iter().filter(|it| it.module.is_none()) {
        root += &self::block(model, block);
    }
    for module in &model.modules {
        let blocks: Vec<&Block> =
            model.blocks.iter().filter(|it| it.module.as_ref() == Some(&module.name)).collect();
        root += &call(model, module, &blocks);
        let texts: String = blocks.iter().map(|it| block_in_module(it)).collect();
        let inner = format!("{REQUIRED}variable \"prefix\" {{}}\n{texts}");
        if module.is_nested {
            files.insert(format!("{}/in/main.tf", module.name), inner);
            files.insert(format!("{}/main.tf", module.name), around(&blocks));
        } else {
            files.insert(format!("{}/main.tf", module.name), inner);
        }
    }
    for (address, is_destroyed) in &model.removed {
        let _ = write!(
            root,
            "removed {{\n  from = {address}\n  lifecycle {{\n    destroy = {is_destroyed}\n  }}\n}}\n"
        );
    }
    for (from, to) in &model.moved {
        let _ = write!(root, "moved {{\n  from = {from}\n  to = {to}\n}}\n");
    }
    for (address, id) in &model.imports {
        let _ = write!(root, "import {{\n  to = {address}\n  id = {id:?}\n}}\n");
    }
    files.insert("main.tf".to_owned(), root);
    files
}

/// Returns a provider configuration and all that its argument reads.
fn provider(source: &Source) -> String {
    let Source { name, kind, version } = source;
    let dir = format!("\"world/{name}\"");
    let data = |label: &str, input: &str| {
        format!(
            "resource \"terraform_data\" \"{label}_{name}\" {{\n  input = {input}\n  triggers_replace = \"{version}\"\n}}\n"
        )
    };
    let note = |path: &str| format!("data \"folder_note\" \"d_{name}\" {{ path = {path} }}\n");
    let net = |dir: &str| {
        format!(
            "module \"net_{name}\" {{\n  source = \"./net\"\n  dir = {dir}\n  version_ = \"{version}\"\n}}\n"
        )
    };
    let loan =
        |value: &str| format!("ephemeral \"folder_loan\" \"e_{name}\" {{ name = {value} }}\n");
    let output = format!("terraform_data.c_{name}.output");
    let (before, argument) = match kind {
        Kind::Constant => (String::new(), dir),
        Kind::Variable => {
            (format!("variable {name:?} {{ default = {dir} }}\n"), format!("var.{name}"))
        }
        Kind::Local => (format!("locals {{\n  {name} = {dir}\n}}\n"), format!("local.{name}")),
        Kind::Resource => (data("c", &dir), output),
        Kind::Part => {
            (data("c", &format!("{{ dir = {dir}, of = {version} }}")), format!("{output}.dir"))
        }
        Kind::Chain => {
            let local = format!("locals {{\n  l_{name} = {output}\n}}\n");
            let network = format!("terraform_data.n_{name}.output");
            (data("n", &dir) + &data("c", &network) + &local, format!("local.l_{name}"))
        }
        Kind::Data => {
            (note(&format!("\"notes/{name}\"")), format!("data.folder_note.d_{name}.text"))
        }
        Kind::DataOfResource => (
            data("c", &format!("\"notes/{name}\"")) + &note(&output),
            format!("data.folder_note.d_{name}.text"),
        ),
        Kind::ModuleOutput => (net(&dir), format!("module.net_{name}.dir")),
        Kind::ModuleChain => (data("c", &dir) + &net(&output), format!("module.net_{name}.dir")),
        Kind::Ephemeral => (loan(&dir), format!("ephemeral.folder_loan.e_{name}.value")),
        Kind::EphemeralOfResource => {
            (data("c", &dir) + &loan(&output), format!("ephemeral.folder_loan.e_{name}.value"))
        }
        Kind::Instances => (String::new(), format!("\"world/{name}-${{each.key}}\"")),
        Kind::InstancesOfResource => (data("c", &dir), format!("\"${{{output}}}-${{each.key}}\"")),
    };
    let keys =
        if kind.has_instances() { "  for_each = toset([\"a\", \"b\", \"c\"])\n" } else { "" };
    format!("{before}provider \"folder\" {{\n  alias = {name:?}\n{keys}  dir = {argument}\n}}\n")
}

/// Returns how a provider is named by a block or a module call with this repetition.
fn reference(model: &Model, name: &str, repetition: &Repetition, instance: &str) -> String {
    match (model.source(name).kind.has_instances(), repetition, instance) {
        (false, _, _) => format!("folder.{name}"),
        (true, Repetition::Keys(_), "") => format!("folder.{name}[each.key]"),
        (true, _, "") => format!("folder.{name}[\"a\"]"),
        (true, _, key) => format!("folder.{name}[{key:?}]"),
    }
}

fn set(keys: &[&str]) -> String {
    format!("toset({keys:?})")
}

/// Returns what is declared for the repetition of a block, the line for it, and how its instances are named apart.
fn repetition(block: &Block) -> (String, String, &'static str) {
    let name = &block.name;
    let (argument, value, key) = match &block.repetition {
        Repetition::Once | Repetition::Enabled(_) => return (String::new(), String::new(), ""),
        Repetition::Count(count) => ("count", count.to_string(), "-${count.index}"),
        Repetition::Keys(keys) => ("for_each", set(keys), "-${each.key}"),
    };
    let (before, value) = match block.origin {
        Origin::Constant => (String::new(), value),
        Origin::Call => (format!("variable \"n_{name}\" {{}}\n"), format!("var.n_{name}")),
        Origin::Local => {
            (format!("locals {{\n  n_{name} = {value}\n}}\n"), format!("local.n_{name}"))
        }
        Origin::Variable => match &block.repetition {
            Repetition::Keys(keys) => (
                format!("variable \"n_{name}\" {{ default = {keys:?} }}\n"),
                format!("toset(var.n_{name})"),
            ),
            _ => (
                format!("variable \"n_{name}\" {{ default = {value} }}\n"),
                format!("var.n_{name}"),
            ),
        },
        Origin::Resource => {
            let before =
                format!("resource \"terraform_data\" \"k_{name}\" {{ {argument} = {value} }}\n");
            match argument {
                "count" => (before, format!("length(terraform_data.k_{name})")),
                _ => (before, format!("terraform_data.k_{name}")),
            }
        }
    };
    (before, format!("  {argument} = {value}\n"), key)
}

fn block(model: &Model, block: &Block) -> String {
    let provider = reference(model, &block.source, &block.repetition, block.instance);
    block_text(block, &format!("  provider = {provider}\n"), "")
}

fn block_in_module(block: &Block) -> String {
    block_text(block, "", "${var.prefix}-")
}

fn block_text(block: &Block, provider: &str, prefix: &str) -> String {
    let (before, repeats, key) = repetition(block);
    let name = block.file.as_ref().map(|it| format!("  name = \"{prefix}{it}{key}\"\n"));
    let mut lifecycle = String::new();
    // A second object cannot have the name of the first.
    if block.is_created_first && block.file.is_none() {
        lifecycle += "    create_before_destroy = true\n";
    }
    if let Repetition::Enabled(is_on) = block.repetition {
        let _ = writeln!(lifecycle, "    enabled = {is_on}");
    }
    if !lifecycle.is_empty() {
        lifecycle = format!("  lifecycle {{\n{lifecycle}  }}\n");
    }
    format!(
        "{before}resource \"folder_file\" {:?} {{\n{repeats}{provider}{}  text = \"{}\"\n{lifecycle}}}\n",
        block.name,
        name.unwrap_or_default(),
        block.text
    )
}

/// Returns the blocks whose repetition is an argument of their module.
fn passed<'a>(blocks: &'a [&'a Block]) -> impl Iterator<Item = (&'a Block, String)> {
    blocks.iter().filter(|it| it.origin == Origin::Call).filter_map(|it| {
        let value = match &it.repetition {
            Repetition::Once | Repetition::Enabled(_) => return None,
            Repetition::Count(count) => count.to_string(),
            Repetition::Keys(keys) => set(keys),
        };
        Some((*it, value))
    })
}

/// Returns the call of a module.
fn call(model: &Model, module: &Module, blocks: &[&Block]) -> String {
    let provider = reference(model, &module.source, &module.repetition, "");
    let (repeats, key) = match &module.repetition {
        Repetition::Once => (String::new(), ""),
        Repetition::Count(count) => (format!("  count = {count}\n"), "-${count.index}"),
        Repetition::Keys(keys) => (format!("  for_each = {}\n", set(keys)), "-${each.key}"),
        Repetition::Enabled(is_on) => {
            (format!("  lifecycle {{\n    enabled = {is_on}\n  }}\n"), "")
        }
    };
    let arguments: String =
        passed(blocks).map(|(it, value)| format!("  n_{} = {value}\n", it.name)).collect();
    format!(
        "module {name:?} {{\n  source = \"./{name}\"\n{repeats}{arguments}  prefix = \"{name}{key}\"\n  providers = {{ folder = {provider} }}\n}}\n",
        name = module.name
    )
}

/// Returns the module between the root and a nested one.
fn around(blocks: &[&Block]) -> String {
    let mut text = format!("{REQUIRED}variable \"prefix\" {{}}\n");
    let mut arguments = String::new();
    for (block, _) in passed(blocks) {
        let _ = writeln!(text, "variable \"n_{}\" {{}}", block.name);
        let _ = writeln!(arguments, "  n_{0} = var.n_{0}", block.name);
    }
    text + "module \"in\" {\n  source = \"./in\"\n  prefix = var.prefix\n" + &arguments + "}\n"
}
