//! Names of relations: those of a group, former names, and names that became shared later.

use super::Program;

/// Names of relations that changed between versions of what a program offers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Renames {
    /// Former names, each with the name now. Both mean the same relation.
    pub former: &'static [(&'static str, &'static str)],
    /// Relations that are new, each with the version that brought it. A group that concludes such a relation itself keeps its own.
    pub added: &'static [(&'static str, &'static str)],
}

impl Program {
    /// Returns the number of the relation that a file of a group means: its own, or one that all share.
    pub(in crate::datalog) fn relation_in(&self, group: &str, name: &str) -> Option<usize> {
        let own = (!group.is_empty()).then(|| self.relation(&own_name(group, name))).flatten();
        own.or_else(|| self.relation(name))
    }

    /// Returns the number of the relation of so many columns, where one of another number was found under the name.
    pub(in crate::datalog) fn of_arity(&self, found: usize, name: &str, columns: usize) -> usize {
        let fits = self.relations[found].columns.len() == columns;
        let other = (!fits).then(|| self.relation(&format!("{name}/{columns}"))).flatten();
        other.unwrap_or(found)
    }

    /// Returns what a relation is called where it is written.
    pub fn shown_name(&self, relation: usize) -> &str {
        let name = &self.relations[relation].name;
        name.split_once(['@', '/']).map_or(name, |it| it.0)
    }

    /// Returns the number of a relation, by its name or a former name.
    pub fn relation(&self, name: &str) -> Option<usize> {
        let renamed = || {
            let (_, now) = self.names.former.iter().find(|it| it.0 == name)?;
            self.by_name.get(*now)
        };
        self.by_name.get(name).or_else(renamed).copied()
    }

    /// Returns the version that brought a shared relation, if it is newer than the first one.
    pub(in crate::datalog) fn added_in(&self, name: &str) -> Option<&'static str> {
        self.names.added.iter().find(|it| it.0 == name).map(|it| it.1)
    }

    /// Returns the name to suggest for one that no relation of a group has.
    pub(in crate::datalog) fn nearest<'n>(
        &'n self,
        name: &str,
        known: impl Iterator<Item = &'n str>,
    ) -> Option<&'n str> {
        let of_planner = format!("core::{name}");
        if let Some(relation) = self.relation(&of_planner) {
            return Some(&self.relations[relation].name);
        }
        let near = known.filter(|it| strsim::damerau_levenshtein(it, name) <= 2);
        near.min_by_key(|it| strsim::damerau_levenshtein(it, name))
    }
}

/// Returns the name that a group's own relation has among those of other groups.
pub(in crate::datalog) fn own_name(group: &str, name: &str) -> String {
    match group {
        "" => name.to_owned(),
        _ => format!("{name}@{group}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Program, Source};
    use super::Renames;
    use crate::datalog::parse::Dialect;

    const NAMES: Renames = Renames { former: &[("old", "new")], added: &[("new", "2.0")] };

    /// Reads what all share and the rules of one group, and returns what is wrong with them.
    fn read(own: &str) -> (Program, Vec<String>) {
        let shared = "relation base(Node);\nrelation new(Node);\nrelation first(Node);\n\
                      new(n) <-- base(n);\nfirst(n) <-- base(n);\n";
        let source = |name, text, group| Source {
            name,
            text,
            group,
            dialect: Dialect::Policies,
            ..Source::default()
        };
        let sources = [source("shared", shared, ""), source("own", own, "g")];
        let (program, problems) = Program::read_over([], NAMES, &sources);
        (program, problems.iter().map(|it| it.summary.clone()).collect())
    }

    #[test]
    fn a_former_name_means_the_relation_of_the_name_now() {
        let (program, problems) = read("mine(n) <-- old(n);\n");
        assert_eq!((program.relation("old"), problems.len()), (program.relation("new"), 0));
        assert_eq!(program.relation_in("g", "old"), program.relation("new"));
    }

    #[test]
    fn a_group_keeps_its_own_relation_of_a_name_that_became_shared() {
        for own in ["new(n) <-- base(n);\n", "relation new(Node);\nnew(n) <-- old(n);\n"] {
            let (program, problems) = read(own);
            assert_eq!(problems, ["Name of a public relation"], "{own}");
            let meant = program.relation_in("g", "new");
            assert_eq!(meant.map(|it| program.relations[it].name.as_str()), Some("new@g"), "{own}");
            assert_ne!(program.relation_in("other", "new"), meant, "{own}");
        }
    }

    #[test]
    fn a_name_that_was_always_shared_cannot_be_concluded() {
        let (_, problems) = read("first(n) <-- new(n);\n");
        assert_eq!(problems, ["Relation of the program"]);
    }
}
