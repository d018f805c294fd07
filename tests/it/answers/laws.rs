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

pub fn json(text: &str) -> Json {
    serde_json::from_str(text).unwrap_or_else(|it| panic!("{it}: {text}"))
}

/// Whether an address is that of a data source. `terraform_data` is none.
fn is_data(address: &str) -> bool {
    address.split('.').any(|it| it == "data")
}

pub fn addresses<'j>(rows: &'j Json) -> impl Iterator<Item = String> + 'j {
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
    pub fn answering(&self, arguments: &[&str]) -> Output {
        let mut command = self.place.command(arguments);
        if let Some(fault) = self.fault {
            command.env("ENTAIL_WITHOUT", format!("answer:{fault}"));
        }
        command.output().expect("it runs")
    }

    pub fn ask(&self, arguments: &[&str]) -> Result<String, Broken> {
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
            let is_told = |it: &&String| is_told(it) && !is_data(it);
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

    /// What changes when an object is replaced, `impact` lists.
    pub fn impact_of_object(&self, dice: &mut Dice) -> Result<(), Broken> {
        let base = self.planned(&[]).ok_or_else(|| Broken("no plan".to_owned()))?;
        let stays = |it: &&String| base.objects[*it].contains("no-op") && !is_data(it);
        let all: Vec<&String> = base.objects.keys().filter(stays).collect();
        if all.is_empty() {
            return Ok(());
        }
        let address = (*dice.pick(&all)).clone();
        let flag = format!("-replace={address}");
        let Some(done) = self.planned(&[&flag]) else { return Ok(()) };
        let mut listed: Names =
            addresses(&json(&self.ask(&["impact", "-json", &address])?)["impacted"]).collect();
        listed.insert(address.clone());
        let changes = |it: &(&String, &String)| {
            !it.1.contains("no-op") && base.objects.get(it.0).is_some_and(|it| it.contains("no-op"))
        };
        let objects = done.objects.iter().filter(changes).map(|it| it.0);
        let outputs = done.outputs.keys().filter(|it| !base.outputs.contains_key(*it));
        let missed: Vec<&String> =
            objects.chain(outputs).filter(|it| !listed.contains(*it)).collect();
        match missed.is_empty() {
            true => Ok(()),
            false => Err(Broken(format!(
                "impact {address} does not list {missed:?}, which {flag} changes"
            ))),
        }
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
            for said in values_told(&told, name) {
                if said != *value {
                    return Err(Broken(format!(
                        "why {name} {flags:?} says {said:?}, the plan {value:?}"
                    )));
                }
            }
        }
        Ok(())
    }
}

/// The whole texts that an answer gives for an output: `X is "v"`, `X is unchanged: "v"`, `X keeps "v"`, `X changes: "u" → "v"`.
fn values_told(told: &str, name: &str) -> Vec<String> {
    let said = told.lines().filter_map(|line| {
        let (_, rest) = line.split_once(&format!("{name} "))?;
        let rest = match rest.split_once(" → ") {
            Some((old, new)) if old.starts_with("changes: ") => new,
            _ => ["is unchanged: ", "is ", "keeps "].iter().find_map(|it| rest.strip_prefix(it))?,
        };
        serde_json::Deserializer::from_str(rest).into_iter::<String>().next()?.ok()
    });
    said.filter(|it| !it.contains('…')).collect()
}
