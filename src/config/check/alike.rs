//! Whether instances that come from different places look alike from outside.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Diagnostics, Sources, Span};
use crate::value::Str;

use super::super::early::StaticModule;
use super::super::{Module, ModuleCall};

/// One of two modules that are compared, and what it is called.
struct Side<'a> {
    name: String,
    module: &'a Module,
}

/// Compares the modules of a call's instances: inputs, outputs and required providers must be the same; inside they may
/// differ in everything.
pub(in crate::config) fn check(
    call: &ModuleCall,
    instances: &[Arc<StaticModule>],
    sources: &Sources,
) -> Diagnostics {
    let mut problems = Diagnostics::new();
    let Some((first, rest)) = instances.split_first() else { return problems };
    let side = |it: &'_ Arc<StaticModule>| it.at().to_string();
    let mut compared: BTreeSet<*const Module> = BTreeSet::from([Arc::as_ptr(first.module())]);
    for other in rest {
        if compared.insert(Arc::as_ptr(other.module())) {
            let comparison = Comparison {
                call,
                sources,
                sides: [
                    Side { name: side(first), module: first.module() },
                    Side { name: side(other), module: other.module() },
                ],
            };
            comparison.all(&mut problems);
        }
    }
    problems
}

struct Comparison<'a> {
    call: &'a ModuleCall,
    sources: &'a Sources,
    sides: [Side<'a>; 2],
}

/// What is compared of one thing: its traits by name, and its place.
type Traits = (Vec<(&'static str, String)>, Span);

impl Comparison<'_> {
    fn all(&self, problems: &mut Diagnostics) {
        self.compare(
            "input variable",
            problems,
            |it| it.variables.keys().cloned().collect(),
            |module, name| {
                let it = module.variables.get(name)?;
                let default =
                    if it.default.is_some() { "with a default" } else { "without a default" };
                Some((
                    vec![
                        ("type", it.ty.to_string()),
                        ("sensitive", it.sensitive.to_string()),
                        ("ephemeral", it.ephemeral.to_string()),
                        ("nullable", it.nullable.to_string()),
                        ("default", default.to_owned()),
                    ],
                    it.declared,
                ))
            },
        );
        self.compare(
            "output",
            problems,
            |it| it.outputs.keys().cloned().collect(),
            |module, name| {
                let it = module.outputs.get(name)?;
                let traits = vec![
                    ("sensitive", it.sensitive.to_string()),
                    ("ephemeral", it.ephemeral.to_string()),
                ];
                Some((traits, it.declared))
            },
        );
        let names = |it: &Module| it.required_providers.keys().cloned().collect();
        self.compare("required provider", problems, names, |module, name| {
            let it = module.required_providers.get(name)?;
            let mut aliases: Vec<String> =
                it.configuration_aliases.iter().map(|it| format!("{}.{}", it.0, it.1)).collect();
            aliases.sort();
            let traits = vec![
                ("source", it.source.to_string()),
                ("configuration_aliases", format!("[{}]", aliases.join(", "))),
            ];
            Some((traits, it.name.span))
        });
    }

    fn compare(
        &self,
        kind: &str,
        problems: &mut Diagnostics,
        names: impl Fn(&Module) -> Vec<Str>,
        traits: impl Fn(&Module, &str) -> Option<Traits>,
    ) {
        let [first, other] = &self.sides;
        let all: BTreeSet<Str> =
            names(first.module).into_iter().chain(names(other.module)).collect();
        for name in all {
            match (traits(first.module, &name), traits(other.module, &name)) {
                (Some((a, at)), Some((b, other_at))) => {
                    for ((what, a), (_, b)) in a.iter().zip(&b).filter(|it| it.0 != it.1) {
                        problems.push(self.differs((kind, &name, what), (a, at), (b, other_at)));
                    }
                }
                (Some((_, at)), None) => {
                    problems.push(self.missing((kind, &name), (first, at), other))
                }
                (None, Some((_, at))) => {
                    problems.push(self.missing((kind, &name), (other, at), first))
                }
                (None, None) => {}
            }
        }
    }

    fn place(&self, at: Span) -> String {
        self.sources.place(at)
    }

    fn differs(
        &self,
        (kind, name, what): (&str, &str, &str),
        (a, at): (&str, Span),
        (b, other_at): (&str, Span),
    ) -> Diagnostic {
        let [first, other] = &self.sides;
        let value = |it: &str| match what {
            "default" => it.to_owned(),
            what => format!("with {what} = {it}"),
        };
        self.problem(
            format!(
                "the {kind} {name:?} differs:\n  - {} declares it {}, {}\n  - {} declares it {}, {}",
                first.name,
                value(a),
                self.place(at),
                other.name,
                value(b),
                self.place(other_at)
            ),
            other_at,
        )
    }

    fn missing(
        &self,
        (kind, name): (&str, &str),
        (has, at): (&Side, Span),
        lacks: &Side,
    ) -> Diagnostic {
        self.problem(
            format!(
                "only one has the {kind} {name:?}:\n  - {} declares it, {}\n  - {} does not, {}",
                has.name,
                self.place(at),
                lacks.name,
                lacks.module.directory
            ),
            at,
        )
    }

    fn problem(&self, what: String, at: Span) -> Diagnostic {
        let detail = format!(
            "The instances of module {:?} come from different places, so they must look alike from outside, but {what}\n\nMake both say the same, or call them as two modules.",
            self.call.name.text
        );
        Diagnostic::error("Module instances differ from outside").detail(detail).at(at)
    }
}
