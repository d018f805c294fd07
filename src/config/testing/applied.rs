//! What a test makes of a configuration: other provider blocks, and modules that only have outputs.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::{Config, Module, Output, ProviderBlock, Variable};
use crate::address::Module as ModuleAddr;
use crate::diagnostic::Span;
use crate::syntax::{Expr, Expression, Item, Name, ObjectKey};
use crate::value::{Str, Value};

impl Config {
    /// Puts provider blocks into the root module, in the place of those of the same name and alias.
    pub fn with_providers(&mut self, blocks: Vec<ProviderBlock>) {
        let Some(root) = self.modules.get_mut(&ModuleAddr::default()) else { return };
        let module = Arc::make_mut(root);
        for mut block in blocks {
            block.source = module.provider_of(&block.name.text);
            module.providers.retain(|it| it.local_name() != block.local_name());
            module.providers.push(block);
        }
    }

    /// Takes a module's inside away: what is left has its variables, and outputs that are constant, null where none is given.
    pub fn stub_module(&mut self, path: &ModuleAddr, outputs: &BTreeMap<Str, Value>) {
        let is_inside = |it: &ModuleAddr| it.0.len() > path.0.len() && it.0.starts_with(&path.0);
        self.modules.retain(|it, _| !is_inside(it));
        self.static_modules.retain(|it, _| !is_inside(it));
        self.kinds.retain(|it, _| !is_inside(it) && it != path);
        self.variants.retain(|it, _| !it.module().0.starts_with(&path.0));
        if let Some(module) = self.modules.get_mut(path) {
            *module = Arc::new(stub(module, outputs));
        }
    }
}

fn stub(module: &Module, given: &BTreeMap<Str, Value>) -> Module {
    let unchecked = |it: &Variable| Variable { validations: Vec::new(), ..it.clone() };
    let constant = |(name, it): (&Str, &Output)| {
        let span = it.value.span;
        let value = match given.get(name) {
            Some(value) => literal(value, span),
            None => Expression { expr: Expr::Null, span },
        };
        let output =
            Output { value, preconditions: Vec::new(), depends_on: Vec::new(), ..it.clone() };
        (name.clone(), output)
    };
    Module {
        directory: module.directory.clone(),
        file_count: module.file_count,
        required_providers: module.required_providers.clone(),
        variables: module.variables.iter().map(|it| (it.0.clone(), unchecked(it.1))).collect(),
        outputs: module.outputs.iter().map(constant).collect(),
        ..Module::default()
    }
}

/// Writes a known value as an expression.
pub fn literal(value: &Value, span: Span) -> Expression {
    let expr = match value.bare() {
        Value::Bool(it) => Expr::Bool(*it),
        Value::Number(it) => Expr::Number(it.clone()),
        Value::String(it) => Expr::String(it.clone()),
        it @ (Value::Object(_) | Value::Map(_)) => {
            let item = |(name, value): (Str, &Value)| Item {
                key: ObjectKey::Expression(Box::new(Expression {
                    expr: Expr::String(name.clone()),
                    span: Name::new(name, span).span,
                })),
                value: literal(value, span),
            };
            Expr::Object(it.entries().into_iter().map(item).collect())
        }
        Value::Null(_) | Value::Unknown(_) => Expr::Null,
        it => Expr::Tuple(it.children().map(|it| literal(it, span)).collect()),
    };
    Expression { expr, span }
}
