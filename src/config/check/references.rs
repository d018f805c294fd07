//! Whether every reference leads to something that is declared and can be seen from where it stands.

use crate::address::{ConfigResource, Module as ModuleAddr, ResourceName};
use crate::diagnostic::{Diagnostics, Span};
use crate::expression::{Reference, Subject, free_reference};
use crate::syntax::{self, Found, Name, Step};
use crate::value::Str;

use super::super::uses::{self, Role, Use};
use super::super::{Config, Import, Module, ProviderBlock, Repetition, Resource, Variant, suggest};
use super::{Suspects, module_text, problems};

mod resource;

use self::resource::check_resource;
pub use self::resource::may_be_named;

/// The blocks of a module, by their places, whose references were all followed already and are right: a resource or call that
/// nothing but its arguments is evaluated of, each name of which is declared and may be read so. The default knows of none.
#[derive(Clone, Copy, Default)]
pub struct Sound<'a> {
    /// Its resources.
    pub resources: &'a [bool],
    /// Its calls.
    pub calls: &'a [bool],
}

/// Returns the blocks that are not known to be right.
fn doubtful<'a, T>(
    all: impl Iterator<Item = T> + 'a,
    sound: &'a [bool],
) -> impl Iterator<Item = T> + 'a {
    all.zip(sound.iter().chain(std::iter::repeat(&false))).filter(|it| !it.1).map(|it| it.0)
}

/// Where an expression stands.
struct Scope<'a> {
    config: &'a Config,
    address: &'a ModuleAddr,
    module: &'a Module,
    /// How the block repeats.
    repetition: Option<&'a Repetition>,
    /// The resource whose block it is.
    owner: Option<&'a ResourceName>,
    /// The `check` block it is in.
    check: Option<&'a str>,
}

impl<'a> Scope<'a> {
    fn of_module(config: &'a Config, address: &'a ModuleAddr, module: &'a Module) -> Scope<'a> {
        Scope { config, address, module, repetition: None, owner: None, check: None }
    }
}

/// Checks every reference of a module. `is_used` tells which of its `provider` blocks are evaluated at all.
pub(super) fn check_module(
    (config, address): (&Config, &ModuleAddr),
    module: &Module,
    (sound, is_used): (Sound<'_>, &dyn Fn(&ProviderBlock) -> bool),
    problems: &mut Diagnostics,
) {
    let scope = || Scope::of_module(config, address, module);
    for variable in module.variables.values() {
        check_all(
            &scope(),
            uses::of_conditions(&variable.validations, Role::Precondition),
            problems,
        );
    }
    for local in module.locals.values() {
        let it = uses::of_value(&local.value);
        let is_itself = |it: &Reference| it.subject == Subject::Local(&local.name.text);
        if let Some(it) = it.references().0.iter().find(|it| is_itself(it)) {
            problems.push(
                problems::self_reading_local(&local.name.text, it.span).within(local.value.span),
            );
        }
        check_all(&scope(), vec![it], problems);
    }
    for output in module.outputs.values() {
        if output.ephemeral && address.is_root() {
            problems.push(problems::ephemeral_root_output(output.declared));
        }
        check_all(&scope(), uses::of_output(output), problems);
    }
    for resource in doubtful(module.resources.values(), sound.resources) {
        let scope = Scope {
            repetition: Some(&resource.besides.repetition),
            owner: Some(&resource.name),
            check: resource.besides.check.as_deref(),
            ..scope()
        };
        check_all(&scope, uses::of_resource(resource), problems);
    }
    for call in doubtful(module.calls.values(), sound.calls) {
        check_all(
            &Scope { repetition: Some(&call.repetition), ..scope() },
            uses::of_call(call),
            problems,
        );
    }
    for provider in module.providers.iter().filter(|it| is_used(it)) {
        check_all(
            &Scope { repetition: Some(&provider.repetition), ..scope() },
            uses::of_provider(provider),
            problems,
        );
    }
    for check in module.checks.values() {
        check_all(
            &Scope { check: Some(&check.name.text), ..scope() },
            uses::of_check(check),
            problems,
        );
    }
    for import in &module.imports {
        check_import(scope(), import, problems);
    }
}

fn check_import(scope: Scope<'_>, import: &Import, problems: &mut Diagnostics) {
    let by_key = import.for_each.clone().map(|it| Repetition::ForEach(it.into()));
    let scope = Scope { repetition: by_key.as_ref(), ..scope };
    let mut all: Vec<Use> = import.id.iter().chain(&import.identity).map(uses::of_value).collect();
    let repetition = |it| Use { role: Role::Repetition, ..uses::of_value(it) };
    all.extend(import.for_each.iter().map(repetition));
    let keys = import.to.as_traversal().map_or(&[][..], |it| it.1);
    all.extend(keys.iter().filter_map(|it: &Step| match it {
        Step::Index(it) => Some(uses::of_value(&it.key)),
        _ => None,
    }));
    check_all(&scope, all, problems);
}

/// Complains of resources whose blocks, or provisioners, read the resource itself.
pub(super) fn check_selves(
    variant: &Variant,
    module: &Module,
    suspects: &Suspects,
    problems: &mut Diagnostics,
) {
    let may_be = |it: &&Resource| suspects.selves.contains(&(variant.clone(), it.name.clone()));
    for resource in module.resources.values().map(|it| &**it).filter(may_be) {
        let module = variant.path.clone();
        let name = ConfigResource { module, resource: resource.name.clone() };
        let is_itself =
            |it: Subject<'_>| matches!(it, Subject::Resource(name) if resource.name == name);
        for it in uses::of_resource(resource) {
            if !matches!(it.role, Role::Value | Role::Repetition | Role::DependsOn | Role::Trigger)
            {
                continue;
            }
            if let Some(reference) = it.references().0.iter().find(|it| is_itself(it.subject)) {
                let at = match reference.rest.first() {
                    Some(key @ (Step::Index(..) | Step::LegacyIndex(..))) => {
                        reference.subject_span.to(key.span())
                    }
                    _ => reference.subject_span,
                };
                problems.push(problems::self_reference(&resource.name.to_string(), at));
            }
        }
        // Those that run when it is destroyed may name nothing but `self` anyway.
        for provisioner in resource.besides.provisioners.iter().filter(|it| !it.on_destroy) {
            let bodies = [&provisioner.body].into_iter().chain(&provisioner.connection);
            let uses = bodies.flat_map(|it| uses::of_body(it, Role::Provisioner));
            let own = uses.flat_map(|it| {
                let references = it.references().0;
                references.iter().find(|it| is_itself(it.subject)).map(|it| it.span)
            });
            problems.extend(own.map(|at| problems::self_in_provisioner(&name, at)));
        }
    }
}

/// Returns what is wrong with the references of one expression that stands outside every block, such as the console's.
pub fn references_problems(
    config: &Config,
    address: &ModuleAddr,
    expression: &syntax::Expression,
) -> Diagnostics {
    let mut problems = Diagnostics::new();
    if let Some(module) = config.module(address) {
        check_all(
            &Scope::of_module(config, address, module),
            vec![uses::of_value(expression)],
            &mut problems,
        );
    }
    problems
}

fn check_all(scope: &Scope, uses: Vec<Use>, problems: &mut Diagnostics) {
    for it in &uses {
        let (mut wrong, mut found, mut others) =
            (Vec::new(), Diagnostics::new(), Diagnostics::new());
        syntax::found(&it.expression, &mut |part| match part {
            Found::Reference(root, steps, _) => match free_reference(root, steps, &it.bound) {
                Some(Ok(reference)) => check_reference(scope, it.role, &reference, &mut found),
                Some(Err(problem)) => wrong.push(problem),
                None => {}
            },
            Found::Call(call, whole) => {
                check_provider_function(scope.module, &call.name, whole, &mut others)
            }
            Found::Broken(problems) => others.extend(problems.clone()),
            Found::Other(_) => {}
        });
        let hint = if wrong.is_empty() { None } else { provider_hint(scope.module, it) };
        problems.extend(wrong.into_iter().map(|it| {
            match &hint {
                Some((span, hint))
                    if it
                        .subject
                        .is_some_and(|at| span.start() <= at.start() && at.end() <= span.end()) =>
                {
                    let detail = format!("{}{hint}", it.detail);
                    it.detail(detail)
                }
                _ => it,
            }
        }));
        problems.extend(found);
        problems.extend(others);
    }
}

/// Where a keyed provider configuration stands for a value, and what to write instead.
fn provider_hint(module: &Module, it: &Use) -> Option<(Span, String)> {
    let mut found = None;
    syntax::references(&it.expression, &mut |root, steps, span| {
        let is_keyed = matches!(steps.first(), Some(Step::Index(..)));
        if is_keyed && module.providers.iter().any(|it| it.name.text == root.text) {
            found = Some((span, no_value(&format!("{}[each.key]", root.text))));
        }
    });
    found
}

fn no_value(example: &str) -> String {
    format!(
        "\n\nA provider configuration is no value: no local value, variable or output can hold it. Name it where it is used, such as provider = {example}."
    )
}

fn check_provider_function(module: &Module, name: &Name, whole: Span, problems: &mut Diagnostics) {
    let provider = name.text.strip_prefix("provider::").and_then(|it| it.split("::").next());
    if let Some(provider) = provider
        && !module.required_providers.contains_key(provider)
    {
        problems.push(problems::unknown_function_provider(provider, name.span).within(whole));
    }
}

fn check_reference(scope: &Scope, role: Role, reference: &Reference, problems: &mut Diagnostics) {
    let (module, at) = (scope.module, reference.span);
    let before = problems.0.len();
    match reference.subject {
        Subject::Variable(name) if !module.variables.contains_key(name) => {
            problems.push(problems::undeclared_variable(
                name,
                nearest(name, module.variables.keys()),
                at,
            ));
        }
        Subject::Local(name) if !module.locals.contains_key(name) => {
            problems.push(problems::undeclared_local(
                name,
                nearest(name, module.locals.keys()),
                at,
            ));
        }
        Subject::Module(name) => check_module_reference(scope, role, name, reference, problems),
        Subject::Resource(name) => check_resource(scope, role, name, reference, problems),
        Subject::EachKey | Subject::EachValue
            if !repeats_by(scope, role, |it| matches!(it, Repetition::ForEach(_))) =>
        {
            problems.push(match reference.subject {
                Subject::EachValue => problems::each_value_without_for_each(at),
                _ => problems::each_without_for_each(at),
            });
        }
        Subject::CountIndex
            if !repeats_by(scope, role, |it| matches!(it, Repetition::Count(_))) =>
        {
            problems.push(problems::count_without_count(at));
        }
        Subject::SelfObject
            if !(scope.owner.is_some()
                && matches!(role, Role::Postcondition | Role::Provisioner)) =>
        {
            problems.push(problems::no_self(reference.subject_span));
            // OpenTofu evaluates these conditions all the same, and tells what comes of it.
            if role == Role::Precondition && (scope.owner.is_some() || scope.check.is_none()) {
                problems.push(problems::unknown_self(reference.subject_span));
            }
        }
        Subject::Path(name) if !["cwd", "module", "root"].contains(&&**name) => {
            problems.push(problems::invalid_path(
                name,
                suggest(name, ["cwd", "module", "root"]),
                at,
            ));
        }
        Subject::Terraform(name) if !["workspace", "applying"].contains(&&**name) => {
            problems.push(problems::invalid_terraform(&reference.root.text, name, at));
        }
        _ => {}
    }
    if role == Role::DependsOn && problems.0.len() == before {
        check_dependency(reference, problems);
    }
}

fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a Str>) -> Option<&'a str> {
    suggest(name, known.map(|it| &**it))
}

/// What says how a block repeats is evaluated once, before there are instances.
fn repeats_by(scope: &Scope, role: Role, is_wanted: impl Fn(&Repetition) -> bool) -> bool {
    !matches!(role, Role::Repetition | Role::DependsOn) && scope.repetition.is_some_and(is_wanted)
}

/// `depends_on` takes whole things: a resource or an instance of it, a module, an instance or an output of it.
fn check_dependency(reference: &Reference, problems: &mut Diagnostics) {
    let after_key = match (&reference.subject, reference.rest) {
        (
            Subject::Resource(..) | Subject::Module(_),
            [Step::Index(..) | Step::LegacyIndex(..), rest @ ..],
        ) => rest,
        (_, rest) => rest,
    };
    let rest = match (&reference.subject, after_key) {
        (Subject::Module(_), [Step::Attribute(_), rest @ ..]) => rest,
        (_, rest) => rest,
    };
    if let [first, .., last] | [first @ last] = rest {
        problems.push(problems::partial_dependency(first.span().to(last.span())));
    }
}

fn check_module_reference(
    scope: &Scope,
    role: Role,
    name: &Str,
    reference: &Reference,
    problems: &mut Diagnostics,
) {
    let Some((_, call)) = scope.module.calls.named(name, reference.near()) else {
        let near = nearest(name, scope.module.calls.keys());
        problems.push(problems::undeclared_module(
            name,
            &module_text(scope.address),
            near,
            reference.subject_span,
        ));
        return;
    };
    let Some(child) = scope.config.module(&scope.address.child(name)) else { return };
    let (output, has_key) = match reference.rest {
        [Step::Attribute(output), ..] => (output, false),
        [Step::Index(..) | Step::LegacyIndex(..), Step::Attribute(output), ..] => (output, true),
        _ => return,
    };
    // Elsewhere the value says what it has.
    if role == Role::DependsOn
        && has_key == repeats(&call.repetition)
        && !child.outputs.contains_key(&output.text)
    {
        problems.push(problems::unsupported_output(&output.text, None, output.span));
    }
}

fn repeats(repetition: &Repetition) -> bool {
    matches!(repetition, Repetition::Count(_) | Repetition::ForEach(_))
}
