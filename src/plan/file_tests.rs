//! Plans to files and back.

use std::sync::Arc;

use expect_test::{Expect, expect};
use pretty_assertions::assert_eq;

use super::*;
use ed25519_dalek::pkcs8::EncodePrivateKey;
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;

use crate::address::{InstanceKey, ProviderInstance};
use crate::plan::codec::{Decoder, Encoder};
use crate::plan::signature::Trusted;
use crate::plan::{
    Action, Change, ChangeList, Details, Identities, LeftOut, NotLookedAt, OutputChange, Reason,
};
use crate::provider::ImportName;
use crate::rarely::Rarely;
use crate::request::PlanMode;
use crate::state::CheckResult;
use crate::state::names;
use crate::value::{
    Marks, Number, PathStep, Refinement, Sequence, Str, Type, Unknown, Value, unknown,
};

fn object(attributes: Vec<(&str, Value)>) -> Value {
    Value::object(
        attributes.into_iter().map(|(name, value)| (Str::from(name), value)).collect::<Vec<_>>(),
    )
}

/// Values of every form.
fn all_values() -> Vec<Value> {
    let refinement = Refinement {
        not_null: true,
        prefix: Some("ami-".into()),
        lower: Some((Number::parse("-1.5").expect("a number"), true)),
        upper: Some((Number::infinity(false), false)),
        min_length: Some(1),
        max_length: None,
        document: None,
    };
    let ty =
        Type::object(vec![("a".into(), Type::list(Type::STRING)), ("b".into(), Type::DYNAMIC)]);
    vec![
        Value::NULL,
        Value::Null(ty),
        Value::unknown(ty),
        Value::Unknown(Arc::new(Unknown { ty: Type::STRING, refinement })),
        Value::from(true),
        Value::int(0),
        Value::int(i64::MIN),
        Value::Number(Number::parse("-0").expect("a number")),
        Value::Number(Number::parse("123456789012345678901234567890.5").expect("a number")),
        Value::Number(Number::infinity(true)),
        Value::from("ü\n"),
        Value::list(Type::NUMBER, vec![Value::int(1), Value::unknown(Type::NUMBER)]),
        Value::set(Type::STRING, vec![Value::from("b"), Value::from("a")]),
        Value::map(
            Type::BOOL,
            [("k".into(), Value::from(false)), ("l".into(), Value::Null(Type::BOOL))],
        ),
        Value::tuple(vec![Value::from("x").mark(&Marks::sensitive()), Value::int(2)]),
        object(vec![("a", Value::from("x").mark(&Marks::ephemeral())), ("z", object(vec![]))])
            .mark(&Marks::sensitive()),
        unknown::not_null(&Value::unknown(Type::STRING)),
    ]
}

fn read_packed(bytes: &[u8], most: u64) -> Result<(Plan, PlanExtras), Error> {
    unpack(bytes, most)?.read()
}

#[test]
fn values_of_every_form_come_back_as_they_were() {
    let values = all_values();
    let mut out = Encoder::default();
    values.iter().for_each(|it| out.value(it));
    let document = out.finish();
    let mut input = Decoder::new(&document).expect("it is read");
    let read: Vec<Value> = values.iter().map(|_| input.value().expect("it is read")).collect();
    assert_eq!(read, values);
    input.finish().expect("nothing is left");
}

#[test]
fn damaged_documents_are_refused_and_never_crash() {
    let mut out = Encoder::default();
    out.value(&Value::tuple(all_values()));
    let document = out.finish();
    for cut in 0..document.len() {
        let read = Decoder::new(&document[..cut])
            .and_then(|mut input| input.value().and_then(|_| input.finish()));
        assert!(read.is_err(), "cut at {cut}");
    }
    for at in 0..document.len() {
        let mut other = document.clone();
        other[at] ^= 0x55;
        let _ = Decoder::new(&other).and_then(|mut input| input.value());
    }
    let deep: Vec<u8> =
        [0, 0].into_iter().chain([10, 1].into_iter().cycle().take(1_000_000)).collect();
    assert!(Decoder::new(&deep).expect("its head is whole").value().is_err());
}

fn state(serial: u64) -> State {
    let text = format!(
        r#"{{"version": 4, "serial": {serial}, "lineage": "abc", "outputs": {{"o": {{"value": 1, "type": "number"}}}}, "resources": [
          {{"mode": "managed", "type": "t", "name": "n", "provider": "provider[\"r.io/x/y\"]",
            "instances": [{{"schema_version": 1, "attributes": {{"id": "i"}}}}]}}]}}"#
    );
    crate::state::read::read(text.as_bytes()).expect("it is a state").expect("it is not empty")
}

#[test]
fn values_nest_as_deep_as_expressions_make_them() {
    let deep = (0..4_500).fold(Value::int(1), |value, _| {
        Value::List(Arc::new(Sequence { element: Type::DYNAMIC, items: vec![value] }))
    });
    let mut out = Encoder::default();
    out.value(&deep);
    let document = out.finish();
    let read = Decoder::new(&document).expect("it is read").value();
    assert!(read.is_ok_and(|it| it == deep));
}

/// A plan with something in every member.
pub(in crate::plan) fn plan() -> Plan {
    let (config, _) = names::provider("provider[\"r.io/x/y\"].by").expect("a provider");
    let details = Details {
        previous_address: names::instance("t.old").map(Box::new),
        replace_paths: [vec![PathStep::attribute("id"), PathStep::index(0), PathStep::key("x")]]
            .into(),
        private: vec![0, 255].into(),
        identity: Identities::of(Some(object(vec![("id", Value::from("i"))])), None),
        importing: Some(Box::new(ImportName::Id("import me".into()))),
        generated_config: Some("resource {}".into()),
        deposes: Some("ffffffff".into()),
        configured_secrets: Some([vec![PathStep::attribute("id")]].into()),
    };
    let change = Change {
        address: names::instance("module.m[0].t.n[\"k\"]").expect("an address"),
        deposed: Some("0a1b2c3d".into()),
        served_by: Arc::new(ProviderInstance { config, key: InstanceKey::Str("eu".into()) }),
        action: Action::CreateThenDelete,
        reason: Reason::ReplaceByTriggers,
        before: object(vec![("id", Value::from("i"))]),
        after: object(vec![("id", Value::unknown(Type::STRING).mark(&Marks::sensitive()))]),
        details: Rarely::of(details),
    };
    let kept = Change {
        action: Action::NoOp,
        after: change.before.clone(),
        reason: Reason::KeptForAnother,
        deposed: None,
        ..change.clone()
    };
    let mut drifted = change.clone();
    drifted.details.configured_secrets = None;
    let output = OutputChange {
        name: "o".into(),
        before: Value::int(1),
        after: Value::unknown(Type::DYNAMIC),
        action: Action::Update,
        sensitive: true,
    };
    Plan {
        mode: PlanMode::RefreshOnly,
        errored: true,
        changes: ChangeList::from_iter([change.clone(), kept]),
        drift: ChangeList::from_iter([drifted]),
        outputs: [(Str::from("o"), output)].into(),
        prior_state: state(3),
        previous_state: state(0),
        variables: [(Str::from("v"), Value::from("1"))].into(),
        given_variables: [(Str::from("v"), Value::Number(1.into()))].into(),
        targets: vec!["t.n".into()],
        excludes: vec!["t.m".into(), "module.x".into()],
        replaces: vec![names::instance("t.n[1]").expect("an address")],
        timestamp: "2024-05-06T07:08:09.123456789Z".parse().expect("a time"),
        left_out: vec![LeftOut {
            root: "t.m".into(),
            flag: "-exclude=t.m".into(),
            objects: vec!["t.m".into()],
        }],
        not_looked_at: NotLookedAt { untargeted: 2, data: 1 },
        checks: vec![CheckResult {
            kind: "check".into(),
            config_address: "check.c".into(),
            status: "fail".into(),
            objects: Some(vec![("check.c".into(), "fail".into(), vec!["no".into()])]),
        }],
        relevant_attributes: vec![("t.n".into(), vec![PathStep::attribute("id")])],
        workspace: "dev".into(),
    }
}

fn extras() -> PlanExtras {
    PlanExtras {
        sources: [("m-/main.tf".to_string(), "locals {}".to_string())].into(),
        modules: Some("[]".into()),
        lock_file: Some("# lock".into()),
        facts: [("base".to_string(), vec![1, 2, 3])].into(),
        settings: [("refresh".to_string(), "false".to_string())].into(),
        ..PlanExtras::default()
    }
}

#[test]
fn a_plan_comes_back_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("tfplan");
    let plan = plan();
    plan.save(&path, &extras(), (None, &Seals::default())).expect("it is saved");
    let (loaded, loaded_extras) = Plan::load(&path, &Seals::default()).expect("it is loaded");
    assert_eq!(loaded_extras, extras());
    // States compare by their text, of which writer and kept order are no part.
    let show = |plan: &Plan| {
        let states = (write_compact(&plan.prior_state), write_compact(&plan.previous_state));
        let rest = Plan {
            prior_state: State::default(),
            previous_state: State::default(),
            ..plan.clone()
        };
        format!("{states:?} {rest:#?}")
    };
    assert_eq!(show(&loaded), show(&plan));
}

#[test]
fn a_plan_with_the_entry_of_another_program_comes_back_whole() {
    let exchange = Exchange { backend: "local".into(), ephemeral_variables: Vec::new() };
    let for_others = PlanExtras { exchange: Some(exchange), ..extras() };
    let bytes = archive(&plan(), &for_others, None).expect("it is packed");
    let (read, read_extras) = read_packed(&bytes, MOST_UNPACKED).expect("it is read");
    assert_eq!(read_extras, extras());
    let own = archive(&plan(), &extras(), None).expect("it is packed");
    let (known, _) = read_packed(&own, MOST_UNPACKED).expect("it is read");
    assert_eq!(format!("{read:?}"), format!("{known:?}"));
}

#[test]
fn a_document_from_before_the_lists_at_its_end_is_read_without_them() {
    let mut plan = plan();
    plan.changes.iter_mut().for_each(|it| it.details.configured_secrets = None);
    let whole = document(&plan, &extras());
    for (cut, not_looked_at) in [(1, plan.not_looked_at), (3, NotLookedAt::default())] {
        let rest = &whole[..whole.len() - cut];
        let (read, settings) = read_document(rest, (state(3), state(0))).expect("it is read");
        assert_eq!((read.not_looked_at, settings), (not_looked_at, extras().settings));
    }
}

#[track_caller]
fn check_refused(content: &[u8], problem: Expect) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("file");
    std::fs::write(&path, content).expect("it is written");
    let text = Plan::load(&path, &Seals::default()).expect_err("it is refused").to_string();
    problem.assert_eq(&text.replace(&folder.path().display().to_string(), "FOLDER"));
}

#[test]
fn what_is_no_plan_is_refused() {
    let missing =
        Plan::load(Path::new("does/not/exist"), &Seals::default()).expect_err("it is refused");
    assert_eq!(missing.summary, "Failed to load \"does/not/exist\" as a plan file");
    check_refused(
        b"hello",
        expect![[
            r#"Failed to load "FOLDER/file" as a plan file: Error: the given file is not a valid plan file"#
        ]],
    );

    let zip = |entries: &[(&str, &[u8])]| {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, content) in entries {
            zip.start_file(*name, SimpleFileOptions::default()).expect("an entry");
            zip.write_all(content).expect("it is written");
        }
        zip.finish().expect("it is written").into_inner()
    };
    check_refused(
        &zip(&[("x", b"")]),
        expect![[
            r#"Failed to load "FOLDER/file" as a plan file: Error: the given file is not a valid plan file"#
        ]],
    );
    let state = write_compact(&state(1));
    let with = |plan: &[u8]| {
        zip(&[("tfplan", plan), ("tfstate", state.as_bytes()), ("tfstate-prev", b"")])
    };
    check_refused(
        &with(b"\x08\x03"),
        expect![[
            r#"Failed to load "FOLDER/file" as a plan file: Error: the plan file was made by another program; plan files cannot be shared between programs"#
        ]],
    );
    check_refused(
        &with(b"entail plan\n0.0.1 1.0.0\n"),
        expect![[
            r#"Failed to load "FOLDER/file" as a plan file: Error: plan file was created by version 0.0.1 1.0.0, but this is 0.1.0 1.12.6; plan files cannot be transferred between different versions"#
        ]],
    );
    check_refused(
        &with(b"entail plan\n0.1.0 1.12.6\nxyz"),
        expect![[
            r#"Failed to load "FOLDER/file" as a plan file: Error: the plan file is invalid"#
        ]],
    );
    let mut stray = vec![("tfplan", &b""[..]), ("tfstate", b""), ("tfstate-prev", b"")];
    stray.push(("tfconfig//etc/stray.tf", b""));
    check_refused(
        &zip(&stray),
        expect![[
            r#"Failed to load "FOLDER/file" as a plan file: Error: the plan file holds an entry "tfconfig//etc/stray.tf", which no plan does"#
        ]],
    );
}

#[test]
fn whatever_is_changed_in_a_signed_plan_is_noticed() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = |name: &str, bytes: [u8; 32]| {
        let pem = ed25519_dalek::SigningKey::from_bytes(&bytes).to_pkcs8_pem(LineEnding::LF);
        std::fs::write(folder.path().join(name), pem.expect("a key").as_bytes()).expect("written");
        folder.path().join(name)
    };
    let (mine, other) = (key("mine", [7; 32]), key("other", [8; 32]));
    let signing = SigningKey::read(&mine).expect("a key");
    let bytes = archive(&plan(), &extras(), Some(&signing)).expect("it is written");
    let signer = read_packed(&bytes, MOST_UNPACKED).expect("it is whole").1.signer;
    assert_eq!(signer, Some(signing.signer()));
    Trusted::read(&mine).expect("keys").check(signer).expect("it is trusted");
    let other = Trusted::read(&other).expect("keys");
    let refused = other.check(signer).expect_err("it is another's");
    assert!(refused.detail.contains(&signing.signer().to_string()), "{refused:?}");
    other.check(None).expect_err("it has none");

    let mut zip = ZipArchive::new(Cursor::new(&bytes[..])).expect("an archive");
    let mut whole = BTreeMap::new();
    for at in 0..zip.len() {
        let mut entry = zip.by_index(at).expect("an entry");
        let mut content = Vec::new();
        entry.read_to_end(&mut content).expect("it is read");
        whole.insert(entry.name().expect("text").into_owned(), content);
    }
    drop(zip);
    let packed = |entries: &BTreeMap<String, Vec<u8>>| {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, content) in entries {
            zip.start_file(name.as_str(), SimpleFileOptions::default()).expect("an entry");
            zip.write_all(content).expect("it is written");
        }
        zip.finish().expect("it is written").into_inner()
    };
    assert!(read_packed(&packed(&whole), MOST_UNPACKED).is_ok());
    for name in whole.keys() {
        let mut changed = whole.clone();
        changed.entry(name.clone()).and_modify(|it| it.push(b' '));
        assert!(read_packed(&packed(&changed), MOST_UNPACKED).is_err(), "{name} is longer");
    }
    let mut more = whole.clone();
    more.insert("tfconfig/more.tf".into(), Vec::new());
    assert!(read_packed(&packed(&more), MOST_UNPACKED).is_err());
    // Without a signature it is a plan that nobody has signed.
    whole.remove("signature");
    assert_eq!(read_packed(&packed(&whole), MOST_UNPACKED).expect("it is a plan").1.signer, None);
}

#[test]
fn an_archive_that_unpacks_to_more_than_any_plan_is_refused() {
    let facts = [("zeros".into(), vec![0; 3 << 20])].into();
    let bytes = archive(&plan(), &PlanExtras { facts, ..extras() }, None).expect("it is written");
    assert!(bytes.len() < 1 << 20, "it is packed well");
    assert_eq!(read_packed(&bytes, 4 << 20).map(drop), Ok(()));
    assert_eq!(
        read_packed(&bytes, 2 << 20).map(drop),
        Err("the plan file holds more than 2 MB when unpacked, which no plan does".into())
    );
}

#[test]
fn a_plan_file_is_one_archive_and_nothing_else() {
    let bytes = archive(&plan(), &extras(), None).expect("it is written");
    let around = [[b"x", &bytes[..]].concat(), [&bytes[..], b"x"].concat(), bytes.repeat(2)];
    for other in around {
        let problem = read_packed(&other, MOST_UNPACKED).map(drop).expect_err("it is refused");
        assert!(problem.to_string().contains("more than one archive"), "{problem}");
    }
    // A second entry of a name that the library does not show.
    let mut twice = bytes.clone();
    let end = twice.len() - 22;
    twice[end + 10] += 1;
    assert!(read_packed(&twice, MOST_UNPACKED).is_err());
}

#[test]
fn an_entry_has_the_same_name_in_its_header_and_in_the_directory() {
    let mut bytes = archive(&plan(), &extras(), None).expect("an archive");
    // The local headers come before the directory.
    let name = bytes.windows(12).position(|it| it == b"tfstate-prev").expect("the entry");
    bytes[name + 8..name + 12].copy_from_slice(b"next");
    let problem = Plan::read(&bytes).expect_err("two names").to_string();
    assert!(problem.contains("has another name in its own header"), "{problem}");
    bytes[name + 8..name + 12].copy_from_slice(b"prev");
    Plan::read(&bytes).expect("one name");
}

#[test]
fn a_plan_fits_only_the_snapshot_it_was_made_from() {
    let check =
        |plan: &Plan, current: Option<&State>| plan.check_current(current).map_err(|it| it.summary);
    let plan = plan();
    assert_eq!(check(&plan, Some(&state(3))), Ok(()));
    assert_eq!(check(&plan, Some(&state(4))), Err("Saved plan is stale".into()));
    assert_eq!(check(&plan, None), Err("Saved plan does not match the given state".into()));
    let other = State { lineage: "other".into(), ..state(3) };
    assert_eq!(check(&plan, Some(&other)), Err("Saved plan does not match the given state".into()));

    let changed = State { outputs: Default::default(), ..state(3) };
    assert!(
        plan.check_content(&changed).is_err() && plan.check_content(&plan.previous_state).is_ok()
    );

    let first = Plan { prior_state: State::default(), ..plan };
    let appeared = State { serial: 0, ..changed };
    assert_eq!(check(&first, Some(&appeared)), Err("Saved plan is stale".into()));
    assert_eq!(check(&first, None), Ok(()));
    assert_eq!(check(&first, Some(&state(1))), Err("Saved plan is stale".into()));
}
