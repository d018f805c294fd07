//! What answers promise, checked by doing what was asked about.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Output;

use serde_json::Value as Json;

use super::model::{Model, Variable};
use crate::support::dice::Dice;
use crate::support::place::Place;

/// A set of addresses.
pub type Names = BTreeSet<String>;

/// A law that does not hold: what was asked and what came of it.
#[derive(Debug)]
pub struct Broken(pub String);

/// What a plan does.
#[derive(Debug, Default)]
pub struct Done {
    /// Objects by address, with their actions.
    pub objects: BTreeMap<String, String>,
    /// Outputs that change, and what they become where that is known.
    pub outputs: BTreeMap<String, Option<Json>>,
    /// The value that each output has afterwards where it is known: changed or as it was.
    pub values: BTreeMap<String, Json>,
}

/// A configuration that is applied.
pub struct Subject<'m> {
    pub model: &'m Model,
    pub place: Place,
    /// The answer that is falsified, to see whether a law notices.
    pub fault: Option<&'static str>,
}

fn json(text: &str) -> Json {
    serde_json::from_str(text).unwrap_or_else(|it| panic!("{it}: {text}"))
}

fn addresses<'j>(rows: &'j Json) -> impl Iterator<Item = String> + 'j {
    let rows = rows.as_array().into_iter().flatten();
    rows.filter_map(|it| it["address"].as_str().or(it.as_str())).map(str::to_owned)
}

impl<'m> Subject<'m> {
    /// Applies a configuration and takes out of it what is to go.
    pub fn applied(model: &'m Model) -> Result<Subject<'m>, Broken> {
        let place = Place::new("");
        for (name, text) in &model.files {
            place.write(name, text);
        }
        place.add(&model.gone);
        // Keys that are known late are known once what they are made of exists.
        let first: Vec<String> =
            model.seeds.iter().map(|it| format!("-target=terraform_data.{it}")).collect();
        let first: Vec<&str> = first.iter().map(String::as_str).collect();
        let first = [&["apply", "-auto-approve"], &first[..]].concat();
        for command in [&["init"][..], &first, &["apply", "-auto-approve"]] {
            let (text, code) = place.run(command);
            if code != Some(0) {
                return Err(Broken(format!("{command:?}: {text}")));
            }
        }
        place.write("main.tf", &model.main());
        Ok(Subject { model, place, fault: None })
    }

    /// Runs a command that answers.
    fn answering(&self, arguments: &[&str]) -> Output {
        let mut command = self.place.command(arguments);
        if let Some(fault) = self.fault {
            command.env("ENTAIL_WITHOUT", format!("answer:{fault}"));
        }
        command.output().expect("it runs")
    }

    fn ask(&self, arguments: &[&str]) -> Result<String, Broken> {
        let output = self.answering(arguments);
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        let said = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(0) => Ok(told),
            code => Err(Broken(format!("{arguments:?} exits with {code:?}: {told}{said}"))),
        }
    }

    /// Plans with flags. `None` where no such plan can be made.
    pub fn planned(&self, flags: &[&str]) -> Option<Done> {
        let (_, code) = self.place.run(&[&["plan", "-input=false", "-out=p"], flags].concat());
        if code != Some(0) {
            return None;
        }
        let document = json(&self.place.succeed(&["show", "-json", "p"]));
        let mut done = Done::default();
        for change in document["resource_changes"].as_array().into_iter().flatten() {
            let actions = change["change"]["actions"].to_string();
            let address = change["address"].as_str().unwrap_or_default().to_owned();
            done.objects.insert(address, actions);
        }
        let recorded = document["prior_state"]["values"]["outputs"].as_object();
        for (name, it) in recorded.into_iter().flatten() {
            done.values.insert(format!("output.{name}"), it["value"].clone());
        }
        for (name, change) in document["output_changes"].as_object().into_iter().flatten() {
            let name = format!("output.{name}");
            let is_known = change["after_unknown"].as_bool() == Some(false);
            let after = Some(change["after"].clone()).filter(|it| is_known && !it.is_null());
            match &after {
                Some(value) => drop(done.values.insert(name.clone(), value.clone())),
                None => drop(done.values.remove(&name)),
            }
            if change["actions"] != serde_json::json!(["no-op"]) {
                done.outputs.insert(name, after);
            }
        }
        Some(done)
    }

    /// What changes with a variable is what `impact` lists; `-reverse` is its converse.
    pub fn impact_of_variable(&self, variable: &Variable) -> Result<(), Broken> {
        let name = format!("var.{}", variable.name);
        let flag = variable.flag();
        let base = self.planned(&[]).ok_or_else(|| Broken("no plan".to_owned()))?;
        let Some(done) = self.planned(&[&flag]) else { return Ok(()) };
        let listed: Names =
            addresses(&json(&self.ask(&["impact", "-json", &name])?)["impacted"]).collect();
        let is_changed = |it: &(&String, &String)| !it.1.contains("no-op");
        let was = |it: &str| base.objects.get(it).is_some_and(|it| !it.contains("no-op"));
        let objects = done.objects.iter().filter(is_changed).filter(|it| !was(it.0));
        // What is not there before has no address to list yet.
        let objects =
            objects.filter(|it| !it.1.contains("create") || base.objects.contains_key(it.0));
        let changed: Names = objects
            .map(|it| it.0.clone())
            .chain(done.outputs.keys().filter(|it| !base.outputs.contains_key(*it)).cloned())
            .collect();
        let missed: Vec<&String> = changed.difference(&listed).collect();
        if !missed.is_empty() {
            return Err(Broken(format!(
                "impact {name} does not list {missed:?}, which {flag} changes"
            )));
        }
        // Of a map only a part is changed, and keys that stay keep their objects.
        if self.model.is_injective && variable.kind == "string" {
            let is_told =
                |it: &&String| **it != name && !it.contains("instances not yet known") && !was(it);
            // A plan does not say that a data source reads something else.
            let is_told = |it: &&String| is_told(it) && !it.contains("data.");
            let surplus: Vec<&String> = listed.difference(&changed).filter(is_told).collect();
            if !surplus.is_empty() {
                return Err(Broken(format!(
                    "impact {name} lists {surplus:?}, which {flag} does not change"
                )));
            }
        }
        for address in changed.iter().filter(|it| base.objects.contains_key(*it)) {
            let behind: Names =
                addresses(&json(&self.ask(&["impact", "-json", "-reverse", address])?)["impacted"])
                    .collect();
            if !behind.contains(&name) {
                return Err(Broken(format!("impact -reverse {address} does not list {name}")));
            }
        }
        Ok(())
    }

    /// Random flags of a plan.
    pub fn flags(&self, dice: &mut Dice) -> Vec<String> {
        let base = self.planned(&[]).unwrap_or_default();
        let all: Vec<String> = base.objects.keys().cloned().collect();
        let mut flags = Vec::new();
        let word = *dice.pick(&["-exclude", "-exclude", "-target", ""]);
        for _ in 0..=dice.below(2) {
            if word.is_empty() || all.is_empty() {
                break;
            }
            let address = dice.pick(&all).clone();
            let address = match dice.below(4) {
                0 => address.trim_end_matches(|it| it != '[').trim_end_matches('[').to_owned(),
                1 if address.starts_with("module.") => {
                    let end = address.find(".terraform").unwrap_or(address.len());
                    address[..end].to_owned()
                }
                _ => address,
            };
            if !address.is_empty() {
                flags.push(format!("{word}={address}"));
            }
        }
        match dice.below(6) {
            0 => flags.push("-refresh-only".to_owned()),
            1 => flags.push("-destroy".to_owned()),
            _ => {
                let variable = dice.pick(&self.model.variables);
                flags.push(variable.flag());
            }
        }
        flags
    }

    /// What `whatif` foresees is what the plan does; values that are asked for are those of the plan.
    pub fn flags_foreseen(&self, flags: &[String]) -> Result<(), Broken> {
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let foreseen = self.ask(&[&["whatif", "-json"], &flags[..]].concat());
        let Some(done) = self.planned(&flags) else {
            return Ok(());
        };
        let foreseen = json(&foreseen?);
        let of = |name: &str| addresses(&foreseen[name]).collect::<Names>();
        let out: Names = of("excluded").into_iter().chain(of("untargeted")).collect();
        for address in &out {
            if let Some(action) = done.objects.get(address).filter(|it| !it.contains("no-op")) {
                return Err(Broken(format!(
                    "whatif {flags:?} leaves out {address}, the plan: {action}"
                )));
            }
        }
        let taken: Names = of("selected").into_iter().chain(of("undecided")).collect();
        for (address, action) in done.objects.iter().filter(|it| !it.1.contains("no-op")) {
            let is_new = action.contains("create") && !out.contains(address);
            if !taken.contains(address) && !is_new {
                return Err(Broken(format!(
                    "whatif {flags:?} does not select {address}, the plan: {action}"
                )));
            }
        }
        let (kept, open) = (of("values_left_out"), of("undecided_values"));
        for name in done.outputs.keys() {
            if kept.contains(name) && !open.contains(name) {
                return Err(Broken(format!(
                    "whatif {flags:?} keeps {name}, which the plan changes"
                )));
            }
        }
        // With what the plan reads the same, what is not kept is what is evaluated anew.
        let asked =
            self.ask(&[&["query", "-json"], &flags[..], &["output(o), o.value == v"]].concat())?;
        let mut values: BTreeMap<String, Json> = BTreeMap::new();
        for row in json(&asked)["rows"].as_array().into_iter().flatten() {
            if let (Some(name), value) = (row[0].as_str(), &row[1])
                && name.starts_with("output.")
                && value != "(known after apply)"
            {
                values.insert(name.to_owned(), value.clone());
            }
        }
        if !flags.contains(&"-destroy") {
            for (name, value) in &done.values {
                if values.get(name) != Some(value) {
                    return Err(Broken(format!(
                        "query {flags:?}: {name} is {:?}, in the plan {value}",
                        values.get(name)
                    )));
                }
            }
        }
        match values.keys().find(|it| !done.values.contains_key(*it)) {
            Some(name) => {
                Err(Broken(format!("query {flags:?}: {name} has a value, and none in the plan")))
            }
            None => Ok(()),
        }
    }

    /// Each value that `why` shows of an output is the one that it has.
    pub fn why_tells_values(&self, flags: &[String]) -> Result<(), Broken> {
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let Some(done) = self.planned(&flags) else { return Ok(()) };
        if flags.contains(&"-destroy") {
            return Ok(());
        }
        for (name, value) in &done.values {
            let told = self.ask(&[&["why", name], &flags[..]].concat())?;
            let Some(value) = value.as_str() else { continue };
            let said = told.lines().filter_map(|it| {
                let (_, rest) = it.split_once(&format!("because {name} "))?;
                rest.strip_prefix("is ").or_else(|| rest.strip_prefix("keeps "))
            });
            for said in said.filter(|it| it.starts_with('"') && !it.contains('…')) {
                let said = said.split_once("\"  ").map_or(said, |it| it.0).trim().trim_matches('"');
                if said != value {
                    return Err(Broken(format!(
                        "why {name} {flags:?} says {said:?}, the plan {value:?}"
                    )));
                }
            }
        }
        Ok(())
    }

    /// A policy about the value of an output denies a plan in which it has that value, and no other.
    pub fn policy_sees_values(&self, flags: &[String], dice: &mut Dice) -> Result<(), Broken> {
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let (Some(done), Some(full)) = (self.planned(&flags), self.planned(&[])) else {
            return Ok(());
        };
        let texts: Vec<(&String, &str)> =
            done.values.iter().filter_map(|it| Some((it.0, it.1.as_str()?))).collect();
        if texts.is_empty() {
            return Ok(());
        }
        let (name, value) = *dice.pick(&texts);
        let other = full.values.get(name).and_then(Json::as_str).filter(|it| *it != value);
        let is_there = |value: &str| done.values.values().any(|it| it.as_str() == Some(value));
        for (value, is_denied) in [
            (Some(value), true),
            (other.filter(|it| !is_there(it)), false),
            (Some("no/such"), false),
        ] {
            let Some(value) = value.filter(|it| !it.contains('"')) else { continue };
            self.place.write(
                "judged/policies.rules",
                &format!(
                    "// @rule judged: `o` has the value\ndeny(o, \"{{o}} has it\") <-- output(o), o.value == \"{value}\";\n"
                ),
            );
            let arguments = [&["plan", "-input=false", "-policy=judged"], &flags[..]].concat();
            let output = self.answering(&arguments);
            let code = output.status.code();
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let text = text + &String::from_utf8_lossy(&output.stderr);
            if (code != Some(0)) != is_denied || is_denied && !text.contains("has it") {
                return Err(Broken(format!(
                    "a policy on {value:?} with {flags:?} ends with {code:?}, {name} in the plan is {:?}: {text}",
                    done.values.get(name)
                )));
            }
        }
        Ok(())
    }

    /// The differences of two plans, told the other way round, are those of the other and the one.
    pub fn diff_is_symmetric(&self, flags: &[String]) -> Result<(), Broken> {
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        for (name, flags) in [("-out=one", &[][..]), ("-out=two", &flags[..])] {
            if self.place.run(&[&["plan", "-input=false", name], flags].concat()).1 != Some(0) {
                return Ok(());
            }
        }
        let differences = |first: &str, second: &str| {
            let output = self.answering(&["diff", "-json", first, second]);
            let told = json(&String::from_utf8_lossy(&output.stdout));
            told["differences"].as_array().cloned().unwrap_or_default()
        };
        let turned = |row: &Json| {
            let mut row = row.clone();
            let turn = |it: &mut Json| {
                let before = it["before"].take();
                it["before"] = it["after"].take();
                it["after"] = before;
            };
            turn(&mut row);
            row["attributes"].as_array_mut().into_iter().flatten().for_each(turn);
            row["kind"] = match row["kind"].as_str() {
                Some("appears") => "disappears".into(),
                Some("disappears") => "appears".into(),
                other => other.into(),
            };
            row
        };
        let there = differences("one", "two");
        let back: Vec<Json> = differences("two", "one").iter().map(turned).collect();
        if there != back {
            return Err(Broken(format!("diff with {flags:?}: {there:?}, turned round {back:?}")));
        }
        Ok(())
    }

    /// What `unused` lists, and nothing else that was declared for that, can be removed and changes nothing.
    pub fn unused_is_unused(&self) -> Result<(), Broken> {
        let listed = json(&self.ask(&["unused", "-json"])?);
        let listed = listed["unused"].as_array().into_iter().flatten();
        let listed: Names =
            listed.filter_map(|it| it["name"].as_str()).map(str::to_owned).collect();
        let base = self.planned(&[]).unwrap_or_default();
        let mut text = self.model.main();
        for (address, line) in &self.model.unused {
            if !listed.contains(address) {
                return Err(Broken(format!("unused does not list {address}: {listed:?}")));
            }
            text = text.replace(line, "");
        }
        for address in listed.iter().filter_map(|it| it.strip_prefix("local.t")) {
            let start = text.find(&format!("locals {{\n  t{address} ="));
            let Some(start) = start else { continue };
            let end = text[start..].find("\n}\n").map_or(text.len(), |it| start + it + 3);
            text.replace_range(start..end, "");
        }
        self.place.write("main.tf", &text);
        let without = self.planned(&[]);
        self.place.write("main.tf", &self.model.main());
        match without {
            Some(it) if it.objects == base.objects && it.values == base.values => Ok(()),
            other => Err(Broken(format!(
                "without {listed:?} the plan is {:?}, not {:?}",
                other.map(|it| it.objects),
                base.objects
            ))),
        }
    }

    /// The flags that `minimal` finds do what was asked, and no fewer do.
    pub fn minimal_is_minimal(&self, dice: &mut Dice) -> Result<(), Broken> {
        let flag = "-var=s=two";
        let Some(all) = self.planned(&[flag]) else { return Ok(()) };
        let candidates: Vec<&String> =
            all.objects.iter().filter(|it| !it.1.contains("no-op")).map(|it| it.0).collect();
        if candidates.is_empty() {
            return Ok(());
        }
        let mut wanted: Names =
            (0..=dice.below(2)).map(|_| (*dice.pick(&candidates)).clone()).collect();
        if self.model.gone.contains("gone2") && dice.one_in(2) {
            wanted.extend(["terraform_data.gone".to_owned(), "terraform_data.gone2".to_owned()]);
        }
        for word in ["-keep", "-change"] {
            let asked: Vec<String> = wanted.iter().map(|it| format!("{word}={it}")).collect();
            let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
            let told = json(&self.ask(&[&["minimal", "-json", flag], &asked[..]].concat())?);
            let found: Vec<String> = addresses(&told["flags"]).collect();
            let found: Vec<&str> = found.iter().map(String::as_str).collect();
            let does = |flags: &[&str]| {
                let done = self.planned(&[&[flag], flags].concat())?;
                let is_done =
                    |it: &String| done.objects.get(it).is_some_and(|it| !it.contains("no-op"));
                Some(match word {
                    "-keep" => !wanted.iter().any(is_done),
                    _ => wanted.iter().all(is_done),
                })
            };
            if does(&found) != Some(true) {
                return Err(Broken(format!("minimal {asked:?}: {found:?} does not do it")));
            }
            for left_out in 0..found.len() {
                let mut fewer = found.clone();
                fewer.remove(left_out);
                if (word == "-keep" || !fewer.is_empty()) && does(&fewer) == Some(true) {
                    return Err(Broken(format!(
                        "minimal {asked:?}: {fewer:?} does as well as {found:?}"
                    )));
                }
            }
        }
        Ok(())
    }
}
