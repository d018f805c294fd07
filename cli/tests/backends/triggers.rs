//! Tables in PostgreSQL with triggers and rules: a state counts as stored only if the row holds what was sent.

use crate::folder::{Folder, pg, start_postgres};
use crate::services::postgres::Postgres;

/// What a run says of a row that holds something else.
const CHANGED: &str = "a trigger or a rule of the table changes it";

/// What a run says where the write meets no row.
const SWALLOWED: &str = "The state was changed by somebody else";

/// Gives a table of states a trigger.
fn meddle(server: &Postgres, schema: &str, event: &str, body: &str) {
    server.query(&format!(
        "CREATE OR REPLACE FUNCTION {schema}.meddle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} END $$; \
         CREATE TRIGGER meddle {event} ON {schema}.states FOR EACH ROW EXECUTE FUNCTION {schema}.meddle()"
    ));
}

fn leave(server: &Postgres, schema: &str) {
    server.query(&format!("DROP TRIGGER meddle ON {schema}.states"));
}

#[test]
fn a_write_that_the_table_changes_or_swallows_is_an_error() {
    let Some(server) = start_postgres() else { return };
    let folder = Folder::new(&pg(server.port).block("changed"));
    folder.init().apply("first");
    let bodies = [
        ("NEW.data := ''; RETURN NEW;", CHANGED),
        ("NEW.data := NULL; RETURN NEW;", CHANGED),
        ("NEW.data := OLD.data; RETURN NEW;", CHANGED),
        ("NEW.data := NEW.data || ' '; RETURN NEW;", CHANGED),
        ("RETURN NULL;", SWALLOWED),
    ];
    for (number, (body, told)) in bodies.into_iter().enumerate() {
        server.query("CREATE TABLE changed.kept AS SELECT * FROM changed.states");
        meddle(&server, "changed", "BEFORE UPDATE", body);
        let command = format!("apply -auto-approve -input=false -var v=n{number}");
        folder.run(&command).refuses(told);
        leave(&server, "changed");
        server.query("UPDATE changed.states SET data = (SELECT data FROM changed.kept)");
        server.query("DROP TABLE changed.kept");
        // What was done is kept here as well.
        let errored = folder.path().join("errored.tfstate");
        std::fs::remove_file(errored).expect("the state was set aside");
        folder.apply(&format!("n{number}"));
        assert_eq!(folder.output(), format!("n{number}"), "{body}");
    }
}

#[test]
fn a_first_write_that_the_table_changes_or_swallows_is_an_error() {
    let Some(server) = start_postgres() else { return };
    let bodies = [("NEW.data := '{}'; RETURN NEW;", CHANGED), ("RETURN NULL;", SWALLOWED)];
    for (number, (body, told)) in bodies.into_iter().enumerate() {
        let schema = format!("inserted{number}");
        let folder = Folder::new(&pg(server.port).block(&schema));
        folder.init();
        meddle(&server, &schema, "BEFORE INSERT", body);
        folder.run("apply -auto-approve -input=false -var v=first").refuses(told);
        leave(&server, &schema);
        server.query(&format!("DELETE FROM {schema}.states"));
        folder.apply("first");
        assert_eq!(folder.output(), "first", "{body}");
    }
}

#[test]
fn a_row_that_is_changed_after_the_write_is_an_error_and_stays_as_it_was() {
    let Some(server) = start_postgres() else { return };
    let folder = Folder::new(&pg(server.port).block("altered"));
    folder.init().apply("first");
    let changes = [
        "UPDATE altered.states SET data = '' WHERE id = NEW.id",
        "UPDATE altered.states SET data = NULL WHERE id = NEW.id",
        "UPDATE altered.states SET data = OLD.data WHERE id = NEW.id",
        "UPDATE altered.states SET name = 'other' WHERE id = NEW.id",
        "DELETE FROM altered.states WHERE id = NEW.id",
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let rows = "SELECT name, md5(data) FROM altered.states";
        let before = server.query(rows);
        let body = format!("IF pg_trigger_depth() = 1 THEN {change}; END IF; RETURN NULL;");
        meddle(&server, "altered", "AFTER UPDATE", &body);
        let command = format!("apply -auto-approve -input=false -var v=n{number}");
        let told = folder.run(&command).refuses(CHANGED);
        assert!(told.contains("The state file that was there is unchanged"), "{told}");
        leave(&server, "altered");
        assert_eq!(server.query(rows), before, "{change}");
        folder.apply(&format!("n{number}"));
        assert_eq!(folder.output(), format!("n{number}"), "{change}");
    }
}

#[test]
fn a_first_row_that_is_changed_after_the_write_is_an_error_and_is_not_kept() {
    let Some(server) = start_postgres() else { return };
    let folder = Folder::new(&pg(server.port).block("begun"));
    folder.init();
    let change = "UPDATE begun.states SET data = '{}' WHERE id = NEW.id; RETURN NULL;";
    meddle(&server, "begun", "AFTER INSERT", change);
    folder.run("apply -auto-approve -input=false -var v=first").refuses(CHANGED);
    leave(&server, "begun");
    assert_eq!(server.query("SELECT count(*) FROM begun.states"), "0");
    folder.apply("first");
    assert_eq!(folder.output(), "first");
}

#[test]
fn a_large_write_that_the_table_changes_is_an_error() {
    let Some(server) = start_postgres() else { return };
    let folder = Folder::new(&pg(server.port).block("large"));
    folder.init().apply("first");
    // Larger than what is sent in one piece.
    let text = "x".repeat(17 << 20);
    let state = serde_json::json!({
        "version": 4, "terraform_version": "1.12.6", "serial": 1, "lineage": "large", "resources": [],
        "outputs": {"v": {"value": text, "type": "string"}},
    });
    std::fs::write(folder.path().join("large.json"), state.to_string()).expect("a file");
    meddle(&server, "large", "BEFORE UPDATE", "NEW.data := OLD.data; RETURN NEW;");
    folder.run("state push -force large.json").refuses(CHANGED);
    assert_eq!(folder.output(), "first");
    leave(&server, "large");
    let change = "UPDATE large.states SET data = OLD.data WHERE id = NEW.id";
    let body = format!("IF pg_trigger_depth() = 1 THEN {change}; END IF; RETURN NULL;");
    meddle(&server, "large", "AFTER UPDATE", &body);
    folder.run("state push -force large.json").refuses(CHANGED);
    assert_eq!(folder.output(), "first");
    leave(&server, "large");
    folder.run("state push -force large.json").ok();
    assert!(folder.output() == text, "it is stored whole");
}

#[test]
fn a_table_with_a_rule_in_place_of_writes_is_an_error() {
    let Some(server) = start_postgres() else { return };
    let folder = Folder::new(&pg(server.port).block("ruled"));
    folder.init().apply("first");
    server.query("CREATE RULE meddle AS ON UPDATE TO ruled.states DO INSTEAD NOTHING");
    let command = "apply -auto-approve -input=false -var v=second";
    folder.run(command).refuses("Failed to save state");
    server.query("DROP RULE meddle ON ruled.states");
    folder.apply("second");
    assert_eq!(folder.output(), "second");
}
