//! A proof as text for people, and as JSON for programs.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::proof::{Application, By, Premise, Proof, Shape, Step};
use super::{Leaves, name, sentence};

/// The deepest indentation; what lies deeper stands as deep.
const DEEPEST: usize = 12;

/// The column where origins stand, unless a line is longer.
const ORIGINS_AT: usize = 64;

/// One line of a proof, and where what it says comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// How many steps it stands behind what is asked.
    pub depth: usize,
    /// What holds.
    pub text: String,
    /// Whether it is a reason for what stands above it, and not a part of that.
    pub is_reason: bool,
    /// Where that stands: `main.tf:2,38`, a flag, the state, the provider's own word.
    pub origins: Vec<String>,
}

/// Tells a proof: what holds, then line by line because of what. Where it comes from stands on the right.
pub fn render(proof: &Proof, leaves: &dyn Leaves) -> String {
    align(&lines(proof, leaves))
}

/// Tells a proof line by line: what holds, then because of what.
pub fn lines(proof: &Proof, leaves: &dyn Leaves) -> Vec<Line> {
    let mut teller = Teller { proof, leaves, told: HashSet::new(), lines: Vec::new() };
    teller.tell();
    teller.lines
}

/// Writes lines as text: what they rest on indented below them, where they come from on the right.
pub fn align(lines: &[Line]) -> String {
    let texts: Vec<String> = lines.iter().map(Line::shown).collect();
    let placed = lines.iter().zip(&texts).filter(|it| !it.0.origins.is_empty());
    let column = placed.map(|it| it.1.chars().count()).max().unwrap_or(0).min(ORIGINS_AT);
    let mut out = String::new();
    for (line, text) in lines.iter().zip(&texts) {
        out.push_str(text);
        if !line.origins.is_empty() {
            let gap = column.saturating_sub(text.chars().count()) + 4;
            out.push_str(&" ".repeat(gap));
            out.push_str(&line.origins.join(", "));
        }
        out.push('\n');
    }
    out
}

/// Returns a place without its column: `main.tf:3` for `main.tf:3,14`.
pub fn short(place: &str) -> &str {
    let digits = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    match place.rsplit_once(',') {
        Some((line, column)) if digits(column) => match line.rsplit_once(':') {
            Some((_, number)) if digits(number) => line,
            _ => place,
        },
        _ => place,
    }
}

/// The longest chain of reasons that is told whole.
const LONGEST: usize = 16;
/// How many steps of a longer one are told at its beginning and at its end.
const ENDS: (usize, usize) = (7, 6);

/// Leaves the middle out of long chains of reasons: where they begin and where they end is what is asked for.
///
/// - `whole`: what shows all of it.
pub fn fold(lines: Vec<Line>, whole: &str) -> Vec<Line> {
    let mut out: Vec<Line> = Vec::with_capacity(lines.len());
    let mut rest = lines.as_slice();
    while !rest.is_empty() {
        let goes_on = |it: &[Line]| it[1].is_reason && it[0].depth <= it[1].depth;
        let chain = 1 + rest.windows(2).take_while(|it| it[0].is_reason && goes_on(it)).count();
        let (chain, others) = rest.split_at(chain);
        match chain.len() > LONGEST {
            true => {
                let (begin, end) = ENDS;
                let left_out = chain.len() - begin - end;
                out.extend_from_slice(&chain[..begin]);
                out.push(Line {
                    depth: chain[begin].depth,
                    text: format!("… {left_out} steps in between: {whole} shows them"),
                    is_reason: false,
                    origins: Vec::new(),
                });
                out.extend_from_slice(&chain[chain.len() - end..]);
            }
            false => out.extend_from_slice(chain),
        }
        rest = others;
    }
    out
}

impl Line {
    fn shown(&self) -> String {
        let because = if self.is_reason && self.depth > 0 { "because " } else { "" };
        format!("{}{because}{}", "  ".repeat(self.depth.min(DEEPEST)), self.text)
    }
}

struct Teller<'a> {
    proof: &'a Proof,
    leaves: &'a dyn Leaves,
    told: HashSet<usize>,
    lines: Vec<Line>,
}

impl Teller<'_> {
    fn tell(&mut self) {
        let Some(goal) = self.proof.steps.len().checked_sub(1) else { return };
        let step = &self.proof.steps[goal];
        let origins = if matches!(step.by, By::Given) { self.origin(step) } else { Vec::new() };
        let text = sentence::of_row(&step.relation, &step.row, self.leaves);
        self.lines.push(Line { depth: 0, text, is_reason: true, origins });

        let mut waiting = vec![(goal, 1)];
        while let Some((number, depth)) = waiting.pop() {
            let mut next = self.tell_step(number, depth, number == goal);
            next.reverse();
            waiting.extend(next);
        }
    }

    /// Tells one step, and returns which steps are to be told below it, and how deep.
    fn tell_step(&mut self, number: usize, depth: usize, is_goal: bool) -> Vec<(usize, usize)> {
        let steps = &self.proof.steps;
        let step = &steps[number];
        let (application, below) = match &step.by {
            By::Given => return Vec::new(),
            By::Carried(target) => return vec![(*target, depth)],
            By::Rule(application) => (application, derived(application, steps)),
        };
        let is_new = self.told.insert(number);
        let mut depth = depth;
        if step.relation == "action" && !is_goal {
            let text = sentence::of_row(&step.relation, &step.row, self.leaves);
            self.because(&text, depth, Vec::new(), is_new);
            depth += 1;
        }
        if !is_new && step.relation == "action" {
            return Vec::new();
        }
        let text = sentence::of_rule(application, self.leaves);
        let Some(text) = text.filter(|_| !self.is_of_one_name(application)) else {
            return below.into_iter().map(|it| (it, depth)).collect();
        };
        let origins = self.origins(application);
        self.because(&text, depth, origins, is_new);
        let deeper = depth + usize::from(below.len() > 1);
        if is_new { below.into_iter().map(|it| (it, deeper)).collect() } else { Vec::new() }
    }

    fn because(&mut self, text: &str, depth: usize, origins: Vec<String>, is_new: bool) {
        let again = if is_new { "" } else { " (see above)" };
        let text = format!("{text}{again}");
        // Two conclusions of one cause say the same thing in a row; once is enough.
        match self.lines.last_mut() {
            Some(last) if last.depth.min(DEEPEST) == depth.min(DEEPEST) && last.text == text => {
                last.origins.extend(origins);
            }
            _ => self.lines.push(Line { depth, text, is_reason: true, origins }),
        }
    }

    /// Returns whether a rule went from what stood in for an instance to that instance: both have one name.
    fn is_of_one_name(&self, application: &Application) -> bool {
        application.premises.iter().any(|it| {
            let Premise::Step(step) = it else { return false };
            let step = &self.proof.steps[*step];
            let names = |at: usize| name(self.leaves, &step.kinds[at], step.row[at]);
            step.relation == "reads" && step.row[0] != step.row[1] && names(0) == names(1)
        })
    }

    /// Returns where the given premises of a rule come from.
    fn origins(&self, application: &Application) -> Vec<String> {
        let given = application.premises.iter().filter_map(|it| match it {
            Premise::Step(it) => Some(&self.proof.steps[*it]),
            Premise::Absent(_) | Premise::Condition => None,
        });
        let mut origins: Vec<String> =
            given.filter(|it| matches!(it.by, By::Given)).flat_map(|it| self.origin(it)).collect();
        let mut seen = HashSet::new();
        origins.retain(|it| seen.insert(it.clone()));
        origins
    }

    fn origin(&self, step: &Step) -> Vec<String> {
        self.leaves.origin(&step.relation, &step.row).into_iter().collect()
    }
}

/// Returns the premises of a rule that are not simply given.
fn derived(application: &Application, steps: &[Step]) -> Vec<usize> {
    let premises = application.premises.iter().filter_map(|it| match it {
        Premise::Step(it) if !matches!(steps[*it].by, By::Given) => Some(*it),
        _ => None,
    });
    premises.collect()
}

/// Returns a proof as JSON: every step once, premises before what rests on them, by number.
pub fn to_json(proof: &Proof, leaves: &dyn Leaves) -> Value {
    let steps: Vec<Value> = proof.steps.iter().map(|it| step_to_json(it, leaves)).collect();
    json!({ "goal": proof.steps.len().checked_sub(1), "steps": steps })
}

fn step_to_json(step: &Step, leaves: &dyn Leaves) -> Value {
    let arguments: Vec<String> =
        step.kinds.iter().zip(&step.row).map(|(kind, word)| name(leaves, kind, *word)).collect();
    let mut value = json!({
        "relation": step.relation,
        "arguments": arguments,
        "sentence": sentence::of_row(&step.relation, &step.row, leaves),
    });
    match &step.by {
        By::Given => {
            if let Some(origin) = leaves.origin(&step.relation, &step.row) {
                value["origin"] = origin.into();
            }
        }
        By::Carried(target) => value["concluded_in"] = (*target).into(),
        By::Rule(application) => {
            value["rule"] = application.rule.clone().into();
            value["because"] = sentence::of_rule_in_full(application, leaves).into();
            value["premises"] =
                application.premises.iter().filter_map(|it| premise_to_json(it, leaves)).collect();
        }
    }
    value
}

fn premise_to_json(premise: &Premise, leaves: &dyn Leaves) -> Option<Value> {
    match premise {
        Premise::Step(step) => Some(json!({ "step": step })),
        Premise::Absent(shape) => Some(json!({ "absent": shape_to_json(shape, leaves) })),
        Premise::Condition => None,
    }
}

/// Returns rows of a shape as JSON; null where they may differ.
pub(super) fn shape_to_json(shape: &Shape, leaves: &dyn Leaves) -> Value {
    let arguments: Vec<Option<String>> = shape
        .kinds
        .iter()
        .zip(&shape.words)
        .map(|(kind, word)| word.map(|it| name(leaves, kind, it)))
        .collect();
    json!({ "relation": shape.relation, "arguments": arguments })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "-full";

    fn line(depth: usize, is_reason: bool) -> Line {
        Line { depth, text: format!("at {depth}"), is_reason, origins: Vec::new() }
    }

    #[test]
    fn a_place_has_no_column() {
        assert_eq!(short("main.tf:3,14"), "main.tf:3");
        assert_eq!(short("a,b.tf:3"), "a,b.tf:3");
        assert_eq!(short("-var list=1,2"), "-var list=1,2");
        assert_eq!(short("state"), "state");
    }

    #[test]
    fn a_long_chain_keeps_its_ends() {
        let chain: Vec<Line> = (0..40).map(|it| line(it, true)).collect();
        let folded = fold(chain.clone(), WHOLE);
        assert_eq!(folded.len(), ENDS.0 + 1 + ENDS.1);
        assert_eq!((folded.first(), folded.last()), (chain.first(), chain.last()));
        assert_eq!(folded[ENDS.0].text, "… 27 steps in between: -full shows them");
        assert_eq!(fold(chain[..LONGEST].to_vec(), WHOLE), chain[..LONGEST]);
    }

    #[test]
    fn what_is_listed_is_told_whole() {
        let listed: Vec<Line> = (0..40).map(|_| line(1, false)).collect();
        assert_eq!(fold(listed.clone(), WHOLE), listed);
        let several: Vec<Line> = (0..40).map(|it| line(1 + it % 3, true)).collect();
        assert_eq!(fold(several.clone(), WHOLE), several);
    }
}
