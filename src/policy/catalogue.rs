//! The catalogue of relations: the public ones and those of the planner, under the names that `facts`, `query`, `why -of` and
//! policies share.
//!
//! A bare name means a public relation, if there is one of that name; `core::NAME` always means a relation of the planner.

use entail_rules::catalogue::{ALIKE, RENAMED, VERSION};
use serde_json::{Map, Value as Json, json};

use super::reference::{RelationWords, vocabulary};
use super::rules::{JUDGING, SHAPING};
use crate::diagnostic::Diagnostic;
use crate::reason::catalogue::{self as planner, Entry};

/// The relation that a name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meant {
    /// A public relation, which rules of the vocabulary or of policies conclude.
    Public(&'static str),
    /// A relation of the planner, by its name there.
    Planner(&'static str),
}

/// A relation as the catalogue lists it.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Its name: with `core::` before it where a public relation of another meaning has the bare name.
    pub name: String,
    /// The public relation, if it is one.
    public: Option<&'static RelationWords>,
    /// The relation of the planner, if it is one or has the rows of one.
    entry: Option<&'static Entry>,
}

/// The part of a name that says that the planner's relation is meant.
const OF_PLANNER: &str = "core::";

/// Returns the relation that a name means: its name, a former name, or `core::NAME`.
///
/// # Errors
///
/// If no relation has the name.
pub fn meant(name: &str) -> Result<Meant, Diagnostic> {
    let of_planner = |name: &str| {
        let entry = planner::catalogue().iter().find(|it| it.relation.name == name);
        entry.map(|it| Meant::Planner(it.relation.name))
    };
    let known = || no_such_relation(name);
    if let Some(name) = name.strip_prefix(OF_PLANNER) {
        return of_planner(name).ok_or_else(known);
    }
    let now = RENAMED.iter().find(|it| it.0 == name).map_or(name, |it| it.1);
    let public = vocabulary().iter().map(RelationWords::name).find(|it| *it == now);
    let planner = of_planner(now);
    match public {
        Some(public) if !is_planners(public) || planner.is_none() => Ok(Meant::Public(public)),
        _ => planner.ok_or_else(known),
    }
}

/// Returns whether the planner has the rows of a public relation. Only policies conclude what a policy asks for, so that the
/// planner's relation of that name has more to say.
fn is_planners(public: &str) -> bool {
    ALIKE.contains(&public) || SHAPING.contains(&public)
}

/// Returns every name that means a relation, without former ones.
pub fn names() -> impl Iterator<Item = String> {
    listed_all().into_iter().map(|it| it.name)
}

/// Returns the relations of a name, or all: the public ones first.
///
/// # Errors
///
/// If no relation has the name.
pub fn listed(name: Option<&str>) -> Result<Vec<Listed>, Diagnostic> {
    let mut all = listed_all();
    if let Some(name) = name {
        let (Meant::Public(now) | Meant::Planner(now)) = meant(name)?;
        let of_planner = format!("{OF_PLANNER}{now}");
        let is_meant =
            |it: &Listed| it.name == of_planner || it.name == now && !name.starts_with(OF_PLANNER);
        let bare_alone = all.iter().all(|it| it.name != of_planner);
        all.retain(|it| is_meant(it) || bare_alone && it.name == now);
    }
    Ok(all)
}

fn listed_all() -> Vec<Listed> {
    let entry_of = |name: &str| planner::catalogue().iter().find(|it| it.relation.name == name);
    let public = vocabulary().iter().map(|it| Listed {
        name: it.name().to_owned(),
        public: Some(it),
        entry: Some(it.name()).filter(|it| ALIKE.contains(it)).and_then(entry_of),
    });
    let is_public = |name: &str| vocabulary().iter().any(|it| it.name() == name);
    let others = planner::catalogue().iter().filter(|it| !ALIKE.contains(&it.relation.name));
    let others = others.map(|it| {
        let before = if is_public(it.relation.name) { OF_PLANNER } else { "" };
        Listed { name: format!("{before}{}", it.relation.name), public: None, entry: Some(it) }
    });
    public.chain(others).collect()
}

/// Says that no relation has a name, and suggests one that the reader may mean.
pub(crate) fn no_such_relation(name: &str) -> Diagnostic {
    let near = match name {
        "depends" | "dependencies" | "dependency" | "requires" => Some("depends_on".to_owned()),
        "references" | "refers_to" => Some("reads".to_owned()),
        _ => {
            let distance = |it: &String| strsim::damerau_levenshtein(it, name);
            let near = names().min_by_key(|it| (distance(it), it.clone()));
            near.filter(|it| distance(it) <= 1 + name.len() / 3)
        }
    };
    let hint = match near {
        Some(near) => format!(" Did you mean \"{near}\"?"),
        None => " `facts -catalogue` lists all relations.".to_owned(),
    };
    Diagnostic::error("No such relation")
        .detail(format!("There is no relation called \"{name}\".{hint}"))
}

impl Listed {
    /// Returns the relation as a sentence begins, such as `reads(n, m)`, and what it says.
    fn sentence(&self) -> (String, String) {
        match (self.public, self.entry) {
            (Some(it), _) => (it.usage.clone(), it.says.clone()),
            (None, Some(it)) => it.sentence(),
            (None, None) => Default::default(),
        }
    }

    fn columns(&self) -> Vec<&'static str> {
        match (self.public, self.entry) {
            (Some(it), _) => it.columns.split(", ").filter(|it| !it.is_empty()).collect(),
            (None, entry) => entry.map_or_else(Vec::new, |it| it.relation.columns.to_vec()),
        }
    }

    fn since(&self) -> &'static str {
        let of_planner = || self.entry.map_or("1.0", |it| it.relation.since);
        self.public.map_or_else(of_planner, |it| it.since)
    }

    /// Who writes the rows: a group of facts, a stratum, the vocabulary, or policies.
    fn written_by(&self) -> &'static str {
        let is_head = |it: &RelationWords| {
            JUDGING.iter().any(|head| head.0 == it.name()) || SHAPING.contains(&it.name())
        };
        match (self.entry, self.public) {
            (Some(it), _) => it.relation.group,
            (None, Some(it)) if is_head(it) => "policies",
            _ => "vocabulary",
        }
    }

    fn read_by(&self) -> Vec<&'static str> {
        let policies = self.public.map(|_| "policies");
        let planner = self.entry.map(|it| it.read_by.clone()).unwrap_or_default();
        planner.into_iter().chain(policies).collect()
    }

    fn is_told(&self) -> bool {
        self.entry.is_some_and(|it| it.is_told)
    }
}

/// Returns relations as people read them.
pub fn text(listed: &[Listed]) -> String {
    let mut out = format!("Catalogue of relations, version {VERSION}\n");
    for it in listed {
        let (usage, says) = it.sentence();
        let public = if it.public.is_some() { "public, " } else { "" };
        let how = if it.is_told() { "told by" } else { "concluded by" };
        let former = it.public.and_then(|it| it.former);
        out.push_str(&format!(
            "\n{}({})\n  {usage}: {says}\n  {public}{how} {}, read by {}, since {}{}\n",
            it.name,
            it.columns().join(", "),
            it.written_by(),
            it.read_by().join(", "),
            it.since(),
            former.map_or_else(String::new, |it| format!(", formerly {it}")),
        ));
    }
    out
}

/// Returns relations as other programs read them.
///
/// `words` has every closed vocabulary, in the words that rows hold; a column of any other kind holds a name or a value.
pub fn document(listed: &[Listed]) -> Json {
    let relation = |it: &Listed| {
        let (usage, says) = it.sentence();
        let mut relation = Map::from_iter([
            ("name".to_owned(), json!(it.name)),
            ("columns".to_owned(), json!(it.columns())),
            ("says".to_owned(), json!(says)),
            ("as".to_owned(), json!(usage)),
            ("told".to_owned(), json!(it.is_told())),
            ("written_by".to_owned(), json!(it.written_by())),
            ("read_by".to_owned(), json!(it.read_by())),
            ("since".to_owned(), json!(it.since())),
            ("public".to_owned(), json!(it.public.is_some())),
        ]);
        if let Some(former) = it.public.and_then(|it| it.former) {
            relation.insert("formerly".to_owned(), json!(former));
        }
        Json::Object(relation)
    };
    json!({
        "format_version": "1.0",
        "catalogue_version": VERSION,
        "relations": listed.iter().map(relation).collect::<Vec<_>>(),
        "words": planner::words(),
    })
}

/// Returns the text of `docs/relations.md`: the public relations, then those of the planner with every rule.
pub fn markdown() -> String {
    let whole = crate::explain::relations_markdown();
    let mut public = String::from(
        "## Public relations\n\n\
         `facts`, `query`, `why -of` and policies know these names. They keep their meaning while the number before the point stays.\n\n\
         | Relation | Columns | Says | Since | Formerly |\n|---|---|---|---|---|\n",
    );
    for it in vocabulary() {
        let former = it.former.map_or_else(String::new, |it| format!("`{it}`"));
        public.push_str(&format!(
            "| `{}` | {} | {} | {} | {former} |\n",
            it.usage, it.columns, it.says, it.since
        ));
    }
    let told = "## What the rules are told";
    whole.replacen(told, &format!("{public}\n{told}"), 1)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use entail_rules::catalogue::{ADDED, ALIKE, RENAMED};

    use super::{Meant, listed, meant, names};
    use crate::policy::reference::vocabulary;
    use crate::reason::catalogue::catalogue;

    #[test]
    fn every_name_means_one_relation() {
        let all: Vec<String> = names().collect();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "{all:?}");
        for name in &all {
            assert!(meant(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn lists_of_names_name_relations() {
        let public: BTreeSet<&str> = vocabulary().iter().map(|it| it.name()).collect();
        let planner: BTreeSet<&str> = catalogue().iter().map(|it| it.relation.name).collect();
        for (former, now) in RENAMED {
            assert!(public.contains(now) && !public.contains(former), "{former} is {now}");
            assert_eq!(meant(former).ok(), meant(now).ok(), "{former} means {now}");
        }
        for (added, _) in ADDED {
            assert!(public.contains(added), "{added}");
        }
        for name in ALIKE {
            assert!(public.contains(name) && planner.contains(name), "{name}");
        }
    }

    #[test]
    fn a_bare_name_means_the_public_relation() {
        assert_eq!(meant("reads").ok(), Some(Meant::Public("reads")));
        assert_eq!(meant("core::reads").ok(), Some(Meant::Planner("reads")));
        assert_eq!(meant("excluded").ok(), Some(Meant::Planner("excluded")));
        assert_eq!(meant("to_be_destroyed").ok(), Some(Meant::Planner("to_be_destroyed")));
        assert_eq!(meant("before").ok(), Some(Meant::Planner("before")));
        assert_eq!(meant("rests_on").ok(), Some(Meant::Public("state_depends_on")));
        let named = |name: &str| -> Vec<String> {
            listed(Some(name)).into_iter().flatten().map(|it| it.name).collect()
        };
        assert_eq!(named("reads"), ["reads", "core::reads"]);
        assert_eq!(named("core::reads"), ["core::reads"]);
        assert_eq!(named("core::waits_for"), ["waits_for"]);
        assert_eq!(named("taking_part"), ["selected"]);
    }

    #[test]
    fn an_unknown_name_leads_to_one_that_is_known() {
        let detail = |name: &str| meant(name).err().map(|it| it.detail).unwrap_or_default();
        assert!(
            detail("exclude_").ends_with("Did you mean \"exclude\"?"),
            "{}",
            detail("exclude_")
        );
        assert!(detail("dependency").ends_with("Did you mean \"depends_on\"?"));
        assert!(detail("something_else_entirely").ends_with("lists all relations."));
    }
}
