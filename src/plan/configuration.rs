//! The part of a plan's document that says what the configuration is: blocks, and for each expression what it is or
//! refers to.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::provider_table::{Entry, key_of, local_name, provider_table};
use super::reference_text::{references, subjects};
use super::shape::{Schemas, write_known};
use crate::address::{Mode, Module as ModuleAddr, Provider, ResourceName};
use crate::config::{
    Config, Module, ModuleCall, Output, Repetition, Resource, Variable, masked, written_source,
};
use crate::diagnostic::Sources;
use crate::expression::body::written_as_blocks;
use crate::expression::{evaluate_constant, untyped};
use crate::schema::{BlockSchema, NestedBlock, Nesting, ProviderSchema};
use crate::state::text::{JsonWriter, Layout};
use crate::syntax::{self, Body, Expr, Expression, Item, ObjectKey};
use crate::value::{Str, Type, Value, json};

/// Writes the document.
///
/// - `sources`: the texts of the configuration: the document shows strings of JSON files as they are written.
pub fn document(config: &Config, schemas: &Schemas<'_>, sources: &Sources) -> String {
    write(config, Some((schemas, sources)))
}

/// Writes what one module says by itself: without expressions, whose meaning rests on others.
pub fn module_document(module: Arc<Module>) -> String {
    let mut config = Config::default();
    config.modules.insert(ModuleAddr::default(), module);
    write(&config, None)
}

fn write(config: &Config, around: Option<(&Schemas<'_>, &Sources)>) -> String {
    let (schemas, sources) = around.unzip();
    let writer = Writer { config, schemas, sources, providers: provider_table(config) };
    let mut json = JsonWriter::new(Layout::Compact);
    json.open('{');
    writer.write_providers(&mut json);
    json.key("root_module");
    writer.write_module(&mut json, &ModuleAddr::default());
    json.close('}');
    json.finish()
}

struct Writer<'a> {
    config: &'a Config,
    /// None where a module is described by itself.
    schemas: Option<&'a Schemas<'a>>,
    sources: Option<&'a Sources>,
    providers: BTreeMap<String, Entry>,
}

impl Writer<'_> {
    fn write_providers(&self, json: &mut JsonWriter) {
        let shown: Vec<_> = self.providers.iter().filter(|it| it.1.parent.is_none()).collect();
        if shown.is_empty() {
            return;
        }
        json.key("provider_config");
        json.open('{');
        for (key, entry) in shown {
            json.key(key);
            json.open('{');
            json.member("name", &entry.name);
            json.member("full_name", &entry.full_name);
            json.member_unless_empty("alias", entry.alias.as_deref().unwrap_or_default());
            json.member_unless_empty("version_constraint", &entry.version);
            json.member_unless_empty("module_address", &entry.module.to_string());
            self.write_provider_body(json, entry);
            json.close('}');
        }
        json.close('}');
    }

    fn write_provider_body(&self, json: &mut JsonWriter, entry: &Entry) {
        let module = self.config.modules.get(&entry.module);
        let is_it = |it: &&crate::config::ProviderBlock| {
            *it.name.text == *entry.name
                && it.alias.as_ref().map(|it| &it.text) == entry.alias.as_ref()
        };
        let block = module.and_then(|it| it.providers.iter().find(is_it));
        let Some(block) = block else { return };
        if let Some(schema) = self.schema_of(&block.source) {
            self.write_known(json, &block.body, &schema.provider.block);
        }
    }

    fn schema_of(&self, provider: &Provider) -> Option<Arc<ProviderSchema>> {
        self.schemas.and_then(|it| it(provider))
    }

    /// Writes what is set in a block, as far as its schema knows it.
    fn write_known(&self, json: &mut JsonWriter, body: &Body, schema: &BlockSchema) {
        let content = known_content(body, schema);
        if !content.attributes.is_empty() || !content.blocks.is_empty() {
            json.key("expressions");
            self.write_content(json, &content, schema);
        }
    }

    /// Writes what is set in a block whose schema is not at hand: every argument.
    fn write_plain(&self, json: &mut JsonWriter, body: &Body) {
        if self.schemas.is_none() {
            return;
        }
        let (mut attributes, _) = body.just_attributes();
        if attributes.is_empty() {
            return;
        }
        attributes.sort_by(|a, b| a.name.text.cmp(&b.name.text));
        json.key("expressions");
        json.open('{');
        for attribute in &attributes {
            json.key(&attribute.name.text);
            self.write_expression(json, &attribute.value);
        }
        json.close('}');
    }

    fn write_module(&self, json: &mut JsonWriter, address: &ModuleAddr) {
        json.open('{');
        if let Some(module) = self.config.modules.get(address) {
            self.write_members(json, "outputs", &module.outputs, |json, it| {
                self.write_output(json, it)
            });
            self.write_resources(json, address, module);
            self.write_members(json, "module_calls", &module.calls, |json, it| {
                self.write_call(json, address, it)
            });
            self.write_members(json, "variables", &module.variables, |json, it| {
                write_variable(json, it)
            });
        }
        json.close('}');
    }

    fn write_members<'m, T: 'm>(
        &self,
        json: &mut JsonWriter,
        name: &str,
        members: impl IntoIterator<Item = (&'m Str, &'m T)>,
        mut each: impl FnMut(&mut JsonWriter, &T),
    ) {
        let mut members = members.into_iter().peekable();
        if members.peek().is_none() {
            return;
        }
        json.key(name);
        json.open('{');
        for (name, member) in members {
            json.key(name);
            json.open('{');
            each(json, member);
            json.close('}');
        }
        json.close('}');
    }

    fn write_output(&self, json: &mut JsonWriter, output: &Output) {
        json.member_if_true("sensitive", output.sensitive);
        json.member_if_true("ephemeral", output.ephemeral);
        json.member_unless_empty("deprecated", output.deprecated.as_deref().unwrap_or_default());
        if self.schemas.is_some() {
            json.key("expression");
            self.write_expression(json, untyped(&output.value));
        }
        json.member_strings("depends_on", &subjects(&output.depends_on));
        json.member_unless_empty("description", output.description.as_deref().unwrap_or_default());
    }

    fn write_resources(&self, json: &mut JsonWriter, address: &ModuleAddr, module: &Module) {
        let order = |name: &ResourceName| match name.mode {
            Mode::Managed => 0,
            Mode::Data => 1,
            Mode::Ephemeral => 2,
        };
        let mut resources: Vec<_> = module
            .resources
            .values()
            .filter(|it| !it.besides.generated)
            .map(|it| (order(&it.name), it.name.to_string(), it))
            .collect();
        if resources.is_empty() {
            return;
        }
        resources.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        json.key("resources");
        json.open('[');
        for (_, name, resource) in resources {
            json.element();
            self.write_resource(json, address, &name, resource);
        }
        json.close(']');
    }

    fn write_resource(
        &self,
        json: &mut JsonWriter,
        address: &ModuleAddr,
        name: &str,
        resource: &Resource,
    ) {
        let key = key_of(address, &local_name(resource));
        let origin = self.providers.get(&key).and_then(|it| it.parent.clone());
        json.open('{');
        json.member("address", name);
        super::state_json::write_names(json, &resource.name);
        json.member("provider_config_key", &origin.unwrap_or(key));
        if !resource.besides.provisioners.is_empty() {
            json.key("provisioners");
            json.open('[');
            for it in &resource.besides.provisioners {
                json.element();
                json.open('{');
                json.member("type", &it.kind.text);
                self.write_plain(json, &it.body);
                json.close('}');
            }
            json.close(']');
        }
        let provider = self.schema_of(&resource.provider_source);
        let schema =
            provider.as_ref().and_then(|it| it.of(resource.name.mode, &resource.name.kind));
        if let Some(schema) = schema {
            self.write_known(json, &resource.body, &schema.block);
            json.key("schema_version");
            json.literal(schema.version);
        }
        self.write_repetition(json, &resource.besides.repetition);
        json.member_strings("depends_on", &subjects(&resource.besides.depends_on));
        json.close('}');
    }

    fn write_repetition(&self, json: &mut JsonWriter, repetition: &Repetition) {
        if self.schemas.is_none() {
            return;
        }
        let (name, expression) = match repetition {
            Repetition::Count(it) => ("count_expression", it),
            Repetition::ForEach(it) => ("for_each_expression", it),
            Repetition::Single | Repetition::Enabled(_) => return,
        };
        if !references(expression).is_empty() || self.constant(expression).is_some() {
            json.key(name);
            self.write_expression(json, expression);
        }
    }

    fn write_call(&self, json: &mut JsonWriter, address: &ModuleAddr, call: &ModuleCall) {
        let text = |it: &Option<Expression>| {
            it.as_ref().and_then(|it| it.as_static_string()).cloned().unwrap_or_default()
        };
        let child = address.child(&call.name.text);
        json.member_unless_empty("source", &masked(&self.source_of(address, call)));
        let declared = self.config.modules.get(&child).map(|it| &it.variables);
        let inputs: Vec<_> = call
            .inputs
            .iter()
            .filter(|it| declared.is_some_and(|all| all.contains_key(it.0)))
            .collect();
        if !inputs.is_empty() {
            json.key("expressions");
            json.open('{');
            for (name, input) in inputs {
                json.key(name);
                self.write_expression(json, &input.value);
            }
            json.close('}');
        }
        self.write_repetition(json, &call.repetition);
        if self.schemas.is_some() {
            json.key("module");
            self.write_module(json, &child);
        }
        json.member_unless_empty("version_constraint", &text(&call.besides.version));
        json.member_strings("depends_on", &subjects(&call.besides.depends_on));
    }

    /// Returns where a call's module comes from, with the values of the variables that decide it; nothing where each instance has its own.
    fn source_of(&self, address: &ModuleAddr, call: &ModuleCall) -> String {
        if let Some(text) = call.source.as_ref().and_then(|it| it.as_static_string()) {
            return text.to_string();
        }
        let place = self.config.static_module(address);
        place.and_then(|it| written_source(call, &it)).unwrap_or_default()
    }

    /// Writes what is set in a block, by the names that its schema knows; `dynamic` blocks are not among them.
    fn write_content(&self, json: &mut JsonWriter, content: &Body, schema: &BlockSchema) {
        let inside = |block: &syntax::Block, nested: &BlockSchema, json: &mut JsonWriter| {
            self.write_content(json, &known_content(&block.body, nested), nested);
        };
        let mut names: Vec<&Str> = schema.attributes.keys().chain(schema.blocks.keys()).collect();
        names.sort();
        let as_blocks = written_as_blocks(content, schema);
        json.open('{');
        for name in names {
            if let Some(attribute) = content.attribute(name) {
                json.key(name);
                self.write_expression(json, &attribute.value);
            }
            let blocks: Vec<&syntax::Block> = content.blocks_of(name).collect();
            if let Some(written) = as_blocks.get(name).filter(|_| !blocks.is_empty()) {
                json.key(name);
                self.write_expression(json, &as_list(&blocks, &written.block));
            }
            let (Some(nested), Some(last)) = (schema.blocks.get(name), blocks.last()) else {
                continue;
            };
            json.key(name);
            match nested.nesting {
                Nesting::Single | Nesting::Group => inside(last, &nested.block, json),
                Nesting::List | Nesting::Set => {
                    json.open('[');
                    for block in &blocks {
                        json.element();
                        inside(block, &nested.block, json);
                    }
                    json.close(']');
                }
                Nesting::Map => {
                    let label = |it: &syntax::Block| it.labels.first().map(|it| it.text.clone());
                    let by_label: BTreeMap<_, _> =
                        blocks.iter().filter_map(|it| Some((label(it)?, *it))).collect();
                    json.open('{');
                    for (label, block) in by_label {
                        json.key(&label);
                        inside(block, &nested.block, json);
                    }
                    json.close('}');
                }
            }
        }
        json.close('}');
    }

    /// Writes what an expression is, where it is constant, and what it refers to.
    fn write_expression(&self, json: &mut JsonWriter, expression: &Expression) {
        json.open('{');
        if let Some(value) = self.constant(expression) {
            json.key("constant_value");
            write_known(json, &value);
        }
        json.member_strings("references", &references(expression));
        json.close('}');
    }

    /// Returns the value of an expression without names and calls; in a JSON file, the JSON value that is the expression.
    fn constant(&self, expression: &Expression) -> Option<Value> {
        let constant = || evaluate_constant(expression).ok().filter(Value::is_wholly_known);
        self.written_in_json(expression).or_else(constant)
    }

    /// Returns an expression of a JSON file as the file has it: OpenTofu evaluates no template in it.
    fn written_in_json(&self, expression: &Expression) -> Option<Value> {
        let source = self.sources?.get(expression.span.file())?;
        if !source.name.ends_with(".json") {
            return None;
        }
        let (start, end) = (expression.span.start() as usize, expression.span.end() as usize);
        json::from_json_implied(source.text().get(start..end)?).ok()
    }
}

/// Returns the arguments and blocks of a body that its schema knows.
fn known_content(body: &Body, schema: &BlockSchema) -> Body {
    let attribute = |name| syntax::AttributeSchema { name, required: false };
    let attributes: Vec<_> = schema.attributes.keys().map(|it| attribute(&**it)).collect();
    let labels = |nesting| if nesting == Nesting::Map { &["key"] as &[&str] } else { &[] };
    let block = |kind, it: &NestedBlock| syntax::BlockSchema { kind, labels: labels(it.nesting) };
    let mut blocks: Vec<_> = schema.blocks.iter().map(|(kind, it)| block(&**kind, it)).collect();
    let as_blocks = written_as_blocks(body, schema);
    blocks.extend(as_blocks.iter().map(|(kind, it)| block(&**kind, it)));
    body.partial_content(&attributes, &blocks).0
}

/// Returns the list of objects that blocks for an attribute stand for.
fn as_list(blocks: &[&syntax::Block], schema: &BlockSchema) -> Expression {
    let value = |block: &syntax::Block, name: &Str| match block.body.attribute(name) {
        Some(attribute) => attribute.value.clone(),
        None => Expression { expr: Expr::Null, span: block.header },
    };
    let objects = blocks.iter().map(|block| {
        let item = |name: &Str| Item {
            key: ObjectKey::Name(syntax::Name::new(name.clone(), block.header)),
            value: value(block, name),
        };
        let items = schema.attributes.keys().map(item).collect();
        Expression { expr: Expr::Object(items), span: block.header }
    });
    Expression { expr: Expr::Tuple(objects.collect()), span: blocks[0].header }
}

fn write_variable(json: &mut JsonWriter, variable: &Variable) {
    if variable.ty != Type::DYNAMIC {
        json.member_raw("type", &json::type_to_json(variable.ty));
    }
    if let Some(default) = &variable.default {
        json.key("default");
        write_known(json, default);
    }
    json.member_unless_empty("description", variable.description.as_deref().unwrap_or_default());
    json.member_if_true("required", variable.default.is_none());
    json.member_if_true("sensitive", variable.sensitive);
    json.member_if_true("ephemeral", variable.ephemeral);
    json.member_unless_empty("deprecated", variable.deprecated.as_deref().unwrap_or_default());
}
