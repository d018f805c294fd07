//! Schema, table, sequence and index: what they are called, and which of them are made.

use tokio_postgres::error::SqlState;

use super::session::{NoAnswer, Session};
use crate::backend::opening::{Opening, invalid};
use crate::diagnostic::Diagnostics;

/// The sequence of rows' ids. Advisory locks are those of a whole database, so that ids are, too.
const SEQUENCE: &str = "public.global_states_id_seq";

/// How many bytes of a name PostgreSQL keeps.
pub(super) const LONGEST_NAME: usize = 63;

/// Names in the database, and which of them are made where they are missing.
#[derive(Debug)]
pub(super) struct Layout {
    pub schema: String,
    pub table: String,
    pub index: String,
    pub makes_schema: bool,
    pub makes_table: bool,
    pub makes_index: bool,
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

impl Layout {
    pub fn of(it: &Opening) -> Result<Layout, Diagnostics> {
        let named = |name, usual: &str| match it.text(name) {
            Some(text) if text.len() > LONGEST_NAME => Err(invalid(
                "pg",
                name,
                &format!(
                    "PostgreSQL cuts names after {LONGEST_NAME} bytes, so that two could be one"
                ),
            )),
            text => Ok(text.unwrap_or_else(|| usual.to_owned())),
        };
        Ok(Layout {
            schema: named("schema_name", "terraform_remote_state")?,
            table: named("table_name", "states")?,
            index: named("index_name", "states_by_name")?,
            makes_schema: !it.flag("skip_schema_creation")?.unwrap_or(false),
            makes_table: !it.flag("skip_table_creation")?.unwrap_or(false),
            makes_index: !it.flag("skip_index_creation")?.unwrap_or(false),
        })
    }

    pub fn table(&self) -> String {
        format!("{}.{}", quoted(&self.schema), quoted(&self.table))
    }

    /// Returns the lock of whoever makes a row: FNV-1 of the names, negative, so that it is no row's.
    pub fn creation_key(&self) -> i64 {
        let names = [self.schema.as_bytes(), b"\0", self.table.as_bytes()].concat();
        let step = |hash: u32, byte: &u8| hash.wrapping_mul(0x0100_0193) ^ u32::from(*byte);
        -i64::from(names.iter().fold(0x811c_9dc5, step))
    }

    /// Makes what is missing and may be made.
    pub async fn make(&self, session: &Session) -> Result<(), NoAnswer> {
        let (schema, table) = (quoted(&self.schema), self.table());
        let index = format!("{schema}.{}", quoted(&self.index));
        let query = "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1), \
                     to_regclass($2) IS NOT NULL, to_regclass($3) IS NOT NULL, to_regclass($4) IS NOT NULL";
        let row = session.ask(query, &[&self.schema, SEQUENCE, &table, &index]).await?;
        let has = |column| row.first().is_some_and(|it| it.get(column));
        let statements = [
            (self.makes_schema && !has(0), format!("CREATE SCHEMA IF NOT EXISTS {schema}")),
            (
                self.makes_table && !has(1),
                format!("CREATE SEQUENCE IF NOT EXISTS {SEQUENCE} AS bigint"),
            ),
            (
                self.makes_table && !has(2),
                format!(
                    "CREATE TABLE IF NOT EXISTS {table} (id bigint NOT NULL DEFAULT nextval('{SEQUENCE}') PRIMARY KEY, name text UNIQUE, data text)"
                ),
            ),
            (
                self.makes_index && !has(3),
                format!(
                    "CREATE UNIQUE INDEX IF NOT EXISTS {} ON {table} (name)",
                    quoted(&self.index)
                ),
            ),
        ];
        for (is_due, statement) in statements {
            match session.run(if is_due { &statement } else { "" }).await {
                // Somebody else was faster.
                Err(it) if it.code().is_some_and(is_there_already) => {}
                made => made?,
            }
        }
        Ok(())
    }
}

fn is_there_already(code: &SqlState) -> bool {
    [
        SqlState::UNIQUE_VIOLATION,
        SqlState::DUPLICATE_TABLE,
        SqlState::DUPLICATE_SCHEMA,
        SqlState::DUPLICATE_OBJECT,
    ]
    .contains(code)
}
