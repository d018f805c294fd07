//! Shaping: what policies ask of a plan before it is made, as if flags asked for it.

use std::collections::BTreeSet;

use entail_rules::{Node, Tables, atom::Atom};

pub use super::asked::Asked;
use super::judge::{evaluated, info_of};
use super::model::Model;
use super::rules::{Policies, RuleInfo, SHAPING};
use super::waivers;
use crate::address::target::Target;
use crate::address::{Mode, ModuleInstance, Resource};
use crate::datalog::evaluate::binding;
use crate::datalog::{Database, Limits, Program, kinds};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::lower::structure::NodeKind;
use crate::request::{Replacement, Request, Selector};

mod premises;

pub(super) use premises::unfit;

/// Adds to a request what policies ask for. Returns what that is, by rule and address, with warnings.
///
/// # Errors
///
/// If a rule rests on what is not known yet, asks for what cannot be asked of an object, or takes more than it may.
pub fn shape(
    policies: &Policies,
    model: &Model<'_>,
    tables: &[&dyn Tables],
    limits: &Limits,
    request: &mut Request,
) -> Result<(Vec<Asked>, Diagnostics), Diagnostics> {
    let heads = heads();
    let wanted = |it: usize| policies.info[it].is_none_or(|it| policies.rules[it].shapes());
    let program = policies.program.keep_rules(wanted);
    let goals: Vec<usize> = heads.iter().filter_map(|it| program.relation(it)).collect();
    let program = program.for_goals(&goals);
    let (written, mut problems) = waivers::find(model.sources);
    let in_force = waivers::in_force(&written, model);
    let (database, failed) = evaluated(&program, model, tables, &in_force, limits)?;
    let reader = Reader { policies, model, program: &program, database: &database };
    let mut found: Vec<(Asked, Target, Option<Target>)> = Vec::new();
    for head in heads {
        let Some(relation) = program.relation(head) else { continue };
        let passed_over = reader.values_beside_objects(relation);
        for position in database.table(relation).positions().filter(|it| !passed_over.contains(it))
        {
            found.extend(problems.take(reader.asked(head, (relation, position))));
        }
    }
    problems.extend(failed);
    if problems.has_errors() {
        return Err(problems.once());
    }
    found.sort_by(|a, b| {
        let key = |it: &Asked| (it.rule.clone(), it.head, it.address.clone(), it.with.clone());
        key(&a.0).cmp(&key(&b.0))
    });
    for (asked, target, other) in &found {
        add(asked, target, other.as_ref(), request);
    }
    Ok((found.into_iter().map(|it| it.0).collect(), problems))
}

/// The heads that ask something of a plan before it is made. What is protected is judged when it is.
fn heads() -> Vec<&'static str> {
    SHAPING.iter().copied().filter(|it| *it != "protect").collect()
}

fn add(asked: &Asked, target: &Target, other: Option<&Target>, request: &mut Request) {
    let origin = asked.origin();
    let selector = Selector {
        target: target.clone(),
        text: asked.address.clone(),
        origin: origin.clone(),
        is_of_policy: true,
    };
    match (asked.head, target, other) {
        ("exclude", ..) => request.excludes.push(selector),
        ("target", ..) => request.targets.push(selector),
        ("replace", Target::Instance(it), _) => {
            request.replaces.push(Replacement { instance: it.clone(), origin });
        }
        ("create_first", ..) => request.shape.first.push(selector),
        ("before", _, Some(other)) => request.shape.ordered.push((selector, other.clone())),
        ("one_at_a_time", ..) => {
            // A group is one, whichever rules name it.
            let name = asked.with.clone().unwrap_or_default();
            let groups = &mut request.shape.groups;
            match groups.iter_mut().find(|it| it.name == name) {
                Some(group) => group.members.push(target.clone()),
                None => groups.push(crate::request::Group {
                    name,
                    origin,
                    members: vec![target.clone()],
                }),
            }
        }
        _ => {}
    }
}

struct Reader<'s, 'm> {
    policies: &'s Policies,
    model: &'s Model<'m>,
    program: &'s Program,
    database: &'s Database,
}

impl Reader<'_, '_> {
    /// The rows of a head that are about variables, local values and outputs, where their rule asks for objects as well: what a
    /// rule asks for everything that depends on something, it asks for the objects.
    fn values_beside_objects(&self, relation: usize) -> BTreeSet<usize> {
        let table = self.database.table(relation);
        let columns = &self.program.relations[relation].columns;
        let is_named = |word: u64| {
            let node = Node::from_word(word);
            let kind = node.and_then(|it| self.model.structure.nodes.get(it.0 as usize));
            matches!(
                kind,
                Some(NodeKind::Variable(..) | NodeKind::Local(..) | NodeKind::Output(..))
            )
        };
        let is_value = |position: &usize| {
            let cells = table.row(*position).iter().zip(columns);
            cells.into_iter().any(|(word, kind)| kind == kinds::NODE && is_named(*word))
        };
        let rule = |position: usize| info_of(table.row(position), &self.program.values);
        let (values, others): (Vec<usize>, Vec<usize>) = table.positions().partition(is_value);
        let asking: BTreeSet<Option<usize>> = others.into_iter().map(rule).collect();
        values.into_iter().filter(|it| asking.contains(&rule(*it))).collect()
    }

    /// What a row asks for. Errors say why that cannot be asked.
    fn asked(
        &self,
        head: &'static str,
        (relation, position): (usize, usize),
    ) -> Result<(Asked, Target, Option<Target>), Diagnostic> {
        let row = self.database.table(relation).row(position);
        let info = info_of(row, &self.program.values).and_then(|it| self.policies.rules.get(it));
        let (Some(info), Some(node)) = (info, Node::from_word(row[0])) else {
            return Err(Diagnostic::error("Policy without a rule").detail(head));
        };
        if !self.database.table(relation).is_certain(position) {
            return Err(self.not_known(info, head, node, (relation, position)));
        }
        let target = self.target(info, head, node)?;
        let (with, other) = match head {
            "before" => {
                let other = Node::from_word(row[1]).unwrap_or(node);
                (Some(self.model.address(other)), Some(self.target(info, head, other)?))
            }
            "one_at_a_time" => (Some(self.program.values.show(row[1])), None),
            _ => (None, None),
        };
        let place = (info.file.clone(), info.line);
        let address = self.model.address(node);
        let asked = Asked { rule: info.shown.clone(), head, address, with, place };
        Ok((asked, target, other))
    }

    /// What a flag would say to name a node.
    fn target(&self, info: &RuleInfo, head: &str, node: Node) -> Result<Target, Diagnostic> {
        let structure = self.model.structure;
        if let Some(module) = self.model.module_of_node(node) {
            let address: &ModuleInstance = &structure.module(module).address;
            return match (address.is_root(), head) {
                (true, _) => Err(not_so(info, head, "the root module")),
                (false, "replace") => Err(not_so(info, head, "a module")),
                (false, _) => Ok(Target::Module(address.clone())),
            };
        }
        if node == self.model.whole() {
            return Err(not_so(info, head, "the plan as a whole"));
        }
        let of = |resource: &Resource, is_whole: bool| match resource.resource.mode {
            Mode::Managed if head == "replace" && is_whole => {
                Err(not_so(info, head, "a resource whose instances are not known yet"))
            }
            Mode::Data | Mode::Ephemeral if matches!(head, "replace" | "create_first") => {
                Err(not_so(info, head, "what is only read or opened"))
            }
            _ => Ok(()),
        };
        match structure.kind(node) {
            NodeKind::Object(id, key) => {
                let address = &structure.resource(*id).address;
                of(address, false)?;
                Ok(Target::Instance(address.instance(key.clone())))
            }
            NodeKind::Pending(id) => {
                let address = &structure.resource(*id).address;
                of(address, true)?;
                Ok(Target::Resource(address.clone()))
            }
            _ => Err(not_so(info, head, "a variable, a local value or an output")),
        }
    }

    fn not_known(
        &self,
        info: &RuleInfo,
        head: &str,
        node: Node,
        (relation, position): (usize, usize),
    ) -> Diagnostic {
        let bound = binding(self.program, self.database, Some(self.model), relation, position);
        let waits = super::waits::direct(bound.as_ref(), self.program, self.model);
        let is_several = (node.0 as usize) < self.model.structure.nodes.len()
            && matches!(self.model.structure.kind(node), NodeKind::Pending(_));
        let what = match (&waits[..], is_several) {
            ([], true) => "which instances there will be, which is not known yet".to_owned(),
            ([], false) => "values that are not known yet".to_owned(),
            (all, _) => format!("{}, not known yet", all.join(", ")),
        };
        Diagnostic::error("Policy that cannot be decided before the plan")
            .detail(format!(
                "Whether `{}` asks for `{head}` of {} rests on {what}. What shapes a plan has to be known before it is made: from literal arguments, variables, places and dependencies, or from what the state holds.",
                info.shown,
                self.model.address(node)
            ))
            .at(info.span)
    }
}

fn not_so(info: &RuleInfo, head: &str, what: &str) -> Diagnostic {
    Diagnostic::error("Policy that asks for what cannot be")
        .detail(format!(
            "`{}` concludes `{head}` of {what}, which nothing can ask for.",
            info.shown
        ))
        .at(info.span)
}

impl RuleInfo {
    /// Returns whether it asks something of a plan before it is made.
    pub fn shapes(&self) -> bool {
        heads().iter().any(|it| self.heads.contains(*it))
    }
}

impl Policies {
    /// Returns whether some rule asks something of a plan before it is made.
    pub fn shape(&self) -> bool {
        self.rules.iter().any(RuleInfo::shapes)
    }
}
