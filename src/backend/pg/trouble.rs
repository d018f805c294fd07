//! What PostgreSQL says where it does not do what it is asked for, and what the user can do about it.

use tokio_postgres::error::SqlState;

use super::layout::Layout;
use crate::backend::web::phrases;

/// Says what the server, or the system, has said.
pub(super) fn told(error: &tokio_postgres::Error) -> String {
    if let Some(it) = error.as_db_error() {
        let more = [it.detail(), it.hint()].into_iter().flatten();
        let more: String = more.map(|it| format!(" ({it})")).collect();
        return format!("{}{more}", it.message());
    }
    phrases::with_causes(error).into()
}

/// Says what can be done where there is no connection; empty where that is plain.
pub(super) fn way_in(error: &tokio_postgres::Error) -> &'static str {
    const LOGIN: [SqlState; 2] =
        [SqlState::INVALID_PASSWORD, SqlState::INVALID_AUTHORIZATION_SPECIFICATION];
    match error.code() {
        Some(it) if LOGIN.contains(it) => {
            ". Check the user and the password: in `conn_str`, PGUSER and PGPASSWORD, or ~/.pgpass"
        }
        Some(it) if *it == SqlState::INVALID_CATALOG_NAME => {
            ". The database must be there before it can keep states: create it, or name another one"
        }
        Some(it) if *it == SqlState::TOO_MANY_CONNECTIONS => {
            ". Every run needs a connection of its own, for as long as it takes"
        }
        Some(_) => "",
        None => match told(error) {
            it if it.contains("does not support TLS") => {
                ". Where the way to it is safe, say so with sslmode=disable"
            }
            it if it.contains("certificate") => {
                ". Name the authority that signed its certificate with sslrootcert, or see that the certificate is for this host"
            }
            _ => "",
        },
    }
}

/// Says what can be done where a statement is refused; empty where that is plain.
pub(super) fn way_on(error: &tokio_postgres::Error, layout: &Layout) -> &'static str {
    match error.code() {
        Some(it) if *it == SqlState::UNDEFINED_TABLE && !layout.makes_table => {
            ". The table is missing, and skip_table_creation keeps it from being made"
        }
        Some(it) if *it == SqlState::INVALID_SCHEMA_NAME && !layout.makes_schema => {
            ". The schema is missing, and skip_schema_creation keeps it from being made"
        }
        Some(it) if *it == SqlState::INSUFFICIENT_PRIVILEGE => {
            ". The user needs USAGE on the schema and on the sequence public.global_states_id_seq, and SELECT, INSERT, UPDATE and DELETE on the table; \
             to make what is missing, CREATE on the database and on the schema public"
        }
        Some(it) if *it == SqlState::READ_ONLY_SQL_TRANSACTION => {
            ". This server only reads: name the one that takes writes"
        }
        _ => "",
    }
}
