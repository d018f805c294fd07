//! Sessions with PostgreSQL that are lost in the middle of a write, wait for a lock of the table, or meet a server that falls silent.

use std::time::{Duration, Instant};

use crate::folder::{Folder, Service, Told, answer, pg, start_postgres};
use crate::services::gate::{Gate, Then};
use crate::services::postgres::{self, Postgres};

/// What begins the statement that replaces a state.
const WRITE: &str = "UPDATE \"";

/// Lets a session see another number and another beginning than its own: those of the row in `numbers`, if there is one.
const DISGUISE: &str = "
    CREATE SCHEMA disguise;
    CREATE TABLE disguise.numbers (pid integer, since timestamptz);
    CREATE FUNCTION disguise.pg_backend_pid() RETURNS integer LANGUAGE sql AS
        $$ SELECT coalesce((SELECT pid FROM disguise.numbers), pg_catalog.pg_backend_pid()) $$;
    CREATE VIEW disguise.pg_stat_activity AS
        SELECT a.pid, coalesce(n.since, a.backend_start) AS backend_start, a.usename, a.client_addr, a.application_name
        FROM pg_catalog.pg_stat_activity a LEFT JOIN disguise.numbers n ON n.pid = a.pid;
";

/// Returns a service whose sessions have a setting.
fn with_setting(port: u16, setting: &str) -> Service {
    let address = postgres::address(port);
    Service::new("pg", format!("conn_str = \"{address}&{setting}\"\nschema_name = \"PLACE\""))
}

/// Asks until there is an answer.
fn wait_for(server: &Postgres, query: &str) -> String {
    loop {
        let answer = server.query(query);
        if !answer.is_empty() {
            return answer;
        }
    }
}

#[test]
fn a_session_that_began_at_another_time_is_not_ended_in_place_of_the_lost_one() {
    let Some(server) = start_postgres() else { return };
    let gate = Gate::start(server.port);
    server.query(DISGUISE);
    let service = with_setting(gate.port, "search_path=disguise,pg_catalog");
    let folder = Folder::new(&service.block("replaced"));
    folder.init().apply("first");
    let _theirs = server.begin("SELECT pg_sleep(600)");
    let sleeping = "SELECT pid FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%'";
    let theirs = wait_for(&server, sleeping);

    // The run takes the number of the other session for its own, as if that had followed it in the same process.
    server.query(&format!("INSERT INTO disguise.numbers VALUES ({theirs}, '2001-01-01')"));
    let holder = folder.hold();
    server.query("DELETE FROM disguise.numbers");
    gate.at(WRITE, Then::Cut);
    let told = answer(holder, "yes").refuses("The lock of the state was lost");
    assert_eq!(server.query(sleeping), theirs, "{told}");

    folder.run("apply -auto-approve -input=false -lock-timeout=20s -var v=held").ok();
    assert_eq!(folder.output(), "held");
}

#[test]
fn a_lost_session_that_still_lives_is_ended_before_its_write_is_judged() {
    let Some(server) = start_postgres() else { return };
    let gate = Gate::start(server.port);
    let folder = Folder::new(&pg(gate.port).block("living"));
    folder.init().apply("first");
    gate.at(WRITE, Then::CutForClient);
    let command = "apply -auto-approve -input=false -var v=second";
    folder.run(command).refuses("The lock of the state was lost");
    // The session had the lock: where it lived on, nothing could be applied now.
    let other = Folder::new(&pg(server.port).block("living"));
    other.init();
    assert_eq!(other.output(), "first");
    other.apply("third");
}

#[test]
fn a_lock_of_the_table_is_waited_for_half_a_minute_or_as_the_user_says() {
    let Some(server) = start_postgres() else { return };
    let usual = Folder::new(&pg(server.port).block("patient"));
    usual.init().apply("first");
    let chosen = with_setting(server.port, "lock_timeout=700ms");
    let chosen = Folder::new(&chosen.block("patient"));
    chosen.init();
    server.query(
        "CREATE TABLE patient.noted (value text); \
         CREATE FUNCTION patient.note() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN INSERT INTO patient.noted VALUES (current_setting('lock_timeout')); RETURN NEW; END $$; \
         CREATE TRIGGER note BEFORE UPDATE ON patient.states FOR EACH ROW EXECUTE FUNCTION patient.note()",
    );
    for (folder, expected) in [(&usual, "30s"), (&chosen, "700ms")] {
        folder.apply(expected);
        assert_eq!(server.query("SELECT DISTINCT value FROM patient.noted"), expected);
        server.query("TRUNCATE patient.noted");
    }
    let _locked = server.begin("BEGIN; LOCK TABLE patient.states; SELECT pg_sleep(600)");
    wait_for(
        &server,
        "SELECT pid FROM pg_locks WHERE granted AND mode = 'AccessExclusiveLock' \
         AND relation = 'patient.states'::regclass",
    );
    chosen.run("plan -input=false").refuses("lock timeout");
}

/// Settings with which each answer is waited for eight seconds, which is five more than they say.
const HASTY: &str = "statement_timeout=3s&connect_timeout=3";

/// What a run says of an answer that does not come.
const LATE: &str = "answer within 8 seconds";

/// Each place, the text in whose place the server falls silent, and the command that sends it.
const SILENCES: &[(&str, &str, &str)] = &[
    ("begun", "pg_backend_pid()", "plan -input=false -lock=false"),
    ("prepared", "to_regclass", "plan -input=false -lock=false"),
    ("read", "octet_length(data)", "plan -input=false -lock=false"),
    ("written", WRITE, "apply -auto-approve -input=false -lock=false -var v=second"),
    ("committed", "COMMIT", "apply -auto-approve -input=false -lock=false -var v=second"),
    ("locked", "pg_try_advisory_lock", "apply -auto-approve -input=false -var v=second"),
    ("listed", "SELECT name FROM", "workspace list"),
    ("deleted", "DELETE FROM", "workspace delete -force other"),
    ("forced", "SELECT id FROM", "force-unlock -force unknown"),
];

/// Returns a working directory whose server can fall silent. It has two workspaces.
fn hasty(port: u16, place: &str) -> (Gate, Folder) {
    let gate = Gate::start(port);
    let folder = Folder::new(&with_setting(gate.port, HASTY).block(place));
    folder.init().run("workspace new other").ok();
    folder.apply("other").run("workspace select default").ok();
    folder.apply("first");
    (gate, folder)
}

/// Checks that the next run finds no trace of the one that was given up.
fn goes_on(folder: &Folder, place: &str) {
    folder.run("apply -auto-approve -input=false -lock-timeout=20s -var v=second").ok();
    assert_eq!(folder.output(), "second", "{place}");
}

#[test]
fn a_server_that_falls_silent_is_not_waited_for() {
    let Some(server) = start_postgres() else { return };
    let port = server.port;
    std::thread::scope(|scope| {
        for (place, text, command) in SILENCES {
            scope.spawn(move || {
                let (gate, folder) = hasty(port, place);
                gate.at(text, Then::Silence);
                let start = Instant::now();
                folder.run(command).refuses(LATE);
                assert!(start.elapsed() < Duration::from_secs(60), "{place}");
                goes_on(&folder, place);
            });
        }
        // While the lock is held: the state is not stored, or it is and the lock ends with its session.
        scope.spawn(move || fall_silent_under_lock(port, "silent", WRITE).refuses(LATE));
        scope.spawn(move || fall_silent_under_lock(port, "unlocked", "pg_advisory_unlock").ok());
    });
}

/// Lets the server fall silent at a text while a run holds the lock. Returns how the run has ended.
fn fall_silent_under_lock(port: u16, place: &str, text: &'static str) -> Told {
    let (gate, folder) = hasty(port, place);
    let holder = folder.hold();
    gate.at(text, Then::Silence);
    let start = Instant::now();
    let told = answer(holder, "yes");
    assert!(start.elapsed() < Duration::from_secs(60), "{place}");
    goes_on(&folder, place);
    told
}

/// Returns the key of the advisory lock for making a workspace: FNV-1 of schema and table.
fn creation_key(schema: &str) -> i64 {
    let names = format!("{schema}\0states");
    let step = |hash: u32, byte: u8| hash.wrapping_mul(0x0100_0193) ^ u32::from(byte);
    -i64::from(names.bytes().fold(0x811c_9dc5, step))
}

#[test]
fn a_workspace_is_not_made_while_another_session_makes_one() {
    let Some(server) = start_postgres() else { return };
    let folder = Folder::new(&pg(server.port).block("creating"));
    folder.init();
    let key = creation_key("creating");
    let theirs = server.begin(&format!("SELECT pg_advisory_lock({key}); SELECT pg_sleep(600)"));
    wait_for(&server, "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted");
    folder.run("workspace new other").refuses("Already locked for workspace creation: other");
    let listed = folder.run("workspace list").ok();
    assert!(!listed.contains("other"), "{listed}");
    drop(theirs);
    server.query("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'");
    folder.run("workspace new other").ok();
}
