//! Everything that can be wrong with rules, one function each.

use crate::diagnostic::{Diagnostic, Sort, Span};
use crate::world::PROGRAM;

/// The text is not a rule or a declaration.
pub(super) fn syntax(expected: &str, found: &str, hint: &str, at: Span) -> Diagnostic {
    let detail = format!("Expected {expected}, found {found}. {hint}");
    Diagnostic::error("Invalid rule").detail(detail.trim_end()).at(at)
}

/// A rule does not end before the next one begins.
pub(super) fn no_semicolon(at: Span) -> Diagnostic {
    Diagnostic::error("Invalid rule").detail("A rule ends with `;`, which is missing here.").at(at)
}

/// A query names a relation that several groups of files have, each its own.
pub(super) fn of_several_groups(name: &str, all: &[&str], at: Span) -> Diagnostic {
    let groups = all.iter().filter_map(|it| Some(it.split_once('@')?.1));
    Diagnostic::error("Relation of several policies")
        .detail(format!(
            "Each of these has its own `{name}`: {}. Ask with only one of them in force: -no-policies leaves all out, -policy names one.",
            groups.collect::<Vec<_>>().join(", ")
        ))
        .at(at)
}

/// A group of files has a relation whose name is public now.
pub(super) fn public_name(name: &str, since: &str, at: Span) -> Diagnostic {
    Diagnostic::warning("Name of a public relation")
        .detail(format!(
            "`{name}` is a public relation since version {since} of the catalogue. These policies keep their own relation of that name, and cannot use the public one. Rename it to use both."
        ))
        .at(at)
        .sort(Sort::PublicName)
}

/// A rule names a relation that nothing declares.
pub(super) fn unknown_relation(name: &str, nearest: Option<&str>, at: Span) -> Diagnostic {
    let hint = nearest.map_or(String::new(), |it| format!(" Did you mean `{it}`?"));
    let known = match nearest {
        Some(_) => String::new(),
        None => {
            format!(
                " `{PROGRAM} policy docs` lists those that there are; one of your own is there once a rule concludes it."
            )
        }
    };
    Diagnostic::error("Unknown relation")
        .detail(format!("There is no relation `{name}`.{hint}{known}"))
        .at(at)
        .sort(Sort::UnknownRelation)
}

/// A declaration names a kind of column that there is not.
pub(super) fn unknown_kind(relation: &str, kind: &str, at: Span) -> Diagnostic {
    Diagnostic::error("Unknown kind of column")
        .detail(format!(
            "`{relation}` has a column of kind `{kind}`, and there is no such kind. A column holds `Text`, `Number`, or one of the kinds of the catalogue, such as `Node`."
        ))
        .at(at)
}

/// A rule concludes a relation whose rows come from elsewhere.
pub(super) fn given_relation(name: &str, at: Span) -> Diagnostic {
    Diagnostic::error("Relation of the program")
        .detail(format!(
            "What `{name}` holds is told by the program, so that no other rule can conclude it. Conclude a relation of your own, with another name."
        ))
        .at(at)
}

/// Something that is no number is compared by size, or computed with.
pub(super) fn not_a_number(what: &str, kind: &str, at: Span) -> Diagnostic {
    Diagnostic::error("Not a number")
        .detail(format!(
            "`{what}` is of kind {kind}, which has no order and cannot be computed with. Compare it with `==` or `!=`."
        ))
        .at(at)
}

/// Two declarations of one relation differ.
pub(super) fn declared_differently(
    name: &str,
    first: &[String],
    again: &[String],
    at: Span,
) -> Diagnostic {
    Diagnostic::error("Relation declared twice")
        .detail(format!(
            "`{name}` is already declared as {name}({}), here as {name}({}).",
            first.join(", "),
            again.join(", ")
        ))
        .at(at)
}

/// Two rules have one name.
pub(super) fn duplicate_rule(name: &str, at: Span) -> Diagnostic {
    Diagnostic::error("Duplicate rule name")
        .detail(format!("Another rule is already called `{name}`. A proof names its rules: give this one a name of its own."))
        .at(at)
        .sort(Sort::DuplicateRule)
}

/// A relation is used with another number of columns than it has.
///
/// - `columns`: the kinds of its columns, and what is said of it.
pub(super) fn arity(
    name: &str,
    (columns, says): (&[String], Option<&str>),
    found: usize,
    at: Span,
) -> Diagnostic {
    let count = |it: usize| if it == 1 { "1 column".to_owned() } else { format!("{it} columns") };
    let are = if found == 1 { "is" } else { "are" };
    let kinds = match columns {
        [] => String::new(),
        columns => format!(" ({})", columns.join(", ")),
    };
    let says = says.map_or(String::new(), |it| format!(" {}", it.trim()));
    Diagnostic::error("Wrong number of columns")
        .detail(format!(
            "`{name}` has {}{kinds}, and here {are} {found}; `_` stands for any.{says}",
            count(columns.len())
        ))
        .at(at)
}

/// A variable is used where nothing gives it a value.
pub(super) fn unbound(variable: &str, place: &str, at: Span) -> Diagnostic {
    let way_out = match variable {
        "var" | "local" | "module" | "data" | "each" | "count" | "path" | "terraform" | "self" => {
            "A rule sees its own variables alone, nothing of a configuration by name: `variable(v), address(v, \"var.region\"), v.value == r` gives `r` the value of one."
        }
        _ => "Use it in a premise that is not negated, which gives it one.",
    };
    Diagnostic::error("Unbound variable")
        .detail(format!(
            "Nothing gives `{variable}` a value before it is used in {place}. {way_out}"
        ))
        .at(at)
}

/// A variable is used only once.
pub(super) fn singleton(variable: &str, at: Span) -> Diagnostic {
    Diagnostic::warning("Variable used once")
        .detail(format!(
            "`{variable}` stands only here and so matches anything. Write `_` if that is meant."
        ))
        .at(at)
}

/// A variable or constant stands in columns of different kinds.
pub(super) fn kinds_differ(what: &str, one: &str, other: &str, at: Span) -> Diagnostic {
    Diagnostic::error("Kinds do not match")
        .detail(format!(
            "`{what}` is of kind {one}, and this column of kind {other}; they never are equal.{}",
            of_kind(other)
        ))
        .at(at)
}

/// Two things of different kinds are compared.
pub(super) fn never_equal(what: &str, one: &str, other: &str, at: Span) -> Diagnostic {
    Diagnostic::error("Kinds do not match")
        .detail(format!(
            "`{what}` is of kind {one}, and this of kind {other}; they never are equal."
        ))
        .at(at)
}

/// `Kind::Word` does not exist.
pub(super) fn unknown_constant(kind: &str, word: &str, all: &[&str], at: Span) -> Diagnostic {
    let known = match all {
        [] => format!("There is no kind `{kind}` with constants."),
        all => format!(
            "There are {}.",
            all.iter().map(|it| format!("`{kind}::{it}`")).collect::<Vec<_>>().join(", ")
        ),
    };
    Diagnostic::error("Unknown constant")
        .detail(format!("There is no constant `{kind}::{word}`. {known}"))
        .at(at)
}

/// A column of a body is compared with a computation.
pub(super) fn computed_column(at: Span) -> Diagnostic {
    Diagnostic::error("Computation in a column")
        .detail("A column in a body holds a variable, a constant or `_`. Compute with `let` before, or compare with `if` after.")
        .at(at)
}

/// A relation depends on its own absence.
pub(super) fn unstratifiable(relations: &[&str], at: Span) -> Diagnostic {
    Diagnostic::error("Negation in a circle")
        .detail(format!(
            "Whether `{}` holds would depend on its not holding: {}. Negate only relations that are concluded before.",
            relations[0],
            relations.join(" <-- ")
        ))
        .at(at)
}

/// A function in a rule that does not always give the same.
pub(super) fn impure(name: &str, at: Span) -> Diagnostic {
    Diagnostic::error("Function not available in rules")
        .detail(format!(
            "`{name}` reads files or the clock, or gives something else each time. What a rule concludes rests on its premises alone."
        ))
        .at(at)
}

/// A rule that computes a value from what rests on the value.
pub(super) fn computed_recursion(relations: &[&str], at: Span) -> Diagnostic {
    Diagnostic::error("Computation in a circle")
        .detail(format!(
            "The rule computes a value for `{}`, which rests on itself: {}. That need not end. Conclude the circle without the computed value, and compute in a rule that reads it.",
            relations[0],
            relations.join(" <-- ")
        ))
        .at(at)
}

/// A reference into something that has no parts.
pub(super) fn not_looked_into(name: &str, kind: &str, at: Span) -> Diagnostic {
    Diagnostic::error("Nothing to look into")
        .detail(format!(
            "`{name}` is of kind {kind}, which has no attributes. A reference begins with a node or a value."
        ))
        .at(at)
}

/// A condition that is neither true nor false.
pub(super) fn no_truth(at: Span) -> Diagnostic {
    Diagnostic::error("Invalid condition")
        .detail("The condition is null, or no bool: it must be true or false.")
        .at(at)
}

/// How something of a kind is written, where that is not how it seems.
fn of_kind(kind: &str) -> String {
    if kind == super::kinds::NODE {
        return " A node is a variable that a relation gives its value, such as `n` in `resource(n, _)`.".to_owned();
    }
    let vocabulary = entail_rules::atom::vocabularies().find(|it| it.kind == kind);
    vocabulary.map_or(String::new(), |it| {
        let words: Vec<String> = it.words.iter().map(|it| format!("`{kind}::{}`", it.0)).collect();
        format!(" Write one of {}.", words.join(", "))
    })
}
