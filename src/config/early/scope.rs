//! The narrow scope: which references may be made before there is a plan, and what they mean.

use std::collections::BTreeMap;

use crate::address::InstanceKey;
use crate::config::suggest;
use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::expression::{self, Around, Ask, Declared, Reference, Scope, Subject};
use crate::syntax::{Expression, Step};
use crate::value::{Str, Value};
use crate::world::World;

use super::{Each, Named, StaticModule, problems};

impl StaticModule {
    /// Says why a reference cannot be made here.
    pub(super) fn check(
        &self,
        reference: &Reference,
        needed_by: &str,
        each: Option<&Each>,
    ) -> Option<Diagnostic> {
        let at = reference.span;
        let dynamic = |what: String| Some(problems::dynamic(&what, needed_by, at));
        match reference.subject {
            Subject::Variable(_) | Subject::Local(_) => None,
            Subject::Path(_) | Subject::Terraform(_) => None,
            Subject::EachKey | Subject::EachValue if each.is_some_and(|it| it.value.is_some()) => {
                None
            }
            Subject::CountIndex if each.is_some_and(|it| it.value.is_none()) => None,
            Subject::EachKey => dynamic("each.key".to_owned()),
            Subject::EachValue => dynamic("each.value".to_owned()),
            Subject::CountIndex => dynamic("count.index".to_owned()),
            Subject::SelfObject => dynamic("self".to_owned()),
            Subject::Module(name) => match module_output(reference.rest) {
                Some((key, output)) => Some(problems::module_output(
                    &format!("module.{name}{key}.{output}"),
                    needed_by,
                    at,
                )),
                None => dynamic(format!("module.{name}{}", literal_key(reference.rest))),
            },
            Subject::Resource(resource) => {
                dynamic(format!("{resource}{}", literal_key(reference.rest)))
            }
            Subject::Unknown(name) => dynamic(name.to_string()),
        }
    }
}

/// Says why an attribute of `path` or `terraform` has no value here.
pub(super) fn check_attribute(reference: &Reference) -> Option<Diagnostic> {
    let (known, at) = (["cwd", "module", "root"], reference.span);
    match reference.subject {
        Subject::Path(name) if !known.contains(&&**name) => {
            Some(problems::path_attribute(name, suggest(name, known), at))
        }
        Subject::Terraform(name) => match &**name {
            "workspace" => None,
            "applying" => Some(problems::applying(at)),
            other => Some(problems::terraform_attribute(other, at)),
        },
        _ => None,
    }
}

/// Reads `[key].output` or `.output` behind a module call.
fn module_output(rest: &[Step]) -> Option<(InstanceKey, &Str)> {
    match rest {
        [Step::Attribute(output), ..] => Some((InstanceKey::None, &output.text)),
        [Step::Index(..) | Step::LegacyIndex(..), Step::Attribute(output), ..] => {
            Some((literal_key(rest), &output.text))
        }
        _ => None,
    }
}

fn literal_key(rest: &[Step]) -> InstanceKey {
    use crate::syntax::Expr;
    match rest.first() {
        Some(Step::LegacyIndex(it)) => {
            InstanceKey::Int(i64::try_from(it.index).unwrap_or(i64::MAX))
        }
        Some(Step::Index(it)) => match &it.key.expr {
            Expr::String(text) => InstanceKey::Str(text.clone()),
            Expr::Number(number) => number.as_i64().map_or(InstanceKey::None, InstanceKey::Int),
            _ => InstanceKey::None,
        },
        _ => InstanceKey::None,
    }
}

/// Evaluates an expression whose names are all resolved.
pub(super) fn evaluate(
    module: &StaticModule,
    expression: &Expression,
    values: BTreeMap<Named, Value>,
    each: Option<&Each>,
) -> Result<Value, Diagnostics> {
    let (value, problems) = expression::evaluate(expression, &EarlyScope { module, values, each });
    if problems.has_errors() { Err(problems) } else { Ok(value) }
}

impl StaticModule {
    /// Returns a scope that resolves every name when it is asked for.
    pub(super) fn scope(&self) -> impl Scope + '_ {
        EarlyScope { module: self, values: BTreeMap::new(), each: None }
    }
}

struct EarlyScope<'a> {
    module: &'a StaticModule,
    values: BTreeMap<Named, Value>,
    each: Option<&'a Each>,
}

impl Scope for EarlyScope<'_> {
    fn declared(&self, what: Declared<'_>, ask: Ask<'_>) -> Result<Value, Diagnostics> {
        let name = match what {
            Declared::Variable(name) => Named::Variable(name.clone()),
            Declared::Local(name) => Named::Local(name.clone()),
            Declared::Module(_) | Declared::Resource(_) => {
                return Err(problems::unexpected(ask.span).into());
            }
        };
        match self.values.get(&name) {
            Some(value) => Ok(value.clone()),
            // A template that is text only now can name what nothing before has seen.
            None => self.module.named(&name, ask.span, &mut Vec::new()),
        }
    }

    fn around(&self) -> Around<'_> {
        Around {
            directory: Some(&self.module.module.directory),
            workspace: Some(&self.module.context.workspace),
            each: self.each.map(|it| (&it.key, it.value.as_ref())),
            ..Around::default()
        }
    }

    fn absent(&self, _: Subject<'_>, span: Span) -> Result<Value, Diagnostics> {
        Err(problems::unexpected(span).into())
    }

    fn world(&self) -> &World {
        &self.module.context.world
    }

    fn place(&self, span: Span) -> String {
        self.module.context.sources.range(span)
    }

    fn is_planning(&self) -> bool {
        false
    }

    fn plan_time(&self) -> Option<chrono::DateTime<chrono::Utc>> {
        None
    }
}
