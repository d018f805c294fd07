//! Further laws: policies, differences of plans, what nothing reads, and the fewest flags.

use serde_json::Value as Json;

use super::laws::{Broken, Names, Subject, addresses, json};
use crate::support::dice::Dice;

impl Subject<'_> {
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
        let names = |it: &Json| it["name"].as_str().map(str::to_owned);
        let alone = listed.clone().filter(|it| it["read_by"].as_array().is_none_or(Vec::is_empty));
        // What something unused reads goes only together with that.
        let alone: Names = alone.filter_map(names).collect();
        let listed: Names = listed.filter_map(names).collect();
        let base = self.planned(&[]).unwrap_or_default();
        let mut text = self.model.main();
        for (address, line) in &self.model.unused {
            if !listed.contains(address) {
                return Err(Broken(format!("unused does not list {address}: {listed:?}")));
            }
            text = text.replace(line, "");
        }
        for address in alone.iter().filter_map(|it| it.strip_prefix("local.t")) {
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
