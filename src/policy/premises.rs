//! Rules as tests see them: as they are written, premise by premise, and without one of these.

use super::rules::Policies;
use crate::datalog::check::Rule;
use crate::datalog::coverage;

impl Policies {
    /// Returns the numbers of the rules of policies: one for each rule as it is written, whatever its heads.
    pub fn written_rules(&self) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        for (at, rule) in self.program.rules.iter().enumerate() {
            let is_same = |it: &usize| self.program.rules[*it].span == rule.span;
            if !rule.group.is_empty() && !found.last().is_some_and(is_same) {
                found.push(at);
            }
        }
        found
    }

    /// Returns what a rule is called: its name, or the relation that it concludes.
    pub fn called(&self, rule: usize) -> String {
        let rule = &self.program.rules[rule];
        match rule.sentence.is_empty() {
            false => rule.name.clone(),
            true => self.program.shown_name(rule.head).to_owned(),
        }
    }

    /// Returns whether a rule can be judged without a plan.
    pub fn is_judged_by_configuration(&self, rule: usize) -> bool {
        self.info[rule].is_none_or(|it| !self.rules[it].needs_plan)
    }

    /// Returns the same policies, where a rule as it is written, by the number of one of its heads, lacks a premise; nothing
    /// where it would say nothing then, because a variable would have no value.
    pub fn without(&self, rule: usize, premise: usize) -> Option<Policies> {
        let span = self.program.rules[rule].span;
        let is_meant = |it: &Rule| it.span == span && !it.group.is_empty();
        let mut less = self.clone();
        for rule in less.program.rules.iter_mut().filter(|it| is_meant(it)) {
            *rule = coverage::without(rule, premise)?;
        }
        less.program = less.program.keep_rules(|_| true);
        Some(less)
    }
}
