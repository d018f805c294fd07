//! What would be touched, as text and as JSON.

use rustc_hash::FxHashMap;
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{Direction, Impact, Step, Touched};

/// How many steps at the end of a way are named on one line.
const NAMED: usize = 12;

impl Impact {
    /// Adds a step of a way, and returns its number.
    ///
    /// - `before`: the number of the step before it.
    pub fn step(&mut self, address: String, before: Option<usize>) -> usize {
        let number = self.steps.len();
        let (first, distance) = before.map_or((number, 0), |it| {
            let Step { first, distance, .. } = self.steps[it];
            (first, distance + 1)
        });
        self.steps.push(Step { address, before, first, distance });
        number
    }

    /// Lists a step as touched.
    ///
    /// - `through`: what hands values on between the step before and it.
    pub fn list(&mut self, step: usize, through: Vec<String>) {
        self.touched.push(Touched { step, through });
    }

    /// The steps that are touched, nearest first.
    fn listed(&self) -> impl Iterator<Item = &Step> {
        self.touched.iter().map(|it| &self.steps[it.step])
    }

    /// Returns the steps that lead to each of what would be touched, what changes first, itself last. Nothing for what is not.
    pub fn paths(&self) -> Paths<'_> {
        let steps = self.touched.iter().map(|it| (&*self.steps[it.step].address, it.step));
        Paths { impact: self, steps: steps.collect() }
    }

    fn path(&self, step: usize) -> Vec<&str> {
        let mut path: Vec<&str> = std::iter::successors(Some(step), |it| self.steps[*it].before)
            .map(|it| &*self.steps[it].address)
            .collect();
        path.reverse();
        path
    }

    /// Returns it as text: each on a line, nearest first.
    pub fn text(&self, direction: Direction) -> String {
        let mut out = String::new();
        let width = self.listed().map(|it| it.address.chars().count()).max().unwrap_or(0);
        let width = width.min(60);
        for it in &self.touched {
            let Step { address, before, distance, .. } = &self.steps[it.step];
            let before = before.map(|it| &*self.steps[it].address);
            let mut via: Vec<&str> = before.into_iter().collect();
            via.extend(it.through.iter().map(String::as_str));
            let via =
                if via.is_empty() { String::new() } else { format!("  {}", via.join(" → ")) };
            let gap = width.saturating_sub(address.chars().count());
            let line = format!("{distance:>4}  {address}{}{via}", " ".repeat(gap));
            out.push_str(line.trim_end());
            out.push('\n');
        }
        for gone in &self.gone {
            out.push_str(&format!("   -  {gone} has no block any more and is not in the state\n"));
        }
        let further = self.listed().filter(|it| it.distance > 0).count();
        let furthest = self.listed().map(|it| it.distance).max().unwrap_or(0);
        let steps = |count: usize| if count == 1 { "step" } else { "steps" };
        let what = match (direction.reverse, further, direction.depth) {
            (_, 0, Some(depth)) => format!("Nothing else within {depth} {}.", steps(depth)),
            (true, 0, None) => "It depends on nothing else.".to_owned(),
            (false, 0, None) if self.is_of_plan => {
                "The plan changes nothing else that depends on it.".to_owned()
            }
            (false, 0, None) => "No other object depends on it.".to_owned(),
            (true, many, _) => {
                format!("It depends on {many}, at most {furthest} {} away.", steps(furthest))
            }
            (false, many, _) => {
                let verb = if many == 1 { "depends" } else { "depend" };
                format!("{many} {verb} on it, at most {furthest} {} away.", steps(furthest))
            }
        };
        out.push_str(&what);
        out.push('\n');
        out
    }

    /// Returns it as JSON, each with its whole path.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

/// The ways to what would be touched.
pub struct Paths<'a> {
    impact: &'a Impact,
    steps: FxHashMap<&'a str, usize>,
}

impl Paths<'_> {
    /// Returns the steps that lead to an address; none where it would not be touched.
    pub fn to(&self, address: &str) -> Vec<String> {
        let steps = self.steps.get(address).map_or(Vec::new(), |it| self.impact.path(*it));
        steps.into_iter().map(str::to_owned).collect()
    }

    /// Returns the way to an address on a line: of a long one how it begins and how it ends. Nothing where there is no step before it.
    pub fn line(&self, address: &str) -> Option<String> {
        let all = &self.impact.steps;
        let step = *self.steps.get(address)?;
        let Step { before, first, distance, .. } = all[step];
        before?;
        let back = std::iter::successors(Some(step), |it| all[*it].before);
        let mut names: Vec<&str> =
            back.take(NAMED.min(distance)).map(|it| &*all[it].address).collect();
        let left_out = distance - names.len();
        let more = format!("… {left_out} more …");
        if left_out > 0 {
            names.push(&more);
        }
        names.push(&all[first].address);
        names.reverse();
        Some(names.join(" → "))
    }
}

impl Serialize for Impact {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(3))?;
        map.serialize_entry("format_version", "1.0")?;
        let all: Vec<Shown<'_>> =
            self.touched.iter().map(|it| Shown { impact: self, it }).collect();
        map.serialize_entry("impacted", &all)?;
        map.serialize_entry("gone", &self.gone)?;
        map.end()
    }
}

/// One of what would be touched, as JSON.
struct Shown<'a> {
    impact: &'a Impact,
    it: &'a Touched,
}

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Shown { impact, it } = self;
        let mut map = to.serialize_map(Some(4))?;
        let Step { address, distance, .. } = &impact.steps[it.step];
        map.serialize_entry("address", address)?;
        map.serialize_entry("distance", distance)?;
        map.serialize_entry("path", &impact.path(it.step))?;
        map.serialize_entry("through", &it.through)?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_way_is_told_by_how_it_begins_and_ends() {
        let mut impact = Impact::default();
        for at in 0..16_usize {
            let step = impact.step(format!("t.r{at}"), at.checked_sub(1));
            impact.list(step, Vec::new());
        }
        let paths = impact.paths();
        assert_eq!(paths.line("t.r0"), None);
        assert_eq!(paths.line("t.other"), None);
        assert_eq!(paths.line("t.r2").as_deref(), Some("t.r0 → t.r1 → t.r2"));
        let whole = paths.to("t.r12").join(" → ");
        assert_eq!(paths.line("t.r12"), Some(whole));
        let long = paths.line("t.r15").unwrap_or_default();
        assert!(long.starts_with("t.r0 → … 3 more … → t.r4 → t.r5"), "{long}");
        assert!(long.ends_with("t.r14 → t.r15"), "{long}");
    }
}
