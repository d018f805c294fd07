//! A body sorted by what its reader expects: one way for native and JSON syntax.
//!
//! In JSON a member's name does not say whether it is an argument or a block, so a body keeps its members until a reader
//! names what it knows. Native attributes and blocks pass through the same door and get the same checks.

use std::collections::BTreeMap;

use super::json::{JsonKind, JsonString, JsonValue};
use super::parser::exact;
use super::place::Place;
use super::{
    Attribute, Block, Body, Expr, Expression, Item, JsonBody, Name, ObjectKey, expression_at,
    problems, template_at,
};
use crate::diagnostic::{Diagnostics, Span};
use crate::value::{Str, nfc};

/// An argument that a body may have.
#[derive(Clone, Copy, Debug)]
pub struct AttributeSchema<'a> {
    /// Its name.
    pub name: &'a str,
    /// Whether it must be there.
    pub required: bool,
}

/// A type of block that a body may have, any number of times.
#[derive(Clone, Copy, Debug)]
pub struct BlockSchema<'a> {
    /// The block's type.
    pub kind: &'a str,
    /// What its labels are called; in JSON each is a level of nested objects.
    pub labels: &'a [&'a str],
}

impl Body {
    /// Returns the attributes and blocks that a schema names, and reports everything else in the body.
    ///
    /// In the result both are plain attributes and blocks, whatever the syntax. In JSON: a string is a template, an array
    /// makes several blocks, `null` makes no block (as an attribute it stays `null`), and members named `//` are comments.
    pub fn content(
        &self,
        attributes: &[AttributeSchema<'_>],
        blocks: &[BlockSchema<'_>],
    ) -> (Body, Diagnostics) {
        self.clone().into_content(attributes, blocks)
    }

    /// Like [`Body::content`], without copying.
    pub fn into_content(
        self,
        attributes: &[AttributeSchema<'_>],
        blocks: &[BlockSchema<'_>],
    ) -> (Body, Diagnostics) {
        let (known, rest, mut diags) = self.into_partial_content(attributes, blocks);
        report_rest(&known, &rest, attributes, blocks, &mut diags);
        (known, diags)
    }

    /// Returns the attributes and blocks that a schema names, and the rest of the body.
    pub fn partial_content(
        &self,
        attributes: &[AttributeSchema<'_>],
        blocks: &[BlockSchema<'_>],
    ) -> (Body, Body, Diagnostics) {
        self.clone().into_partial_content(attributes, blocks)
    }

    /// Like [`Body::partial_content`], without copying.
    pub fn into_partial_content(
        self,
        attributes: &[AttributeSchema<'_>],
        blocks: &[BlockSchema<'_>],
    ) -> (Body, Body, Diagnostics) {
        let mut diags = Diagnostics::new();
        let span = self.span;
        let missing_at = self.missing_at();
        let is_attribute = |name: &Name| attributes.iter().any(|it| it.name == &*name.text);
        let schema_of = |name: &Name| blocks.iter().find(|it| it.kind == &*name.text);

        let count = self.attributes.iter().filter(|it| is_attribute(&it.name)).count();
        let (own, other) = match count {
            0 => (Vec::new(), self.attributes),
            all if all == self.attributes.len() => (self.attributes, Vec::new()),
            _ => self.attributes.into_iter().partition(|it| is_attribute(&it.name)),
        };
        let mut known = Body { attributes: own, span, ..Body::default() };
        let mut rest = Body { attributes: other, span, ..Body::default() };
        for block in self.blocks {
            match schema_of(&block.kind) {
                None => rest.blocks.push(block),
                Some(schema) if has_labels(&block, schema, &mut diags) => known.blocks.push(block),
                Some(_) => {}
            }
        }
        if let Some(json) = self.json {
            let mut left = Vec::new();
            for (name, value) in json.members {
                if is_attribute(&name) {
                    add_attribute(
                        &mut known.attributes,
                        name,
                        |diags| template(&value, diags),
                        &mut diags,
                    );
                } else if let Some(schema) = schema_of(&name) {
                    unpack(
                        &name,
                        value,
                        schema.labels,
                        &mut Vec::new(),
                        &mut known.blocks,
                        &mut diags,
                    );
                } else {
                    left.push((name, value));
                }
            }
            rest.json = Some(Box::new(JsonBody { members: left }));
        }
        for schema in attributes.iter().filter(|it| it.required) {
            if known.attribute(schema.name).is_none() {
                diags.push(problems::missing_argument(schema.name, missing_at));
            }
        }
        (rest.attributes, rest.blocks) =
            (exact(rest.attributes), exact(rest.blocks.into_inner()).into());
        (known, rest, diags)
    }

    /// Returns every attribute of a body that holds no blocks, such as `locals`. Reports blocks.
    pub fn just_attributes(&self) -> (Vec<Attribute>, Diagnostics) {
        self.all_attributes(template)
    }

    /// Like [`Body::just_attributes`], with strings of JSON taken as they are: for files of variable values.
    pub fn literal_attributes(&self) -> (Vec<Attribute>, Diagnostics) {
        self.all_attributes(|value, diags| lower(value, &mut plain_string, diags))
    }

    fn all_attributes(
        &self,
        lower: impl Fn(&JsonValue, &mut Diagnostics) -> Expression,
    ) -> (Vec<Attribute>, Diagnostics) {
        let mut diags = Diagnostics::new();
        if let Some(block) = self.blocks.first() {
            diags.push(problems::unexpected_block(&block.kind.text, block.kind.span));
        }
        let mut attributes = self.attributes.clone();
        let members = self.json.iter().flat_map(|it| &it.members).filter(|it| &*it.0.text != "//");
        let mut seen: BTreeMap<Str, ()> =
            attributes.iter().map(|it| (it.name.text.clone(), ())).collect();
        for (name, value) in members {
            match seen.insert(name.text.clone(), ()) {
                None => attributes
                    .push(Attribute { name: name.clone(), value: lower(value, &mut diags) }),
                Some(()) => diags.push(problems::duplicate_definition(&name.text, name.span)),
            }
        }
        (attributes, diags)
    }

    /// Returns the value of an attribute, strings of JSON taken as they are: for texts that are never evaluated, such as a
    /// description.
    pub fn literal(&self, name: &str) -> Option<Expression> {
        if let Some(attribute) = self.attribute(name) {
            return Some(attribute.value.clone());
        }
        let (_, value) =
            self.json.iter().flat_map(|it| &it.members).find(|it| &*it.0.text == name)?;
        Some(lower(value, &mut plain_string, &mut Diagnostics::new()))
    }

    /// Returns the value of an attribute whose form counts, such as `depends_on`, `provider` or `type`: in JSON the text of
    /// every string in it is read as an expression.
    pub fn bare(&self, name: &str) -> Result<Option<Expression>, Diagnostics> {
        if let Some(attribute) = self.attribute(name) {
            return Ok(Some(attribute.value.clone()));
        }
        let members = self.json.iter().flat_map(|it| &it.members);
        let Some((_, value)) = members.into_iter().find(|it| &*it.0.text == name) else {
            return Ok(None);
        };
        let mut diags = Diagnostics::new();
        let result = lower(value, &mut bare_string, &mut diags);
        if diags.has_errors() { Err(diags) } else { Ok(Some(result)) }
    }

    /// Returns where something that is missing in the body should be: its opening brace; in JSON the closing one.
    fn missing_at(&self) -> Span {
        match self.json {
            Some(_) => {
                self.span.starting_at(self.span.end().saturating_sub(1).max(self.span.start()))
            }
            None => self.span.first(),
        }
    }
}

/// Reports what a schema does not know.
fn report_rest(
    known: &Body,
    rest: &Body,
    attributes: &[AttributeSchema<'_>],
    blocks: &[BlockSchema<'_>],
    diags: &mut Diagnostics,
) {
    let unused: Vec<&str> =
        attributes.iter().map(|it| it.name).filter(|it| known.attribute(it).is_none()).collect();
    let kinds: Vec<&str> = blocks.iter().map(|it| it.kind).collect();
    for Attribute { name, .. } in &rest.attributes {
        diags.push(problems::unsupported_argument(&name.text, &unused, &kinds, name.span));
    }
    for Block { kind, .. } in &rest.blocks {
        let names: Vec<&str> = attributes.iter().map(|it| it.name).collect();
        diags.push(problems::unsupported_block(&kind.text, &kinds, &names, kind.span));
    }
    let names: Vec<&str> = unused.into_iter().chain(kinds).collect();
    for (name, value) in
        rest.json.iter().flat_map(|it| &it.members).filter(|it| &*it.0.text != "//")
    {
        diags.push(problems::extraneous_property(
            &name.text,
            &names,
            name.span,
            name.span.to(value.span),
        ));
    }
}

/// Checks the number of labels of a block of native syntax.
fn has_labels(block: &Block, schema: &BlockSchema<'_>, diags: &mut Diagnostics) -> bool {
    let (given, wanted) = (block.labels.len(), schema.labels.len());
    let open = block.body.span.ending_at(block.body.span.start() + 1);
    if given > wanted {
        let at = block.labels[wanted].span;
        diags.push(problems::extraneous_label(
            schema.kind,
            schema.labels,
            at,
            block.header.to(open),
        ));
    } else if given < wanted {
        let label = schema.labels[given];
        diags.push(problems::missing_label(
            label,
            schema.kind,
            schema.labels,
            open,
            block.header.to(open),
        ));
    }
    given == wanted
}

fn add_attribute(
    attributes: &mut Vec<Attribute>,
    name: Name,
    value: impl FnOnce(&mut Diagnostics) -> Expression,
    diags: &mut Diagnostics,
) {
    if attributes.iter().any(|it| it.name.text == name.text) {
        return diags.push(problems::duplicate_argument(&name.text, name.span));
    }
    let value = value(diags);
    attributes.push(Attribute { name, value });
}

/// Makes blocks of a JSON member: a level of objects for each label, then an object, or an array of objects, for each
/// block.
fn unpack(
    kind: &Name,
    value: JsonValue,
    labels_left: &[&str],
    labels: &mut Vec<Name>,
    blocks: &mut Vec<Block>,
    diags: &mut Diagnostics,
) {
    if let [label, more @ ..] = labels_left {
        let at = start_of(&value);
        let Some(members) = object_members(value, Some(label), diags) else { return };
        if members.is_empty() {
            return diags.push(problems::missing_json_label(label, &kind.text, at));
        }
        for (name, value) in members {
            labels.push(name);
            unpack(kind, value, more, labels, blocks, diags);
            labels.pop();
        }
        return;
    }
    let bodies = match value.kind {
        JsonKind::Null => return,
        JsonKind::Object(_) => vec![value],
        JsonKind::Array(items) => items,
        _ => return diags.push(problems::json_block_type(&kind.text, start_of(&value))),
    };
    for value in bodies {
        // What is before it may be far above, and is shared with others: a block begins with its own object.
        let (span, header) = (value.span, start_of(&value));
        let Some(members) = object_members(value, None, diags) else { continue };
        let body = Body { span, json: Some(Box::new(JsonBody { members })), ..Body::default() };
        blocks.push(Block { kind: kind.clone(), labels: labels.clone(), body, header });
    }
}

/// Returns the members of an object, or of all objects in an array; none of `null`.
fn object_members(
    value: JsonValue,
    label: Option<&str>,
    diags: &mut Diagnostics,
) -> Option<Vec<(Name, JsonValue)>> {
    match value.kind {
        JsonKind::Null => Some(Vec::new()),
        JsonKind::Object(members) => Some(members),
        JsonKind::Array(items) => {
            let mut all = Vec::new();
            for item in items {
                match item.kind {
                    JsonKind::Object(members) => all.extend(members),
                    _ => diags.push(problems::json_object_required(label, start_of(&item))),
                }
            }
            Some(all)
        }
        _ => {
            diags.push(problems::json_object_required(label, start_of(&value)));
            None
        }
    }
}

/// Returns where a value begins: its bracket, or all of a simple one.
fn start_of(value: &JsonValue) -> Span {
    match value.kind {
        JsonKind::Object(_) | JsonKind::Array(_) => value.span.ending_at(value.span.start() + 1),
        _ => value.span,
    }
}

/// How a string of JSON becomes an expression.
type ReadString<'a> = dyn FnMut(&JsonString, Span, &mut Diagnostics) -> Expression + 'a;

fn template(value: &JsonValue, diags: &mut Diagnostics) -> Expression {
    lower(value, &mut template_string, diags)
}

fn string(text: &str, span: Span) -> Expression {
    Expression { expr: Expr::String(nfc(text)), span }
}

fn plain_string(it: &JsonString, span: Span, _: &mut Diagnostics) -> Expression {
    string(&it.text, span)
}

fn template_string(it: &JsonString, span: Span, _: &mut Diagnostics) -> Expression {
    if !it.text.contains("${") && !it.text.contains("%{") {
        return string(&it.text, span);
    }
    let expr = match template_at(&it.text, place(it, span)) {
        Ok(it) => it.expr,
        Err(problems) => Expr::Broken(Box::new(problems)),
    };
    Expression { expr, span }
}

fn bare_string(it: &JsonString, span: Span, diags: &mut Diagnostics) -> Expression {
    match expression_at(&it.text, place(it, span)) {
        Ok(it) => it,
        Err(problems) => {
            diags.extend(problems);
            string(&it.text, span)
        }
    }
}

fn place(it: &JsonString, span: Span) -> Place<'_> {
    match it.escapes.is_empty() {
        true => Place::plain(span.file(), span.start() as usize + 1),
        false => Place { file: span.file(), base: span.start() as usize, map: &it.escapes },
    }
}

/// Turns a JSON value into an expression. Names of members are strings like any other.
fn lower(value: &JsonValue, read: &mut ReadString<'_>, diags: &mut Diagnostics) -> Expression {
    let expr = match &value.kind {
        JsonKind::Null => Expr::Null,
        JsonKind::Bool(it) => Expr::Bool(*it),
        JsonKind::Number(it) => Expr::Number(it.clone()),
        JsonKind::String(it) => return read(it, value.span, diags),
        JsonKind::Array(items) => {
            Expr::Tuple(items.iter().map(|it| lower(it, read, diags)).collect())
        }
        JsonKind::Object(members) => {
            let mut seen: BTreeMap<&str, ()> = BTreeMap::new();
            let mut items = Vec::with_capacity(members.len());
            for (name, value) in members {
                if seen.insert(&name.text, ()).is_some() {
                    diags.push(problems::duplicate_property(&name.text, name.span));
                }
                let key = JsonString { text: name.text.clone(), escapes: Box::default() };
                let key = ObjectKey::Expression(Box::new(read(&key, name.span, diags)));
                items.push(Item { key, value: lower(value, read, diags) });
            }
            Expr::Object(items.into())
        }
    };
    Expression { expr, span: value.span }
}
