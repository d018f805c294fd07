//! `minimal`: the fewest flags that bring certain changes, or keep certain objects as they are; and what these flags do besides.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;
use serde_json::{Value as Json, json};

use super::explain::planned;
use super::host::Host;
use super::impact::Known;
use super::options::PlanOptions;
use super::with_room;
use crate::address::{Instance, Mode};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::explain::sentence::of_done;
use crate::operation::explain::ExplainContext;
use crate::operation::impact::{Direction, Impact, follow};
use crate::operation::minimal::{Purpose, Run, Wanted, pruned};
use crate::plan::{Action, action_tokens};
use crate::planner::Finished;
use crate::request::{Request, Selector};

/// What is asked.
#[derive(Clone, Debug)]
pub struct MinimalOptions {
    /// What the flags are for.
    pub purpose: Purpose,
    /// The addresses.
    pub addresses: Vec<String>,
    /// How to plan.
    pub planning: PlanOptions,
}

/// The flags, and what they do.
#[derive(Clone, Debug)]
pub struct Minimal {
    purpose: Purpose,
    /// The flags.
    pub flags: Vec<String>,
    /// Further flags that a plan with these asks for, because objects were moved.
    pub moved: Vec<String>,
    /// What the plan with these flags does, or what it leaves out: the address, what is done, and whether it was asked for.
    pub effects: Vec<Effect>,
    /// What was asked for, and does not change at all; or changes all the same.
    pub without: Vec<String>,
    /// What was asked for and needs no flag, since it does not change.
    unneeded: Vec<String>,
    /// Data sources that were asked for and need no flag, since they are not read again where anything is left out.
    unread: Vec<String>,
    /// From what was asked to what was not.
    ways: Impact,
}

/// Something that the flags bring, or leave out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// The object.
    pub address: String,
    /// What is done with it; nothing where it is left out.
    pub action: Option<Action>,
    /// Whether it was asked for.
    pub is_asked: bool,
}

/// Finds the fewest flags that do, and says what they do besides. Changes nothing.
///
/// # Errors
///
/// If nothing has an address, or no plan can be made.
pub fn minimal(host: &Host<'_>, options: &MinimalOptions) -> Result<Minimal, Diagnostics> {
    with_room(|runtime| {
        let known = Known::read(host, &options.planning)?;
        let context = known.context_of(&known.foresee(&known.request)?.0);
        let names = Wanted::read(&options.addresses, &context)?.names(&context);
        let plan = |planning: &PlanOptions| runtime.block_on(planned(host, planning, None));
        let (session, full) = plan(&options.planning)?;
        let needed = needing(&names, &full.finished);
        let search = Search { known: &known, purpose: options.purpose };
        let mut asked = search.first(&needed);
        let (mut found, mut moved, mut session, mut made) = (Vec::new(), Vec::new(), session, full);
        while !asked.is_empty() {
            (found, moved) = search.flags(&names, &asked)?;
            let mut planning = options.planning.clone();
            search.add(&mut planning.request, found.iter().chain(&moved))?;
            (session, made) = plan(&planning)?;
            let left = without(&needed, &made.finished, options.purpose);
            let left: Vec<String> = left.into_iter().filter(|it| !asked.contains(it)).collect();
            if left.is_empty() {
                break;
            }
            asked.extend(left);
        }
        // What depends on keys that are not known before is decided by a plan alone.
        if made.finished.structure.has_pending() && found.len() > 1 {
            found = pruned(found, |fewer| {
                // Without any flag, all of the plan is carried out.
                if fewer.is_empty() && moved.is_empty() {
                    return Ok::<_, Diagnostics>(false);
                }
                let mut planning = options.planning.clone();
                search.add(&mut planning.request, fewer.iter().chain(&moved))?;
                let tried = plan(&planning)?;
                let before = without(&needed, &made.finished, options.purpose);
                let after = without(&needed, &tried.1.finished, options.purpose);
                let does = after.iter().all(|it| before.contains(it));
                if does {
                    (session, made) = tried;
                }
                Ok(does)
            })?;
        }
        let is_needless = found.is_empty() && moved.is_empty();
        let finished = &made.finished;
        let context = ExplainContext::of_planned(&session, finished);
        let flags = |all: &[String]| all.iter().map(|it| search.flag(it)).collect();
        let effects = match options.purpose {
            _ if is_needless => Vec::new(),
            Purpose::Change => changed(&names, finished),
            Purpose::Keep => left_out(&names, finished),
        };
        Ok(Minimal {
            purpose: options.purpose,
            flags: flags(&found),
            moved: flags(&moved),
            without: without(&names, finished, options.purpose),
            unneeded: names.difference(&needed).cloned().collect(),
            unread: needed.difference(&asked).cloned().collect(),
            effects,
            ways: ways(&names, &context, (options.purpose, finished)),
        })
    })?
}

/// Returns the objects that change without any flag: others need none. All of them where the plan has errors.
fn needing(names: &BTreeSet<String>, full: &Finished) -> BTreeSet<String> {
    if full.problems.has_errors() {
        return names.clone();
    }
    let changed = changing(full);
    // What stands for instances whose keys are not known is an object of no plan.
    let structure = &full.structure;
    let is_open = |it: &String| {
        let resource: Option<crate::address::Resource> = it.parse().ok();
        let id = resource.and_then(|it| structure.resource_id(&it));
        id.is_some_and(|it| structure.resource(it).besides.pending.is_some())
    };
    names.iter().filter(|it| changed.contains(*it) || is_open(it)).cloned().collect()
}

/// Returns the objects that a plan changes.
fn changing(made: &Finished) -> FxHashSet<String> {
    let changes = made.plan.changes.iter().filter(|it| it.action != Action::NoOp);
    changes.map(|it| it.address.to_string()).collect()
}

/// Returns what a plan changes.
fn changed(asked: &BTreeSet<String>, made: &Finished) -> Vec<Effect> {
    let changes = made.plan.changes.iter().filter(|it| it.action != Action::NoOp);
    let effects = changes.map(|it| {
        let address = it.address.to_string();
        let is_asked = asked.contains(&address);
        Effect { address, action: Some(it.action), is_asked }
    });
    effects.collect()
}

/// Returns what a plan leaves out.
fn left_out(asked: &BTreeSet<String>, made: &Finished) -> Vec<Effect> {
    let mut seen: FxHashSet<&str> = FxHashSet::default();
    let objects = made.plan.left_out.iter().flat_map(|it| &it.objects);
    let left_out = objects.filter(|it| seen.insert(it));
    let effects = left_out.map(|it| Effect {
        address: it.clone(),
        action: None,
        is_asked: asked.contains(it),
    });
    effects.collect()
}

/// Returns what was asked for and does not come about: it changes though it was to stay, or does not change though it was to.
fn without(asked: &BTreeSet<String>, made: &Finished, purpose: Purpose) -> Vec<String> {
    let changed = changing(made);
    let fails = |it: &&String| changed.contains(*it) == (purpose == Purpose::Keep);
    asked.iter().filter(fails).cloned().collect()
}

/// The ways from what was asked to what it depends on, or to what depends on it, as selection has concluded them.
fn ways(
    names: &BTreeSet<String>,
    context: &ExplainContext,
    (purpose, made): (Purpose, &Finished),
) -> Impact {
    let next = purpose.brings(&made.facts, &made.selection);
    let direction = Direction { reverse: purpose == Purpose::Change, depth: None };
    let wanted = Wanted::named(names, context);
    follow(context, &wanted.nodes, &next, direction, |_| true)
}

/// The search for flags.
struct Search<'a> {
    known: &'a Known,
    purpose: Purpose,
}

impl Search<'_> {
    /// Returns for which of the objects flags are looked for first. Where anything is left out, a data source with a recorded result
    /// is not read again: it may need no flag of its own.
    fn first(&self, needed: &BTreeSet<String>) -> BTreeSet<String> {
        let is_data = |it: &&String| {
            let instance: Option<Instance> = it.parse().ok();
            instance.is_some_and(|it| it.resource.mode == Mode::Data)
        };
        if self.purpose == Purpose::Change || !needed.iter().any(|it| is_data(&it)) {
            return needed.clone();
        }
        let others: BTreeSet<String> = needed.iter().filter(|it| !is_data(it)).cloned().collect();
        if others.is_empty() { needed.first().cloned().into_iter().collect() } else { others }
    }

    /// Returns the addresses of the flags that are needed, and those that a plan with them asks for because objects were moved.
    fn flags(
        &self,
        names: &BTreeSet<String>,
        needed: &BTreeSet<String>,
    ) -> Result<(Vec<String>, Vec<String>), Diagnostics> {
        if needed.is_empty() {
            return Ok((Vec::new(), Vec::new()));
        }
        let conclude = |addresses: &mut dyn Iterator<Item = &String>| {
            let mut request = self.known.request.clone();
            self.add(&mut request, addresses)?;
            self.known.foresee(&request)
        };
        let (named, foreseen) = conclude(&mut names.iter())?;
        let moved = match self.purpose {
            Purpose::Change => foreseen.moved_targets,
            Purpose::Keep => Vec::new(),
        };
        let all = match moved.is_empty() {
            true => named,
            false => conclude(&mut names.iter().chain(&moved))?.0,
        };
        let context = self.known.context_of(&all);
        let wanted = Wanted::named(names, &context);
        let (known, purpose) = (&all, self.purpose);
        let run = Run { context: &context, known, purpose, given: &moved };
        let found = wanted.addresses(&run, needed, |addresses| {
            Ok::<_, Diagnostics>(conclude(&mut addresses.iter().chain(&moved))?.0)
        })?;
        Ok((found, moved))
    }

    /// Adds flags to a request.
    fn add<'s>(
        &self,
        request: &mut Request,
        addresses: impl IntoIterator<Item = &'s String>,
    ) -> Result<(), Diagnostics> {
        for address in addresses {
            let selector = Selector {
                target: address.parse()?,
                text: address.clone(),
                origin: self.flag(address),
                is_of_policy: false,
            };
            match self.purpose {
                Purpose::Change => request.targets.push(selector),
                Purpose::Keep => request.excludes.push(selector),
            }
        }
        Ok(())
    }

    fn flag(&self, address: &str) -> String {
        match self.purpose {
            Purpose::Change => format!("-target={address}"),
            Purpose::Keep => format!("-exclude={address}"),
        }
    }
}

impl Minimal {
    /// Returns it as text: the flags on the first line, to be copied.
    pub fn text(&self) -> String {
        let flags: Vec<&str> = self.flags.iter().chain(&self.moved).map(String::as_str).collect();
        let mut out = match flags.is_empty() {
            true => "No flag is needed.\n".to_owned(),
            false => format!("{}\n", flags.join(" ")),
        };
        if !self.moved.is_empty() {
            out.push_str(&format!(
                "\nObjects were moved, and a plan with -target has to name them: {}\n",
                self.moved.join(" ")
            ));
        }
        let told = |it: &Effect| match it.action {
            Some(action) => of_done(&it.address, Some(action), None),
            None => it.address.clone(),
        };
        let (asked, besides): (Vec<&Effect>, Vec<&Effect>) =
            self.effects.iter().partition(|it| it.is_asked);
        let head = match self.purpose {
            Purpose::Change => ("With these flags", "And with them, for they are needed"),
            Purpose::Keep => ("Left as they are", "And with them, for they need these"),
        };
        if !asked.is_empty() {
            out.push_str(&format!("\n{}:\n", head.0));
            asked.iter().for_each(|it| out.push_str(&format!("  {}\n", told(it))));
        }
        if !besides.is_empty() {
            out.push_str(&format!("\n{}:\n", head.1));
            let paths = self.ways.paths();
            for it in besides {
                let path = paths.line(&it.address).map_or(String::new(), |it| format!("    {it}"));
                out.push_str(&format!("  {}{path}\n", told(it)));
            }
        }
        for it in &self.unneeded {
            out.push_str(&format!("\n{it} does not change, and needs no flag.\n"));
        }
        for it in &self.unread {
            out.push_str(&format!(
                "\n{it} is not read again where anything is left out, and needs no flag.\n"
            ));
        }
        for it in self.without.iter().filter(|it| !self.unneeded.contains(it)) {
            let what = match self.purpose {
                Purpose::Change => "does not change",
                Purpose::Keep => "changes all the same",
            };
            out.push_str(&format!("\n{it} {what}.\n"));
        }
        out
    }

    /// Returns it as JSON.
    pub fn to_json(&self) -> Json {
        let paths = self.ways.paths();
        let effects = self.effects.iter().map(|it| {
            let path = if it.is_asked { Vec::new() } else { paths.to(&it.address) };
            json!({
                "address": it.address, "actions": it.action.map(action_tokens),
                "asked": it.is_asked, "path": path,
            })
        });
        let (effects_name, without) = match self.purpose {
            Purpose::Change => ("changes", "unchanged"),
            Purpose::Keep => ("left_out", "changed"),
        };
        let flags: Vec<&String> = self.flags.iter().chain(&self.moved).collect();
        json!({
            "format_version": "1.0",
            "flags": flags,
            effects_name: effects.collect::<Vec<_>>(),
            without: self.without,
        })
    }
}

/// Says that nothing is asked.
pub fn nothing() -> Diagnostic {
    Diagnostic::error("Nothing is asked").detail(
        "The minimal command expects -change=ADDRESS for what is to change, or -keep=ADDRESS for what is to stay as it is; either may be repeated.",
    )
}
