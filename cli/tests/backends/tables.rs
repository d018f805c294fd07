//! Tables in PostgreSQL that hold something else than states: columns of other types, rows that are empty or doubled, names that
//! the server would cut.

use crate::folder::{Folder, pg, start_postgres};
use crate::services::postgres::Postgres;

/// Returns a backend block with more arguments.
fn block(server: &Postgres, more: &str) -> String {
    let address = server.address();
    format!(
        "terraform {{\n  backend \"pg\" {{\n    conn_str = \"{address}\"\n    {more}\n  }}\n}}\n"
    )
}

/// A change of a column, what takes it back, and the command that reads the column.
const COLUMNS: &[(&str, &str, &str)] = &[
    ("ALTER id TYPE integer", "ALTER id TYPE bigint", "plan -input=false"),
    ("ALTER id TYPE integer", "ALTER id TYPE bigint", "force-unlock -force unknown"),
    (
        "DROP CONSTRAINT states_pkey, ALTER id DROP NOT NULL, ALTER id TYPE bigint USING NULL",
        "ALTER id TYPE bigint USING nextval('public.global_states_id_seq'), ALTER id SET NOT NULL",
        "plan -input=false",
    ),
    (
        "ALTER data TYPE bytea USING convert_to(data, 'UTF8')",
        "ALTER data TYPE text USING convert_from(data, 'UTF8')",
        "plan -input=false -lock=false",
    ),
    (
        "ALTER name TYPE bytea USING convert_to(name, 'UTF8')",
        "ALTER name TYPE text USING convert_from(name, 'UTF8')",
        "workspace list",
    ),
];

#[test]
fn a_column_of_another_type_is_an_error() {
    let Some(server) = start_postgres() else { return };
    let folder = Folder::new(&pg(server.port).block("retyped"));
    folder.init().apply("first").run("workspace new other").ok();
    folder.apply("second").run("workspace select default").ok();
    for (change, back, command) in COLUMNS {
        server.query(&format!("ALTER TABLE retyped.states {change}"));
        folder.run(command).refuses("Error: ");
        server.query(&format!("ALTER TABLE retyped.states {back}"));
        assert_eq!(folder.output(), "first", "{change}");
    }
}

#[test]
fn a_row_that_is_empty_is_not_taken_for_no_state() {
    let Some(server) = start_postgres() else { return };
    let block = pg(server.port).block("emptied");
    let folder = Folder::new(&block);
    folder.init().apply("first");
    server.query("CREATE TABLE emptied.kept AS SELECT * FROM emptied.states");
    for content in ["''", "' '", "E'\\n'", "NULL"] {
        server.query("UPDATE emptied.states SET data = (SELECT data FROM emptied.kept)");
        let fresh = Folder::new(&block);
        fresh.init();
        server.query(&format!("UPDATE emptied.states SET data = {content}"));
        for folder in [&folder, &fresh] {
            folder.run("plan -input=false").refuses("is there and empty, which is no state");
            folder.run("apply -auto-approve -input=false -var v=second").refuses("Error: ");
        }
        let rows = format!(
            "SELECT count(*) FROM emptied.states WHERE data IS NOT DISTINCT FROM {content}"
        );
        assert_eq!(server.query(&rows), "1", "{content}");
    }
    server.query("UPDATE emptied.states SET data = (SELECT data FROM emptied.kept)");
    assert_eq!(folder.output(), "first");
}

#[test]
fn two_rows_of_one_name_are_an_error() {
    let Some(server) = start_postgres() else { return };
    let folder = Folder::new(&pg(server.port).block("doubled"));
    folder.init().apply("first");
    server.query(
        "ALTER TABLE doubled.states DROP CONSTRAINT states_name_key; DROP INDEX doubled.states_by_name; \
         INSERT INTO doubled.states (name, data) SELECT name, data FROM doubled.states",
    );
    for command in ["plan -input=false", "apply -auto-approve -input=false -var v=second"] {
        folder.run(command).refuses("is there 2 times");
    }
    let states = "SELECT count(DISTINCT data), count(*) FROM doubled.states";
    assert_eq!(server.query(states), "1|2", "nothing is written");
}

#[test]
fn a_name_with_a_newline_is_not_listed() {
    let Some(server) = start_postgres() else { return };
    let folder = Folder::new(&pg(server.port).block("named"));
    folder.init();
    server.query("INSERT INTO named.states (name, data) VALUES (E'two\\nlines', ''), ('dev', '')");
    assert_eq!(folder.run("workspace list").ok(), "* default\n  dev\n\n");
}

#[test]
fn names_that_the_server_would_cut_are_refused() {
    let Some(server) = start_postgres() else { return };
    let (long, wide) = ("n".repeat(64), "\u{e4}".repeat(32));
    for argument in ["schema_name", "table_name", "index_name"] {
        for name in [&long, &wide] {
            let folder = Folder::new(&block(&server, &format!("{argument} = \"{name}\"")));
            let told = folder.run("init -input=false").refuses("cuts names after 63 bytes");
            assert!(told.contains(argument), "{told}");
        }
    }
    let made = "SELECT count(*) FROM pg_class, pg_namespace \
                WHERE relname ~ '^(nnn|\u{e4})' OR nspname ~ '^(nnn|\u{e4})'";
    assert_eq!(server.query(made), "0");
}

#[test]
fn a_column_that_would_cut_a_workspace_is_refused() {
    let Some(server) = start_postgres() else { return };
    let (long, longest) = ("n".repeat(64), "n".repeat(63));
    let folder = Folder::new(&pg(server.port).block("cut"));
    folder.init().run(&format!("workspace new {long}")).ok();
    server.query("ALTER TABLE cut.states ALTER name TYPE name");
    let states = "SELECT name, md5(data) FROM cut.states";
    let before = server.query(states);
    for command in ["plan -input=false", "apply -auto-approve -input=false"] {
        folder.run(command).refuses("the column \"name\" of \"cut\".\"states\" has the type name");
    }
    assert_eq!(server.query(states), before, "nothing is written");
    // What is not cut is kept.
    server.query("DELETE FROM cut.states");
    folder.run(&format!("workspace new {longest}")).ok();
    folder.apply("first");
    assert_eq!(folder.output(), "first");
    assert_eq!(server.query("SELECT name FROM cut.states"), longest);
    server.query("ALTER TABLE cut.states ALTER name TYPE text");
    folder.run(&format!("workspace new {long}")).ok();
    folder.apply("second");
    assert_eq!(folder.output(), "second");
}

#[test]
fn names_that_differ_in_their_last_byte_are_two() {
    let Some(server) = start_postgres() else { return };
    let stem = "n".repeat(62);
    let folders = ["1", "2"].map(|end| {
        let folder = Folder::new(&block(&server, &format!("schema_name = \"{stem}{end}\"")));
        folder.init().apply(end);
        folder
    });
    assert_eq!(folders.map(|it| it.output()), ["1", "2"]);
    // A workspace is a text, which may be longer than a name.
    let folder = Folder::new(&pg(server.port).block("long"));
    folder.init();
    for end in ["1", "2"] {
        folder.run(&format!("workspace new {stem}{stem}{end}")).ok();
        folder.apply(end);
    }
    for end in ["1", "2"] {
        folder.run(&format!("workspace select {stem}{stem}{end}")).ok();
        assert_eq!(folder.output(), end);
    }
}
