//! Where a part of a block or of a value is written: the expressions, and what they refer to.

use super::part::{Context, Owner, Part};
use crate::address::InstanceKey;
use crate::config::expansion;
use crate::diagnostic::Span;
use crate::expression::{Subject, parse_reference};
use crate::lower::structure::{CallId, ModuleId, ResourceId, Style};
use crate::policy::model::Model;
use crate::policy::written::Each;
use crate::syntax::{Attribute, Body, Expr, Expression, For, ObjectKey, Step, references};
use crate::value::{Path, PathStep, Str, Value};

/// How many instances of one reference are followed.
const MOST_INSTANCES: usize = 100;

/// An expression that decides a part of a value, and the rest of the way to that part.
pub struct Written {
    /// The expression.
    pub expression: Expression,
    /// What of its value is meant.
    pub rest: Path,
}

/// Returns the expressions in a block that decide the part at a path: one, or those of every nested block that it may be in.
pub fn in_body(body: &Body, path: &[PathStep]) -> Vec<Written> {
    let Some((PathStep::Attribute(name), rest)) = path.split_first() else {
        return Vec::new();
    };
    let lowered = body.json.as_ref().map(|_| body.just_attributes().0);
    let attributes: &[Attribute] = lowered.as_deref().unwrap_or(&body.attributes);
    if let Some(found) = attributes.iter().find(|it| it.name.text == *name) {
        return vec![narrowed(&found.value, rest)];
    }
    let is_it = |it: &&crate::syntax::Block| it.kind.text == *name;
    let plain: Vec<_> = body.blocks.iter().filter(is_it).collect();
    let dynamic = body.blocks.iter().filter(|it| {
        &*it.kind.text == "dynamic" && it.labels.first().is_some_and(|label| label.text == *name)
    });
    let dynamic: Vec<_> = dynamic.collect();
    let (at, inner) = match rest.split_first() {
        Some((PathStep::Index(key), inner)) => {
            (key.as_number().and_then(|it| it.as_usize()), inner)
        }
        _ => (None, rest),
    };
    let one = at.filter(|_| dynamic.is_empty()).and_then(|it| plain.get(it)).copied();
    let blocks = match one {
        Some(one) => vec![one],
        None => plain,
    };
    let mut found: Vec<Written> = blocks.iter().flat_map(|it| of_block(&it.body, inner)).collect();
    for block in dynamic {
        let content = block.body.blocks.iter().filter(|it| &*it.kind.text == "content");
        found.extend(content.flat_map(|it| of_block(&it.body, inner)));
        let repeated = block.body.attributes.iter().filter(|it| &*it.name.text == "for_each");
        found
            .extend(repeated.map(|it| Written { expression: it.value.clone(), rest: Path::new() }));
    }
    found
}

/// All of a nested block, or the part at a path.
fn of_block(body: &Body, path: &[PathStep]) -> Vec<Written> {
    if !path.is_empty() {
        return in_body(body, path);
    }
    let own = body.attributes.iter();
    let own = own.map(|it| Written { expression: it.value.clone(), rest: Path::new() });
    own.chain(body.blocks.iter().flat_map(|it| of_block(&it.body, &[]))).collect()
}

/// Goes down into what an expression builds, as far as it says where the part is made.
pub fn narrowed(expression: &Expression, path: &[PathStep]) -> Written {
    let (mut expression, mut path) = (expression, path);
    loop {
        match &expression.expr {
            Expr::Parentheses(inner) | Expr::Wrapped(inner) => expression = inner,
            Expr::Object(items) => {
                let Some((step, rest)) = path.split_first() else { break };
                let wanted = match step {
                    PathStep::Attribute(name) => Some(name.clone()),
                    PathStep::Index(key) => key.as_str().map(Str::from),
                };
                let Some(item) = items.iter().rev().find(|it| key_of(&it.key) == wanted) else {
                    break;
                };
                (expression, path) = (&item.value, rest);
            }
            Expr::Tuple(items) => {
                let Some((PathStep::Index(key), rest)) = path.split_first() else { break };
                let at = key.as_number().and_then(|it| it.as_usize());
                let Some(item) = at.and_then(|it| items.get(it)) else { break };
                (expression, path) = (item, rest);
            }
            _ => break,
        }
    }
    Written { expression: expression.clone(), rest: path.to_vec() }
}

fn key_of(key: &ObjectKey) -> Option<Str> {
    match key {
        ObjectKey::Name(name) => Some(name.text.clone()),
        ObjectKey::Expression(it) => it.as_static_string().cloned(),
    }
}

/// Returns what decides one element of `{ for k, v in c : k => v.a }`: that part of `c`. `None` if the keys are not those of `c`, or
/// the element is not a part of it.
fn element(it: &For, path: &[PathStep]) -> Option<Written> {
    let (first, rest) = path.split_first()?;
    let key_name = &it.key_name.as_ref()?.text;
    let is_same_key = it.key.as_ref()?.as_keyword() == Some(&**key_name);
    if !is_same_key || it.group {
        return None;
    }
    let (root, steps) = it.value.as_traversal()?;
    if root.text != it.value_name.text {
        return None;
    }
    let literal = |step: &Step| match step {
        Step::Attribute(name) => Some(PathStep::Attribute(name.text.clone())),
        Step::Index(it) => it.key.as_literal().map(PathStep::Index),
        Step::LegacyIndex(it) => Some(PathStep::index(it.index as usize)),
        Step::Splat(_) => None,
    };
    let steps: Path = steps.iter().map(literal).collect::<Option<_>>()?;
    let key = match first {
        PathStep::Attribute(name) => PathStep::key(name),
        step => step.clone(),
    };
    Some(narrowed(&it.collection, &[&[key][..], &steps, rest].concat()))
}

/// The key of an instance that the rest of the way begins with, where the reference itself names none.
fn narrowed_key<'p>(
    key: Option<InstanceKey>,
    style: Style,
    steps: &[Step],
    rest: &'p [PathStep],
) -> (Option<InstanceKey>, &'p [PathStep]) {
    if key.is_some() || !steps.is_empty() || !matches!(style, Style::Count | Style::ForEach) {
        return (key, rest);
    }
    let Some((first, others)) = rest.split_first() else { return (key, rest) };
    let value = match first {
        PathStep::Attribute(name) => Value::String(name.clone()),
        PathStep::Index(key) => key.clone(),
    };
    match expansion::key_for(&value, style == Style::Count) {
        Some(key) => (Some(key), others),
        None => (None, rest),
    }
}

/// Finds what expressions refer to, in one context.
pub struct Reader<'r, 'm> {
    /// What there is.
    pub model: &'r Model<'m>,
    /// Where the expression stands.
    pub context: &'r Context,
}

impl Reader<'_, '_> {
    /// Returns what decides a part of an expression's value, and where each reference stands.
    pub fn parts(&self, written: &Written) -> Vec<(Part, Span)> {
        let (mut found, mut todo) = (Vec::new(), vec![written.expression.clone()]);
        while let Some(expression) = todo.pop() {
            match &expression.expr {
                Expr::Parentheses(inner) | Expr::Wrapped(inner) => todo.push((**inner).clone()),
                Expr::Conditional(it) => {
                    match self.value(&it.condition).map(|it| it.bare().clone()) {
                        Some(Value::Bool(true)) => todo.push(it.yes.clone()),
                        Some(Value::Bool(false)) => todo.push(it.no.clone()),
                        _ => todo.extend([it.yes.clone(), it.no.clone()]),
                    }
                    todo.push(it.condition.clone());
                }
                // Only where the reference is all there is, the rest of the way goes on in what it names.
                Expr::Traversal(it) => {
                    let (root, steps) = (it.root(), it.steps());
                    self.reference(root, steps, &written.rest, expression.span, &mut found);
                    for step in steps {
                        if let Step::Index(it) = step {
                            todo.push(it.key.clone());
                        }
                    }
                }
                Expr::Relative(it) => {
                    let rest = [&self.path(&it.steps)[..], &written.rest].concat();
                    let inner = narrowed(&it.source, &rest);
                    found.extend(self.parts(&inner));
                    for step in &it.steps {
                        if let Step::Index(it) = step {
                            todo.push(it.key.clone());
                        }
                    }
                }
                Expr::For(it) if let Some(element) = element(it, &written.rest) => {
                    found.extend(self.parts(&element));
                }
                _ => references(&expression, &mut |root, steps, span| {
                    self.reference(root, steps, &[], span, &mut found);
                }),
            }
        }
        let mut seen = Vec::new();
        found.retain(|it: &(Part, Span)| {
            let is_new = !seen.contains(&it.0);
            if is_new {
                seen.push(it.0.clone());
            }
            is_new
        });
        found
    }

    /// Returns the value of an expression there, if it is known.
    pub fn value(&self, expression: &Expression) -> Option<Value> {
        let each = match &self.context.owner {
            None => Each::None,
            Some((owner, key)) => Each::Known(key.clone(), self.each_value(*owner, key)),
        };
        Some(self.model.value_at(self.context.module, &each, expression)).filter(Value::is_known)
    }

    fn each_value(&self, owner: Owner, key: &InstanceKey) -> Option<Value> {
        let structure = self.model.structure;
        match owner {
            Owner::Resource(id) => structure.resource(id).besides.each_values.get(key).cloned(),
            Owner::Call(id) => {
                let module = *structure.call(id).instances.get(key)?;
                structure.module(module).besides.each_value.clone()
            }
        }
    }

    fn reference(
        &self,
        root: &crate::syntax::Root,
        steps: &[Step],
        rest: &[PathStep],
        span: Span,
        found: &mut Vec<(Part, Span)>,
    ) {
        let Ok(reference) = parse_reference(root, steps) else { return };
        let module = self.model.structure.module(self.context.module);
        let mut add = |part: Part| found.push((part, span));
        let whole = |steps: &[Step]| [&self.path(steps)[..], rest].concat();
        match reference.subject {
            Subject::Variable(name) => {
                let node = module.variables.get(name);
                node.into_iter().for_each(|it| add(Part::Value(*it, whole(reference.rest))));
            }
            Subject::Local(name) => {
                let node = module.besides.locals.get(name);
                node.into_iter().for_each(|it| add(Part::Value(*it, whole(reference.rest))));
            }
            Subject::Module(name) => {
                if let Some(id) = self.model.structure.call_in(self.context.module, name) {
                    self.outputs(id, reference.rest, rest, &mut add);
                }
            }
            Subject::Resource(name) => {
                if let Some(id) = self.model.structure.resource_in(self.context.module, name) {
                    self.instances(id, reference.rest, rest, &mut add);
                }
            }
            Subject::CountIndex | Subject::EachKey => {
                self.context.owner.iter().for_each(|it| add(Part::Keys(it.0, None)));
            }
            Subject::EachValue => {
                if let Some((owner, key)) = &self.context.owner {
                    add(Part::Keys(*owner, Some((key.clone(), whole(reference.rest)))));
                }
            }
            _ => {}
        }
    }

    fn outputs(&self, id: CallId, steps: &[Step], rest: &[PathStep], add: &mut impl FnMut(Part)) {
        let call = self.model.structure.call(id);
        let (key, steps) = self.key(call.style, steps);
        let (key, rest) = narrowed_key(key, call.style, steps, rest);
        let path = [&self.path(steps)[..], rest].concat();
        let chosen: Vec<ModuleId> = match key {
            Some(key) => call.instances.get(&key).copied().into_iter().collect(),
            None => call.instances.values().copied().collect(),
        };
        for module in chosen.into_iter().take(MOST_INSTANCES) {
            let outputs = &self.model.structure.module(module).outputs;
            match path.split_first() {
                Some((PathStep::Attribute(name), inner)) if outputs.contains_key(name) => {
                    add(Part::Value(outputs[name], inner.to_vec()));
                }
                _ => outputs.values().for_each(|it| add(Part::Value(*it, Path::new()))),
            }
        }
        if matches!(call.style, Style::Count | Style::ForEach) && steps.is_empty() {
            add(Part::Keys(Owner::Call(id), None));
        }
    }

    fn instances(
        &self,
        id: ResourceId,
        steps: &[Step],
        rest: &[PathStep],
        add: &mut impl FnMut(Part),
    ) {
        let resource = self.model.structure.resource(id);
        let (key, steps) = self.key(resource.style, steps);
        let (key, rest) = narrowed_key(key, resource.style, steps, rest);
        let path = [&self.path(steps)[..], rest].concat();
        let is_one = key.is_some() || matches!(resource.style, Style::Single | Style::Enabled);
        let chosen = match &key {
            // What went is looked at, too: a value may have lost its part.
            Some(key) => resource.instance(key).into_iter().collect(),
            None => resource.instances.values().copied().collect::<Vec<_>>(),
        };
        for node in chosen.into_iter().take(MOST_INSTANCES) {
            add(Part::Attribute(node, if is_one { path.clone() } else { Path::new() }));
        }
        if !is_one {
            add(Part::Keys(Owner::Resource(id), None));
        }
    }

    /// The key that the first step names, as far as it is known, and the steps after it.
    fn key<'s>(&self, style: Style, steps: &'s [Step]) -> (Option<InstanceKey>, &'s [Step]) {
        if !matches!(style, Style::Count | Style::ForEach) {
            return (None, steps);
        }
        let counted = style == Style::Count;
        match steps.split_first() {
            Some((Step::Index(it), rest)) => {
                let key = self.value(&it.key).and_then(|it| expansion::key_for(&it, counted));
                (key, rest)
            }
            Some((Step::LegacyIndex(it), rest)) => {
                (Some(InstanceKey::Int(i64::try_from(it.index).unwrap_or(i64::MAX))), rest)
            }
            _ => (None, steps),
        }
    }

    /// Steps as a path, up to the first that is not known.
    fn path(&self, steps: &[Step]) -> Path {
        let step = |it: &Step| match it {
            Step::Attribute(name) => Some(PathStep::Attribute(name.text.clone())),
            Step::Index(it) => self.value(&it.key).map(PathStep::Index),
            Step::LegacyIndex(it) => Some(PathStep::index(it.index as usize)),
            Step::Splat(_) => None,
        };
        steps.iter().map_while(step).collect()
    }
}
