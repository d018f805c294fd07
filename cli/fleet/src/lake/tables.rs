//! The tables of a lake: one for each public relation, one of attribute values, one of the stacks themselves.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// The name of a stack.
    Stack,
    /// The address of a node within its stack.
    Node,
    /// Text.
    Text,
    /// A value as JSON; null where it must not be kept.
    Json,
    /// A whole number.
    Number,
    /// Yes or no.
    Flag,
}

/// A table.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// What it is called; the folder of its files, too.
    pub name: &'static str,
    /// The relation of rules that has its rows; nothing where no rule reads them as they are.
    pub relation: Option<&'static str>,
    /// Its columns. The first is the stack, but for relations between stacks, whose first column is one of two.
    pub columns: &'static [(&'static str, Column)],
    /// The columns by which rows are sorted, so that a reader may pass over most of a file.
    pub order: &'static [usize],
}

use Column::{Flag, Json, Node, Number, Stack, Text};

/// The tables whose nodes are those of all stacks.
pub const OF_NODES: &[&str] =
    &["resource", "data_source", "output", "module_instance", "variable", "local_value", "planned"];

/// Every table.
pub const TABLES: &[Table] = &[
    of("resource", &[STACK, NODE, ("type", Text)], &[2, 0, 1]),
    of("data_source", &[STACK, NODE, ("type", Text)], &[2, 0, 1]),
    of("existing", &[STACK, NODE, ("type", Text)], &[2, 0, 1]),
    of("output", &[STACK, NODE], &[0, 1]),
    of("variable", &[STACK, NODE], &[0, 1]),
    of("module_instance", &[STACK, NODE], &[0, 1]),
    of("name", &[STACK, NODE, ("name", Text)], &[0, 1]),
    of("key", &[STACK, NODE, ("key", Json)], &[0, 1]),
    of("module_of", &[STACK, NODE, ("module", Node)], &[0, 1]),
    of("within", &[STACK, NODE, ("module", Node)], &[0, 1, 2]),
    of("declared_at", &[STACK, NODE, ("file", Text), ("line", Number)], &[0, 1]),
    of("provider_of", &[STACK, NODE, ("provider", Text)], &[0, 1]),
    of("provider_version", &[STACK, NODE, ("version", Text)], &[0, 1]),
    of("module_call", &[STACK, NODE, ("call", Text), ("source", Text)], &[0, 1]),
    of("module_version", &[STACK, NODE, ("call", Text), ("version", Text)], &[0, 1]),
    of("reads", &[STACK, NODE, ("other", Node)], &[0, 1, 2]),
    of("reads_at", &[STACK, NODE, ("argument", Text), ("other", Node)], &[0, 1, 2]),
    of("depends_on", &[STACK, NODE, ("other", Node)], &[0, 1, 2]),
    Table {
        name: "rests_on",
        relation: Some("state_depends_on"),
        columns: &[STACK, NODE, ("other", Node)],
        order: &[0, 1, 2],
    },
    of("planned", &[STACK, NODE, ("type", Text)], &[2, 0, 1]),
    of("created", &[STACK, NODE], &[0, 1]),
    of("updated", &[STACK, NODE], &[0, 1]),
    of("replaced", &[STACK, NODE], &[0, 1]),
    of("destroyed", &[STACK, NODE], &[0, 1]),
    of("forgotten", &[STACK, NODE], &[0, 1]),
    of("unchanged", &[STACK, NODE], &[0, 1]),
    of("imported", &[STACK, NODE], &[0, 1]),
    of("moved", &[STACK, NODE], &[0, 1]),
    of("drifted", &[STACK, NODE], &[0, 1]),
    Table {
        name: "taking_part",
        relation: Some("selected"),
        columns: &[STACK, NODE],
        order: &[0, 1],
    },
    of("left_out", &[STACK, NODE], &[0, 1]),
    of("changes", &[STACK, NODE, ("path", Text)], &[0, 1, 2]),
    of("forces_replacement", &[STACK, NODE, ("path", Text)], &[0, 1, 2]),
    of("label", &[STACK, ("key", Text), ("value", Text)], &[0, 1]),
    of("reads_stack", &[STACK, ("other_stack", Stack)], &[0, 1]),
    of("calls_module", &[STACK, ("source", Text), ("version", Text)], &[0, 1]),
    Table {
        name: "stack_provider_version",
        relation: Some("provider_version/3"),
        columns: &[STACK, ("provider", Text), ("version", Text)],
        order: &[0, 1],
    },
    of("uses", &[STACK, NODE, ("other_stack", Stack), ("other", Node)], &[0, 1, 2, 3]),
    Table {
        name: "used_by",
        relation: None,
        columns: &[STACK, NODE, ("other_stack", Stack), ("other", Node)],
        order: &[0, 1, 2, 3],
    },
    Table {
        name: "attribute",
        relation: None,
        columns: &[
            STACK,
            NODE,
            ("type", Text),
            ("attribute", Text),
            ("value", Json),
            ("sensitive", Flag),
        ],
        order: &[2, 3, 0, 1],
    },
    Table {
        name: "stack",
        relation: None,
        columns: &[STACK, ("lineage", Text), ("serial", Number), ("objects", Number)],
        order: &[0],
    },
    of("local_value", &[STACK, NODE], &[0, 1]),
    of("excluded", &[STACK, NODE], &[0, 1]),
    of("untargeted", &[STACK, NODE], &[0, 1]),
];

const STACK: (&str, Column) = ("stack", Stack);
const NODE: (&str, Column) = ("node", Node);

const fn of(
    name: &'static str,
    columns: &'static [(&'static str, Column)],
    order: &'static [usize],
) -> Table {
    Table { name, relation: Some(name), columns, order }
}

/// Returns the table that has the rows of a relation.
pub fn table_of(relation: &str) -> Option<&'static Table> {
    TABLES.iter().find(|it| it.relation == Some(relation))
}

/// Returns the table of a name.
pub fn table(name: &str) -> Option<&'static Table> {
    TABLES.iter().find(|it| it.name == name)
}

impl Table {
    /// Returns its position among all.
    pub fn number(&self) -> usize {
        TABLES.iter().position(|it| it.name == self.name).unwrap_or_default()
    }

    /// Returns the position of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|it| it.0 == name)
    }

    /// Returns its schema.
    pub fn schema(&self) -> Arc<Schema> {
        let field = |(name, column): &(&str, Column)| match column {
            Number => Field::new(*name, DataType::Int64, true),
            Flag => Field::new(*name, DataType::Boolean, true),
            _ => Field::new(*name, DataType::Utf8, *column == Json),
        };
        Arc::new(Schema::new(self.columns.iter().map(field).collect::<Vec<_>>()))
    }
}
