//! The keys between brackets: of instances, and of configurations of providers, as far as they are written out.

use super::{Item, Place, Sort, keys_of_local};
use crate::address::{Mode, ResourceName};
use crate::assist::index::{Entity, value};
use crate::assist::module::Module;
use crate::syntax::{Block, Expr, Expression, Step};
use crate::value::Str;

/// How many numbers are offered of a `count`.
const NUMBERS: i64 = 20;

/// Returns the keys of what stands before a bracket.
///
/// - `steps`: its names: `terraform_data`, `a`.
/// - `is_quoted`: whether a quote is open behind the bracket.
pub(super) fn instance_keys(place: &Place<'_>, steps: &[String], is_quoted: bool) -> Vec<Item> {
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    let managed = |kind: &str, name: &str| Entity::Resource(ResourceName::managed(kind, name));
    let entity = match *steps {
        ["module", name] => Entity::Call(name.into()),
        ["data", kind, name] => Entity::Resource(ResourceName {
            mode: Mode::Data,
            kind: kind.into(),
            name: name.into(),
        }),
        ["local", name] => return written(keys_of_local(&place.module, name), is_quoted),
        [kind, name] if place.module.declares(&managed(kind, name)) => managed(kind, name),
        [name, alias] => Entity::Provider(name.into(), Some(alias.into())),
        _ => return Vec::new(),
    };
    let Some((_, block)) = place.module.block(&entity) else { return Vec::new() };
    match value(&block.body, "count").map(|it| it.expr) {
        Some(Expr::Number(count)) if !is_quoted => {
            let count = count.as_i64().unwrap_or(0).min(NUMBERS);
            (0..count).map(|it| Item::new(it.to_string(), Sort::Word, "instance")).collect()
        }
        _ => written(of_block(&place.module, block), is_quoted),
    }
}

fn written(items: Vec<Item>, is_quoted: bool) -> Vec<Item> {
    let item = |it: Item| {
        let label = if is_quoted { it.label } else { format!("{:?}", it.label) };
        Item::new(label, Sort::Word, "key")
    };
    items.into_iter().map(item).collect()
}

/// The keys that `for_each` gives a block.
fn of_block(module: &Module, block: &Block) -> Vec<Item> {
    let item = |it: &Str| Item::new(&**it, Sort::Word, "");
    match value(&block.body, "for_each").map(|it| it.expr) {
        Some(Expr::Object(items)) => {
            items.iter().filter_map(|it| it.key.as_static_string().map(item)).collect()
        }
        Some(Expr::Call(call)) if &*call.name.text == "toset" => match call.arguments.first() {
            Some(Expression { expr: Expr::Tuple(items), .. }) => {
                items.iter().filter_map(|it| it.as_static_string().map(item)).collect()
            }
            _ => Vec::new(),
        },
        Some(Expr::Traversal(it)) if &*it.root().text == "local" => match it.steps() {
            [Step::Attribute(name)] => keys_of_local(module, &name.text),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}
