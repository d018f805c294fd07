//! `hashicorp/time`. The clock stands at 2024-01-31T10:20:30Z.

use expect_test::{Expect, expect};
use serde_json::{Value as Json, json};

use super::support::{Probe, json_of, print};

fn probe() -> Probe {
    Probe::new("time")
}

#[track_caller]
fn check_create(kind: &str, config: Json, answer: Expect) {
    answer.assert_eq(&print(&probe().create(kind, config)));
}

#[test]
fn a_given_time_is_known_in_the_plan_and_kept_as_written() {
    expect![[r#"
        day = 31
        hour = 10
        id = "2020-01-31T10:00:00.5+02:00"
        minute = 0
        month = 1
        rfc3339 = "2020-01-31T10:00:00.5+02:00"
        second = 0
        unix = 1580457600
        year = 2020
    "#]]
    .assert_eq(&probe().plan(
        "time_static",
        Json::Null,
        json!({"rfc3339": "2020-01-31T10:00:00.5+02:00"}),
    ));
}

#[test]
fn without_a_given_time_it_is_now() {
    check_create(
        "time_static",
        json!({}),
        expect![[r#"
        day = 31
        hour = 10
        id = "2024-01-31T10:20:30Z"
        minute = 20
        month = 1
        rfc3339 = "2024-01-31T10:20:30Z"
        second = 30
        unix = 1706696430
        year = 2024
    "#]],
    );
}

#[test]
fn triggers_replace_without_leniency_and_take_a_new_time() {
    let prior = json_of(&probe().create("time_static", json!({})));
    let answer = probe().plan("time_static", prior.clone(), json!({"triggers": {}}));
    assert!(answer.ends_with("replaced for rfc3339, triggers\n"), "{answer}");
    assert!(!probe().plan("time_static", prior, json!({})).contains("replaced"));
}

#[test]
fn offsets_are_added_in_their_order_and_run_over_the_month() {
    let config = json!({"base_rfc3339": "2020-01-31T10:00:00.5+02:00", "offset_months": 1, "offset_hours": 3});
    check_create(
        "time_offset",
        config,
        expect![[r#"
        base_rfc3339 = "2020-01-31T10:00:00.5+02:00"
        day = 2
        hour = 13
        id = "2020-01-31T10:00:00+02:00"
        minute = 0
        month = 3
        offset_hours = 3
        offset_months = 1
        rfc3339 = "2020-03-02T13:00:00+02:00"
        second = 0
        unix = 1583146800
        year = 2020
    "#]],
    );
}

#[test]
fn extreme_offsets_do_no_harm() {
    for name in [
        "offset_years",
        "offset_months",
        "offset_days",
        "offset_hours",
        "offset_minutes",
        "offset_seconds",
    ] {
        for number in [i64::MIN, -1, i64::MAX] {
            probe().apply("time_offset", Json::Null, json!({name: number}));
        }
    }
}

#[test]
fn a_year_of_five_digits_cannot_be_written() {
    expect![[r#"
        error: Invalid RFC3339 String Value (rfc3339)
        gone
    "#]]
    .assert_eq(&probe().apply("time_offset", Json::Null, json!({"offset_years": 8000})).1);
}

#[test]
fn a_changed_offset_is_known_in_the_plan_and_a_changed_base_is_not() {
    let prior = json_of(&probe().create("time_offset", json!({"offset_days": 1})));
    expect![[r#"
        base_rfc3339 = "2024-01-31T10:20:30Z"
        day = 30
        hour = 10
        id = "2024-01-31T10:20:30Z"
        minute = 20
        month = 1
        offset_days = -1
        rfc3339 = "2024-01-30T10:20:30Z"
        second = 30
        unix = 1706610030
        year = 2024
    "#]]
    .assert_eq(&probe().plan("time_offset", prior.clone(), json!({"offset_days": -1})));
    let config = json!({"offset_days": 1, "base_rfc3339": "2020-02-28T00:00:00Z"});
    expect![[r#"
        base_rfc3339 = "2020-02-28T00:00:00Z"
        day = ?
        hour = ?
        id = ?
        minute = ?
        month = ?
        offset_days = 1
        rfc3339 = ?
        second = ?
        unix = ?
        year = ?
    "#]]
    .assert_eq(&probe().plan("time_offset", prior.clone(), config.clone()));
    assert!(
        probe()
            .apply("time_offset", prior, config)
            .1
            .contains("rfc3339 = \"2020-02-29T00:00:00Z\"\n")
    );
}

#[test]
fn of_several_rotations_the_last_kind_counts() {
    let end = |config: Json| {
        json_of(probe().create("time_rotating", config).get("rotation_rfc3339").expect("an end"))
    };
    let base = "2020-01-31T10:00:00Z";
    assert_eq!(
        end(json!({"rfc3339": base, "rotation_years": 10, "rotation_days": 3})),
        "2030-01-31T10:00:00Z"
    );
    assert_eq!(
        end(json!({"rfc3339": base, "rotation_months": 1, "rotation_minutes": 3})),
        "2020-03-02T10:00:00Z"
    );
    assert_eq!(
        end(json!({"rfc3339": base, "rotation_hours": 1, "rotation_days": 3})),
        "2020-01-31T11:00:00Z"
    );
    assert_eq!(
        end(
            json!({"rfc3339": base, "rotation_rfc3339": "2020-02-01T00:00:00Z", "rotation_months": 1})
        ),
        "2020-02-01T00:00:00Z"
    );
}

#[test]
fn a_changed_rotation_keeps_the_base_and_a_changed_base_replaces() {
    let prior = json_of(&probe().create("time_rotating", json!({"rotation_days": 1})));
    expect![[r#"
        day = 2
        hour = 10
        id = "2024-01-31T10:20:30Z"
        minute = 20
        month = 2
        rfc3339 = "2024-01-31T10:20:30Z"
        rotation_days = 2
        rotation_rfc3339 = "2024-02-02T10:20:30Z"
        second = 30
        unix = 1706869230
        year = 2024
    "#]]
    .assert_eq(
        // The plan names rfc3339 as a reason to replace, too; its value is the old one, so the core drops that.
        probe()
            .plan("time_rotating", prior.clone(), json!({"rotation_days": 2}))
            .trim_end_matches("replaced for rfc3339\n"),
    );
    let answer = probe().plan(
        "time_rotating",
        prior,
        json!({"rotation_days": 1, "rfc3339": "2024-02-01T00:00:00Z"}),
    );
    assert!(
        answer.ends_with("replaced for rfc3339\n")
            && answer.contains("rotation_rfc3339 = \"2024-02-02T00:00:00Z\""),
        "{answer}"
    );
}

#[test]
fn a_rotation_that_is_over_is_gone() {
    let read = |end: &str| {
        let object = probe().create(
            "time_rotating",
            json!({"rfc3339": "2020-01-01T00:00:00Z", "rotation_rfc3339": end}),
        );
        probe().read("time_rotating", &object)
    };
    assert_eq!(read("2024-01-31T10:20:29Z"), "gone\n");
    assert_ne!(read("2024-01-31T10:20:30Z"), "gone\n");
}

#[test]
fn a_sleep_waits_before_it_is_there() {
    let start = std::time::Instant::now();
    let object = probe()
        .create("time_sleep", json!({"create_duration": "30ms", "destroy_duration": "20ms"}));
    expect![[r#"
        create_duration = "30ms"
        destroy_duration = "20ms"
        id = "2024-01-31T10:20:30Z"
    "#]]
    .assert_eq(&print(&object));
    assert!(start.elapsed().as_millis() >= 30);
    let prior = json_of(&object);
    probe().apply("time_sleep", prior.clone(), json!({"create_duration": "10h"}));
    assert!(start.elapsed().as_secs() < 10, "an update does not wait");
    assert_eq!(probe().apply("time_sleep", prior, Json::Null).1, "gone\n");
    assert!(start.elapsed().as_millis() >= 50);
}

#[test]
fn rules_of_the_time_kinds() {
    let check = |kind: &str, config: Json, answer: Expect| {
        answer.assert_eq(&probe().validate(kind, config))
    };
    check(
        "time_offset",
        json!({}),
        expect![[r#"
        error: Missing Attribute Configuration
    "#]],
    );
    check("time_offset", json!({"offset_days": "?"}), expect![""]);
    check(
        "time_rotating",
        json!({}),
        expect![[r#"
        error: Missing Attribute Configuration
    "#]],
    );
    check(
        "time_rotating",
        json!({"rotation_days": 0}),
        expect![[r#"
        error: Invalid Attribute Value (rotation_days)
    "#]],
    );
    check(
        "time_sleep",
        json!({}),
        expect![[r#"
        error: Invalid Attribute Combination (create_duration)
        error: Invalid Attribute Combination (destroy_duration)
    "#]],
    );
    for (text, is_good) in [
        ("30s", true),
        ("1.5h", true),
        ("30", false),
        ("1h30m", false),
        (".5s", false),
        ("1.s", false),
        ("5µs", false),
        ("", false),
    ] {
        let expected =
            if is_good { "" } else { "error: Invalid Attribute Value Match (create_duration)\n" };
        assert_eq!(
            probe().validate("time_sleep", json!({"create_duration": text})),
            expected,
            "{text}"
        );
    }
}

#[test]
fn times_must_be_rfc_3339() {
    for (text, is_good) in [
        ("2020-01-31T10:00:00Z", true),
        ("2020-01-31T10:00:00.123456789123+14:00", true),
        ("2020-02-29T23:59:59-00:30", true),
        ("2019-02-29T00:00:00Z", false),
        ("2020-01-31t10:00:00Z", false),
        ("2020-01-31T10:00:00z", false),
        ("2020-01-31 10:00:00Z", false),
        ("2020-01-31T10:00:00", false),
        ("2020-01-31T24:00:00Z", false),
        ("2020-01-31T10:00:60Z", false),
        ("2020-13-01T10:00:00Z", false),
        ("2020-01-00T10:00:00Z", false),
        ("2020-01-31T10:00:00.Z", false),
        ("2020-01-31T10:00:00+1:00", false),
        ("ü020-01-31T10:00:00Z", false),
        ("", false),
    ] {
        let expected = if is_good { "" } else { "error: Invalid RFC3339 String Value (rfc3339)\n" };
        assert_eq!(probe().validate("time_static", json!({"rfc3339": text})), expected, "{text}");
    }
}

#[test]
fn imports_by_their_parts() {
    let first_line = |kind: &str, id: &str| {
        probe().import(kind, id).lines().next().unwrap_or_default().to_owned()
    };
    assert!(
        probe()
            .import("time_static", "2020-01-31T10:00:00.5Z")
            .contains("rfc3339 = \"2020-01-31T10:00:00Z\"\nsecond = 0\ntriggers = {}\n")
    );
    assert_eq!(first_line("time_static", "today"), "error: Import time static error");
    assert!(
        probe()
            .import("time_offset", "2020-01-31T10:00:00Z,,1,,,,")
            .contains("rfc3339 = \"2020-03-02T10:00:00Z\"")
    );
    assert_eq!(
        first_line("time_offset", "2020-01-31T10:00:00Z,,,,,,"),
        "error: Unexpected Format of ID"
    );
    assert_eq!(
        first_line("time_offset", "2020-01-31T10:00:00Z,1"),
        "error: Unexpected Format of ID"
    );
    assert_eq!(
        first_line("time_offset", "2020-01-31T10:00:00Z,x,,,,,"),
        "error: Import time offset error"
    );
    assert!(
        probe()
            .import("time_rotating", "2020-01-31T10:00:00Z,2030-01-01T00:00:00Z")
            .contains("rotation_rfc3339 = \"2030-01-01T00:00:00Z\"")
    );
    assert!(
        probe()
            .import("time_rotating", "2020-01-31T10:00:00Z,,,30,,")
            .contains("rotation_rfc3339 = \"2020-03-01T10:00:00Z\"")
    );
    assert_eq!(
        first_line("time_rotating", "2020-01-31T10:00:00Z,,,,,"),
        "error: Unexpected Format of ID"
    );
    assert_eq!(
        first_line("time_rotating", "2020-01-31T10:00:00Z,never"),
        "error: Import time rotating error"
    );
    assert_eq!(
        probe().import("time_sleep", "30s,"),
        "create_duration = \"30s\"\nid = \"2024-01-31T10:20:30Z\"\ntriggers = {}\n"
    );
    assert_eq!(first_line("time_sleep", ","), "error: Unexpected Format of ID");
    assert_eq!(first_line("time_sleep", "soon,"), "error: Import time sleep error");
}

#[test]
fn functions_take_times_and_durations_apart() {
    let call = |name: &str, argument: Json| probe().call(name, &[argument]);
    expect!["{hours = 1.504236111111111, microseconds = 5415250000, milliseconds = 5415250, minutes = 90.25416666666666, nanoseconds = 5415250000000, seconds = 5415.25}"]
        .assert_eq(&call("duration_parse", json!("1h30m15.25s")));
    expect![[r#"{day = 3, hour = 1, iso_week = 53, iso_year = 2020, minute = 0, month = 1, month_name = "January", second = 0, unix = 1609615800, weekday = 0, weekday_name = "Sunday", year = 2021, year_day = 3}"#]]
        .assert_eq(&call("rfc3339_parse", json!("2021-01-03T01:00:00+05:30")));
    expect![[r#"{day = 14, hour = 22, iso_week = 46, iso_year = 2023, minute = 13, month = 11, month_name = "November", rfc3339 = "2023-11-14T22:13:20Z", second = 20, weekday = 2, weekday_name = "Tuesday", year = 2023, year_day = 318}"#]]
        .assert_eq(&call("unix_timestamp_parse", json!(1_700_000_000)));
    assert!(call("duration_parse", json!("soon")).starts_with("error in argument Some(0)"));
    assert!(call("rfc3339_parse", json!(null)).starts_with("error in argument Some(0)"));
    assert_eq!(call("rfc3339_parse", json!("?")), "?");
    for number in [i64::MIN, i64::MAX] {
        call("unix_timestamp_parse", json!(number));
    }
}
