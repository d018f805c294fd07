//! The words that flags take, where there are only a few: for help that is due, and for shells that complete.

/// A flag, and the words that it takes. Where two commands differ, the command's name says which is meant.
const WORDS: &[(&str, &str, &[&str])] = &[
    (
        "",
        "not",
        &[
            "create",
            "update",
            "replace",
            "delete",
            "forget",
            "read",
            "no-op",
            "select",
            "exclude",
            "recalculate",
        ],
    ),
    ("", "recover", &["take", "aside"]),
    ("", "compat", &["opentofu"]),
    ("", "deprecation", &["module:all", "module:local", "module:none"]),
    (
        "",
        "lint",
        &[
            "all",
            "core:all",
            "core:confusing",
            "core:mistake",
            "core:noconverge",
            "core:unuseddeps",
            "core:quotedref",
            "core:ineffeq",
            "core:impurefunc",
        ],
    ),
    ("init", "lockfile", &["readonly"]),
    ("graph", "type", &["plan", "plan-refresh-only", "plan-destroy", "apply"]),
];

/// Returns the words that a flag of a command takes; none where it takes anything.
pub fn words(command: &str, flag: &str) -> &'static [&'static str] {
    let found =
        WORDS.iter().find(|(of, name, _)| *name == flag && (of.is_empty() || *of == command));
    found.map_or(&[], |it| it.2)
}
