//! Connection strings and locks, without a server; `cli/tests/backends` has one.

use expect_test::{Expect, expect};

use super::connection::Way;
use super::*;
use crate::world::World;

fn world(variables: &[(&str, &str)]) -> World {
    let mut world = World::of_this_process();
    world.environment = variables.iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect();
    world
}

#[track_caller]
fn check(text: &str, variables: &[(&str, &str)], expected: Expect) {
    let way = Way::new(text, &world(variables));
    expected.assert_eq(&way.map_or_else(|it| it.to_string(), |it| it.shown()));
}

#[test]
fn a_connection_is_an_address_or_words_over_the_environment() {
    check(
        "postgres://u:p%20w@db.example:6000/states?sslmode=disable&search_path=a",
        &[("PGHOST", "elsewhere")],
        expect![[r#"the database "states" on db.example:6000"#]],
    );
    check(
        r"host=db.example dbname='a b' password='it\'s' user=u sslmode=disable",
        &[("PGPORT", "7000")],
        expect![[r#"the database "a b" on db.example:7000"#]],
    );
    check(
        "",
        &[("PGHOST", "/run/sockets"), ("PGUSER", "u")],
        expect![[r#"the database "u" on /run/sockets:5432"#]],
    );
}

#[test]
fn what_is_wrong_with_a_connection_is_told_without_the_string() {
    check("postgres://u:secret@/ /", &[], expect!["it is no valid address: empty host"]);
    check(
        "host='secret",
        &[],
        expect![
            "it is neither an address (postgres://USER:PASSWORD@HOST/DATABASE) nor words of the form KEY=VALUE"
        ],
    );
    check(
        "host=h user=u sslmode=maybe",
        &[],
        expect!["sslmode is none of disable, prefer, require, verify-ca and verify-full"],
    );
    check("host=h user=u port=x", &[], expect!["the port: invalid digit found in string"]);
}

#[test]
fn a_secret_for_another_client_is_not_sent_as_a_setting_of_the_session() {
    for name in ["passwd", "pwd", "service", "servicefile", "sslpassword"] {
        let text = format!("host=h user=u sslmode=disable {name}=hidden");
        let told = Way::new(&text, &world(&[])).map_or_else(|it| it.to_string(), |it| it.shown());
        let expected = format!("{name:?} is not supported here, and would be sent to the server");
        assert_eq!(told, expected);
    }
}

#[test]
fn a_client_certificate_is_not_left_out_because_its_key_is_missing() {
    for given in ["sslcert=c", "sslkey=k"] {
        check(
            &format!("host=h user=u sslinline=true {given}"),
            &[],
            expect!["a client certificate and its key go together: sslcert and sslkey"],
        );
    }
}

#[test]
fn rows_are_made_under_a_lock_that_other_programs_know() {
    let layout = Layout {
        schema: "terraform_remote_state".into(),
        table: "states".into(),
        index: String::new(),
        makes_schema: false,
        makes_table: false,
        makes_index: false,
    };
    assert_eq!(layout.creation_key(), -3_797_183_428);
}
