//! `minimal`: the fewest flags that bring certain changes, or keep certain objects as they are; and what these flags do besides.

use rustc_hash::FxHashSet;
use serde_json::{Value as Json, json};

use super::explain::planned;
use super::host::Host;
use super::impact::Known;
use super::options::PlanOptions;
use super::with_room;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::explain::Leaves;
use crate::explain::sentence::of_done;
use crate::lower::trace::Followed;
use crate::operation::explain::ExplainContext;
use crate::operation::impact::{Direction, Impact, Start, impact};
use crate::operation::minimal::{Purpose, Wanted};
use crate::plan::{Action, Plan, action_tokens};
use crate::request::Selector;

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
    /// What the plan with these flags does, or what it leaves out: the address, what is done, and whether it was asked for.
    pub effects: Vec<Effect>,
    /// What was asked for, and does not change at all; or changes all the same.
    pub without: Vec<String>,
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
        let (context, _) = Known::read(host, &options.planning)?.context(&Followed::default())?;
        let wanted = Wanted::read(&options.addresses, &context)?;
        let addresses = wanted.addresses(&context, options.purpose);
        let flag = match options.purpose {
            Purpose::Change => "target",
            Purpose::Keep => "exclude",
        };
        let flags: Vec<String> = addresses.iter().map(|it| format!("-{flag}={it}")).collect();
        let mut planning = options.planning.clone();
        for (address, flag) in addresses.iter().zip(&flags) {
            let selector = Selector {
                target: address.parse()?,
                text: address.clone(),
                origin: flag.clone(),
                is_of_policy: false,
            };
            match options.purpose {
                Purpose::Change => planning.request.targets.push(selector),
                Purpose::Keep => planning.request.excludes.push(selector),
            }
        }
        let (_, made) = runtime.block_on(planned(host, &planning, None))?;
        let plan = &made.finished.plan;
        let asked = Asked { context: &context, wanted: &wanted };
        Ok(match options.purpose {
            Purpose::Change => asked.change(flags, plan),
            Purpose::Keep => asked.keep(flags, plan),
        })
    })?
}

struct Asked<'a> {
    context: &'a ExplainContext,
    wanted: &'a Wanted,
}

impl Asked<'_> {
    fn names(&self) -> Vec<String> {
        let names = self.wanted.nodes.iter().map(|it| self.context.name(*it));
        names.collect()
    }

    fn change(&self, flags: Vec<String>, plan: &Plan) -> Minimal {
        let names = self.names();
        let asked: FxHashSet<&str> = names.iter().map(String::as_str).collect();
        let changes = plan.changes.iter().filter(|it| it.action != Action::NoOp);
        let effects = changes.map(|it| {
            let address = it.address.to_string();
            let is_asked = asked.contains(&*address);
            Effect { address, action: Some(it.action), is_asked }
        });
        let effects: Vec<Effect> = effects.collect();
        let changed: FxHashSet<&str> = effects.iter().map(|it| &*it.address).collect();
        let is_changed = |it: &&String| changed.contains(it.as_str());
        let without = names.iter().filter(|it| !is_changed(it)).cloned().collect();
        Minimal { purpose: Purpose::Change, flags, effects, without, ways: self.ways(true) }
    }

    fn keep(&self, flags: Vec<String>, plan: &Plan) -> Minimal {
        let names = self.names();
        let asked: FxHashSet<&str> = names.iter().map(String::as_str).collect();
        let mut seen: FxHashSet<&str> = FxHashSet::default();
        let objects = plan.left_out.iter().flat_map(|it| &it.objects);
        let left_out = objects.filter(|it| seen.insert(it));
        let effects = left_out.map(|it| Effect {
            address: it.clone(),
            action: None,
            is_asked: asked.contains(&**it),
        });
        let effects: Vec<Effect> = effects.collect();
        let changes = plan.changes.iter().filter(|it| it.action != Action::NoOp);
        let changed: FxHashSet<String> = changes.map(|it| it.address.to_string()).collect();
        let without = names.iter().filter(|it| changed.contains(*it)).cloned().collect();
        Minimal { purpose: Purpose::Keep, flags, effects, without, ways: self.ways(false) }
    }

    /// The ways from what was asked to what it rests on, or to what rests on it.
    fn ways(&self, reverse: bool) -> Impact {
        let start = Start { nodes: self.wanted.nodes.clone(), gone: Vec::new() };
        impact(self.context, &start, Direction { reverse, depth: None }, None)
    }
}

impl Minimal {
    /// Returns it as text: the flags on the first line, to be copied.
    pub fn text(&self) -> String {
        let mut out = format!("{}\n", self.flags.join(" "));
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
        let what = match self.purpose {
            Purpose::Change => "does not change",
            Purpose::Keep => "changes all the same",
        };
        for it in &self.without {
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
        json!({
            "format_version": "1.0",
            "flags": self.flags,
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
