//! `hashicorp/random`.

use expect_test::{Expect, expect};
use serde_json::{Value as Json, json};

use super::support::{Probe, json_of, print};
use crate::value::Value;

fn probe() -> Probe {
    Probe::new("random")
}

#[track_caller]
fn check_validate(kind: &str, config: Json, answer: Expect) {
    answer.assert_eq(&probe().validate(kind, config));
}

fn text<'a>(object: &'a Value, name: &str) -> &'a str {
    object.get(name).and_then(Value::as_str).expect("a string")
}

#[test]
fn a_seed_gives_the_same_number_as_the_plugin() {
    let draw = |min: i64, max: i64, seed: &str| {
        probe()
            .create("random_integer", json!({"min": min, "max": max, "seed": seed}))
            .get("result")
            .and_then(Value::as_int)
    };
    assert_eq!(draw(1, 1_000_000, "example"), Some(706_421));
    assert_eq!(draw(-3, -3, "example"), Some(-3));
}

#[test]
fn a_seed_gives_the_same_order_as_the_plugin() {
    let shuffle = |config: Json| {
        json_of(probe().create("random_shuffle", config).get("result").expect("a result"))
    };
    let input = json!(["a", "b", "c", "d", "e"]);
    assert_eq!(
        shuffle(json!({"input": input, "seed": "example"})),
        json!(["a", "b", "e", "d", "c"])
    );
    assert_eq!(
        shuffle(json!({"input": input, "seed": "example", "result_count": 2})),
        json!(["a", "b"])
    );
    assert_eq!(shuffle(json!({"input": ["x"], "result_count": 3})), json!(["x", "x", "x"]));
    assert_eq!(shuffle(json!({"input": [], "result_count": 3})), json!([]));
    assert_eq!(shuffle(json!({"input": input, "result_count": 0})), json!([]));
}

#[test]
fn crossed_bounds_fail_in_apply() {
    expect![[r#"
        error: Create Random Integer Error
        gone
    "#]]
    .assert_eq(&probe().apply("random_integer", Json::Null, json!({"min": 9, "max": 8})).1);
}

#[test]
fn a_fraction_is_refused_where_a_whole_number_belongs() {
    check_validate(
        "random_integer",
        json!({"min": 1.5, "max": 8}),
        expect![[r#"
        error: Configuration Read Error (min)
    "#]],
    );
}

#[test]
fn arguments_replace_and_keepers_replace_leniently() {
    let plan = |prior: Json, config: Json| {
        let answer = probe().plan("random_integer", prior, config);
        answer
            .lines()
            .find_map(|it| it.strip_prefix("replaced for ").map(str::to_owned))
            .unwrap_or_default()
    };
    let prior =
        |keepers: Json| json!({"id": "5", "result": 5, "min": 1, "max": 9, "keepers": keepers});
    assert_eq!(
        plan(prior(json!(null)), json!({"min": 2, "max": 8, "seed": "s"})),
        "max, min, seed"
    );
    assert_eq!(
        plan(prior(json!({"a": "1"})), json!({"min": 1, "max": 9, "keepers": {"a": "2"}})),
        "keepers"
    );
    assert_eq!(plan(prior(json!(null)), json!({"min": 1, "max": 9, "keepers": {}})), "");
}

#[test]
fn keepers_of_bytes_are_compared_strictly() {
    let prior = json!({"length": 1, "base64": "AA==", "hex": "00"});
    expect![[r#"
        base64 = "AA=="
        hex = "00"
        keepers = {}
        length = 1
        replaced for keepers
    "#]]
    .assert_eq(&probe().plan("random_bytes", prior, json!({"length": 1, "keepers": {}})));
}

#[test]
fn an_id_is_the_same_bytes_in_five_ways() {
    expect![[r#"
        b64_std = "pre-AQIDBAUGBwg="
        b64_url = "pre-AQIDBAUGBwg"
        byte_length = 8
        dec = "pre-72623859790382856"
        hex = "pre-0102030405060708"
        id = "AQIDBAUGBwg"
        prefix = "pre-"
    "#]]
    .assert_eq(&probe().import("random_id", "pre-,AQIDBAUGBwg"));
    expect![[r#"
        error: Import Random ID Error
    "#]]
    .assert_eq(&probe().import("random_id", "AQ=="));
    expect![[r#"
        b64_std = ""
        b64_url = ""
        byte_length = 0
        dec = "0"
        hex = ""
        id = ""
    "#]]
    .assert_eq(&print(&probe().create("random_id", json!({"byte_length": 0}))));
    assert_eq!(text(&probe().create("random_id", json!({"byte_length": 4})), "hex").len(), 8);
    assert!(
        probe()
            .apply("random_id", Json::Null, json!({"byte_length": -1}))
            .1
            .starts_with("error: Randomness Generation Error")
    );
}

#[test]
fn an_integer_is_imported_by_its_parts() {
    expect![[r#"
        id = "3"
        max = 5
        min = 1
        result = 3
        seed = "seed"
    "#]]
    .assert_eq(&probe().import("random_integer", "3,1,5,seed"));
    for id in ["3,1", "3,1,5,seed,more", "x,1,5", "3,1,"] {
        assert_eq!(
            probe().import("random_integer", id),
            "error: Import Random Integer Error\n",
            "{id}"
        );
    }
}

#[test]
fn a_uuid_is_imported_in_lower_case() {
    let id = "AABBCCDD-EEFF-0011-2233-445566778899";
    for kind in ["random_uuid", "random_uuid4", "random_uuid7"] {
        let lower = id.to_lowercase();
        assert_eq!(probe().import(kind, id), format!("id = {lower:?}\nresult = {lower:?}\n"));
        assert_eq!(probe().import(kind, "nonsense"), "error: Import Random UUID Error\n");
        let object = probe().create(kind, json!({}));
        assert_eq!(text(&object, "id"), text(&object, "result"));
    }
    assert!(text(&probe().create("random_uuid7", json!({})), "id").starts_with("018d5f08-d1b0-7"));
}

#[test]
fn bytes_are_imported_from_base64() {
    expect![[r#"
        base64 = "AQI="
        hex = "0102"
        length = 2
    "#]]
    .assert_eq(&probe().import("random_bytes", "AQI="));
    assert_eq!(probe().import("random_bytes", "AQI"), "error: Import Random bytes Error\n");
}

#[test]
fn line_ends_and_stray_bits_in_base64_do_no_harm() {
    expect![[r#"
        base64 = "AQ\n=="
        hex = "01"
        length = 1
    "#]]
    .assert_eq(&probe().import("random_bytes", "AQ\n=="));
    assert!(probe().import("random_id", "AB").contains("hex = \"00\"\nid = \"AB\""));
}

#[test]
fn a_computed_value_that_is_null_is_kept_as_null() {
    let prior = json!({"result": "w"});
    expect![[r#"
        keepers = {}
        result = "w"
    "#]]
    .assert_eq(&probe().plan("random_uuid", prior, json!({"keepers": {}})));
}

#[test]
fn a_pet_has_as_many_words_as_asked() {
    let pet = |config: Json| text(&probe().create("random_pet", config), "id").to_owned();
    let is_word = |it: &str| !it.is_empty() && it.chars().all(|it| it.is_ascii_lowercase());
    for (length, words) in [(1, 1), (2, 2), (3, 3), (5, 5), (0, 2), (-4, 2)] {
        let pet = pet(json!({"length": length}));
        assert!(pet.split('-').count() == words && pet.split('-').all(is_word), "{length}: {pet}");
    }
    assert!(pet(json!({"prefix": "The", "separator": "_"})).starts_with("The_"));
    let object = probe().create("random_pet", json!({"prefix": ""}));
    assert!(object.get("prefix").is_some_and(Value::is_null));
}

#[test]
fn a_string_has_its_defaults_in_the_plan() {
    expect![[r#"
        id = ?
        length = 5
        lower = true
        min_lower = 0
        min_numeric = 0
        min_special = 0
        min_upper = 0
        number = true
        numeric = true
        result = ?
        special = true
        upper = true
    "#]]
    .assert_eq(&probe().plan("random_string", Json::Null, json!({"length": 5})));
}

#[test]
fn number_and_numeric_mirror_each_other() {
    let plan = |config: Json| {
        let answer = probe().plan("random_string", Json::Null, config);
        answer
            .lines()
            .filter(|it| it.starts_with("num") || it.starts_with("error"))
            .collect::<Vec<_>>()
            .join("; ")
    };
    assert_eq!(plan(json!({"length": 5, "number": false})), "number = false; numeric = false");
    assert_eq!(plan(json!({"length": 5, "numeric": "?"})), "number = ?; numeric = ?");
    assert_eq!(
        plan(json!({"length": 5, "number": true, "numeric": false})),
        "error: Number and numeric are both configured with different values"
    );
    let prior = json_of(&probe().create("random_string", json!({"length": 5, "numeric": false})));
    assert!(
        probe()
            .plan("random_string", prior.clone(), json!({"length": 5}))
            .ends_with("replaced for number, numeric\n")
    );
    assert!(
        !probe()
            .plan("random_string", prior, json!({"length": 5, "number": false}))
            .contains("replaced")
    );
}

#[test]
fn rules_of_the_string_kinds() {
    check_validate(
        "random_password",
        json!({"length": 0}),
        expect![[r#"
        error: Invalid Attribute Value (length)
    "#]],
    );
    check_validate(
        "random_string",
        json!({"length": 3, "min_upper": 2, "min_numeric": 2}),
        expect![[r#"
        error: Invalid Attribute Value (length)
    "#]],
    );
    check_validate(
        "random_string",
        json!({"length": 3, "min_upper": 5, "min_numeric": "?"}),
        expect![""],
    );
    check_validate(
        "random_string",
        json!({"length": 5, "upper": false, "lower": false, "special": false, "numeric": false}),
        expect![[r#"
            error: Invalid Attribute Combination (numeric)
        "#]],
    );
    check_validate(
        "random_string",
        json!({"length": 5, "upper": false, "lower": false, "special": false}),
        expect![""],
    );
    check_validate(
        "random_string",
        json!({"length": 5, "number": true}),
        expect![[r#"
        warning: Attribute Deprecated (number)
    "#]],
    );
    check_validate(
        "random_bytes",
        json!({"length": 0}),
        expect![[r#"
        error: Invalid Attribute Value (length)
    "#]],
    );
    check_validate(
        "random_password",
        json!({"result": "chosen"}),
        expect![[r#"
        error: Missing Configuration for Required Attribute (length)
        error: Invalid Configuration for Read-Only Attribute (result)
    "#]],
    );
}

#[test]
fn a_string_holds_what_its_classes_ask_for() {
    let draw = |config: Json| text(&probe().create("random_string", config), "result").to_owned();
    let off = json!({"length": 40, "upper": false, "lower": false, "special": false});
    assert!(draw(off).chars().all(|it| it.is_ascii_digit()));
    let asked = draw(
        json!({"length": 6, "upper": false, "lower": false, "numeric": false, "min_upper": 5, "override_special": "é"}),
    );
    assert_eq!((asked.chars().count(), asked.matches('é').count()), (6, 1), "{asked}");
    assert_eq!(draw(json!({"length": 3, "min_lower": 1, "min_upper": 1, "min_special": 1, "override_special": ""})).len(), 3);
}

#[test]
fn an_empty_alphabet_may_go_without_replacement() {
    let prior =
        json_of(&probe().create("random_string", json!({"length": 2, "override_special": ""})));
    assert!(
        !probe().plan("random_string", prior.clone(), json!({"length": 2})).contains("replaced")
    );
    let answer =
        probe().plan("random_string", prior, json!({"length": 2, "override_special": "#"}));
    assert!(answer.ends_with("replaced for override_special\n"), "{answer}");
}

#[test]
fn a_password_hides_behind_a_hash_of_its_first_bytes() {
    let object = probe().create("random_password", json!({"length": 80}));
    let (password, hash) = (text(&object, "result"), text(&object, "bcrypt_hash"));
    assert_eq!(text(&object, "id"), "none");
    assert!(hash.starts_with("$2a$10$"), "{hash}");
    assert!(bcrypt::verify(&password[..72], hash).expect("a hash"));
}

#[test]
fn an_imported_string_has_the_defaults() {
    expect![[r#"
        id = "aé"
        length = 3
        lower = true
        min_lower = 0
        min_numeric = 0
        min_special = 0
        min_upper = 0
        number = true
        numeric = true
        result = "aé"
        special = true
        upper = true
    "#]]
    .assert_eq(&probe().import("random_string", "aé"));
    assert!(
        probe().import("random_pet", "x").starts_with("error: Resource Import Not Implemented")
    );
    assert!(
        probe().import("random_shuffle", "x").starts_with("error: Resource Import Not Implemented")
    );
}

#[test]
fn old_strings_are_completed() {
    expect![[r#"
        id = "abcdef"
        length = 6
        lower = true
        min_lower = 0
        min_numeric = 0
        min_special = 0
        min_upper = 0
        number = true
        numeric = true
        result = "abcdef"
        special = true
        upper = true
    "#]]
    .assert_eq(&probe().upgrade("random_string", 1, json!({"id": "abcdef", "result": "abcdef"})));
    assert!(
        probe()
            .upgrade("random_string", 0, json!({}))
            .starts_with("error: Unable to Upgrade Resource State")
    );
}

#[test]
fn old_passwords_keep_a_hash_that_fits() {
    let hash = |password: &str| {
        bcrypt::hash_with_result(password, 4)
            .expect("a hash")
            .format_for_version(bcrypt::Version::TwoA)
    };
    let stored = |hash: &str| json!({"id": "none", "result": "secret", "bcrypt_hash": hash, "number": false});
    let hash_after = |version: u64, stored: Json| {
        let answer = probe().upgrade("random_password", version, stored);
        assert!(answer.contains("numeric = false"), "{answer}");
        answer
            .lines()
            .find_map(|it| it.strip_prefix("bcrypt_hash = "))
            .expect("a hash")
            .trim_matches('"')
            .to_owned()
    };
    let (good, bad) = (hash("secret"), hash("other"));
    assert_eq!(hash_after(2, stored(&good)), good);
    assert_eq!(hash_after(1, stored(&bad)), bad);
    for version in [0, 2] {
        let made = hash_after(version, stored(&bad));
        assert!(
            made != bad && bcrypt::verify("secret", &made).expect("a hash"),
            "version {version}"
        );
    }
    for not_quite in [&good[..59], &format!("{good}."), &format!("{}!{}", &good[..40], &good[41..])]
    {
        let made = hash_after(2, stored(not_quite));
        assert!(
            made != not_quite && bcrypt::verify("secret", &made).expect("a hash"),
            "{not_quite}"
        );
    }
    assert_eq!(
        probe().upgrade("random_password", 2, stored("nonsense")),
        "error: Version 3 State Upgrade Error\n"
    );
}

#[test]
fn ephemeral_values_are_new_each_time() {
    let open = |kind: &str| {
        text(
            &probe().open(kind, json!({"length": 16})),
            if kind == "random_bytes" { "hex" } else { "result" },
        )
        .to_owned()
    };
    assert_ne!(open("random_bytes"), open("random_bytes"));
    let password = open("random_password");
    assert!(password.len() == 16 && password != open("random_password"));
}
