//! States in, states and lines out.

use expect_test::{Expect, expect};
use pretty_assertions::assert_eq;

use super::*;
use crate::state::{names, read};

/// A state of these instances; each has its address as id. `a <- b, c` says that a rests on b and c.
fn state(lines: &[&str]) -> State {
    let mut state = State::default();
    for line in lines {
        let (name, rests_on) = line.split_once(" <- ").unwrap_or((line, ""));
        let rests_on: Vec<Str> =
            rests_on.split(", ").filter(|it| !it.is_empty()).map(Str::from).collect();
        let address = names::instance(name).expect("an address");
        let text = format!(
            r#"{{"version": 4, "resources": [{{"mode": "managed", "type": "x", "name": "x", "provider": "provider[\"r.io/x/y\"]",
                "instances": [{{"attributes": {{"id": {name:?}}}}}]}}]}}"#
        );
        let one = read::read(text.as_bytes()).expect("it is read").expect("it is there");
        let mut object =
            one.instances().next().and_then(|it| it.2.current.clone()).expect("an object");
        let block =
            |it: &Str| Str::from(names::instance(it).expect("an address").config().to_string());
        object.dependencies = rests_on.iter().map(block).collect();
        object.reads = Some(rests_on.into());
        let resource = one.resources.values().next().expect("a resource");
        let resource = state.resources.served_by(address.of(), &resource.provider);
        let instances = &mut resource.instances;
        instances.or_default(address.key).current = Some(object);
    }
    state
}

fn show_state(state: &State) -> String {
    let line = |(address, _, instance): (Instance, &ResourceState, &InstanceState)| {
        let object = instance.current.as_ref().expect("an object");
        let tainted = if object.status == Status::Tainted { " tainted" } else { "" };
        let id = object_id(object).expect("an id");
        let reads = object.reads.clone().unwrap_or_default().join(", ");
        format!(
            "{address}{tainted} (was {id}) depends on [{}], read [{reads}]",
            object.dependencies.join(", ")
        )
    };
    state.instances().map(line).collect::<Vec<_>>().join("\n")
}

/// Reads an address as a command line has it.
fn target(text: &str) -> Target {
    if let Some(module) = names::module(text).filter(|it| !it.is_root()) {
        return Target::Module(module);
    }
    let address = names::instance(text).expect("an address");
    if address.key == InstanceKey::None {
        Target::Resource(address.of())
    } else {
        Target::Instance(address)
    }
}

fn text(result: Result<Vec<String>, Diagnostics>) -> String {
    match result {
        Ok(lines) => lines.join("\n"),
        Err(problems) => problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
    }
}

#[track_caller]
fn check_list(filters: &[&str], id: Option<&str>, expected: Expect) {
    let state = state(&[
        "t.n[10]",
        "t.n[9]",
        "module.m[\"k\"].t.n",
        "module.m[\"l\"].module.i.t.n",
        "data.t.d",
    ]);
    let filters: Vec<Target> = filters.iter().map(|it| target(it)).collect();
    let found = list(&state, &filters, id).map(|it| it.iter().map(ToString::to_string).collect());
    expected.assert_eq(&text(found));
}

#[test]
fn instances_are_listed_by_module_resource_and_id() {
    check_list(
        &[],
        None,
        expect![[r#"
        data.t.d
        t.n[9]
        t.n[10]
        module.m["k"].t.n
        module.m["l"].module.i.t.n"#]],
    );
    check_list(
        &["module.m"],
        None,
        expect![[r#"
        module.m["k"].t.n
        module.m["l"].module.i.t.n"#]],
    );
    check_list(
        &["module.m[\"l\"]", "t.n", "t.n[9]"],
        None,
        expect![[r#"
        module.m["l"].module.i.t.n
        t.n[9]
        t.n[10]
        t.n[9]"#]],
    );
    check_list(&[], Some("t.n[9]"), expect!["t.n[9]"]);
    check_list(
        &["module.x", "t.x", "t.n[1]"],
        None,
        expect![[r#"
            Unknown module: The current state contains no module at module.x. If you've just added this module to the configuration, you must run "entail apply" first to create the module's entry in the state.
            Unknown resource: The current state contains no resource t.x. If you've just added this resource to the configuration, you must run "entail apply" first to create the resource's entry in the state.
            Unknown resource instance: The current state contains no resource instance t.n[1]. If you've just added its resource to the configuration or have changed the count or for_each arguments, you must run "entail apply" first to update the resource's entry in the state."#]],
    );
}

#[track_caller]
fn check_change(
    lines: &[&str],
    change: impl FnOnce(&mut State) -> Result<Vec<String>, Diagnostics>,
    expected: Expect,
) {
    let mut state = state(lines);
    let said = text(change(&mut state));
    expected.assert_eq(&format!("{said}\n--\n{}", show_state(&state)));
}

#[test]
fn what_rested_on_a_forgotten_object_rests_on_what_that_rested_on() {
    let lines = ["t.a", "t.b[0] <- t.a", "t.c <- t.b[0]", "t.d <- t.c, t.a"];
    check_change(
        &lines,
        |state| remove(state, &[target("t.b"), target("t.c")], Run::Real),
        expect![[r#"
        Removed t.b[0]
        Removed t.c
        Successfully removed 2 resource instance(s).
        --
        t.a (was t.a) depends on [], read []
        t.d (was t.d) depends on [t.a, t.b, t.c], read [t.a]"#]],
    );
    check_change(
        &lines,
        |state| remove(state, &[target("t.b")], Run::Dry),
        expect![[r#"
        Would remove t.b[0]
        --
        t.a (was t.a) depends on [], read []
        t.b[0] (was t.b[0]) depends on [t.a], read [t.a]
        t.c (was t.c) depends on [t.b], read [t.b[0]]
        t.d (was t.d) depends on [t.c, t.a], read [t.c, t.a]"#]],
    );
    check_change(
        &["t.a"],
        |state| remove(state, &[target("t.x")], Run::Real),
        expect![[r#"
            Invalid target address: No matching objects found. To view the available instances, use "entail state list". Please modify the address to reference a specific instance.
            --
            t.a (was t.a) depends on [], read []"#]],
    );
}

#[track_caller]
fn check_mv(lines: &[&str], from: &str, to: &str, expected: Expect) {
    check_change(lines, |state| mv(state, None, (&target(from), &target(to)), Run::Real), expected);
}

#[test]
fn an_instance_moves_with_what_others_know_of_it() {
    check_mv(
        &["t.a", "t.b <- t.a"],
        "t.a",
        "t.n[\"k\"]",
        expect![[r#"
        Move "t.a" to "t.n[\"k\"]"
        Successfully moved 1 object(s).
        --
        t.b (was t.b) depends on [], read [t.n["k"]]
        t.n["k"] (was t.a) depends on [], read []"#]],
    );
    check_mv(
        &["t.a[0]", "t.a[1]", "t.b"],
        "t.a[1]",
        "module.m.t.a",
        expect![[r#"
        Move "t.a[1]" to "module.m.t.a"
        Successfully moved 1 object(s).
        --
        t.a[0] (was t.a[0]) depends on [], read []
        t.b (was t.b) depends on [], read []
        module.m.t.a (was t.a[1]) depends on [], read []"#]],
    );
}

#[test]
fn resources_and_modules_move_whole() {
    check_mv(
        &["t.a[0]", "t.a[1]"],
        "t.a",
        "t.b",
        expect![[r#"
        Move "t.a" to "t.b"
        Successfully moved 1 object(s).
        --
        t.b[0] (was t.a[0]) depends on [], read []
        t.b[1] (was t.a[1]) depends on [], read []"#]],
    );
    check_mv(
        &["module.m.t.a", "module.m.module.i[0].t.b <- module.m.t.a", "t.x"],
        "module.m",
        "module.n[\"k\"]",
        expect![[r#"
        Move "module.m" to "module.n[\"k\"]"
        Move "module.m.module.i[0]" to "module.n[\"k\"].module.i[0]"
        Successfully moved 2 object(s).
        --
        t.x (was t.x) depends on [], read []
        module.n["k"].t.a (was module.m.t.a) depends on [], read []
        module.n["k"].module.i[0].t.b (was module.m.module.i[0].t.b) depends on [], read [module.n["k"].t.a]"#]],
    );
}

#[test]
fn moves_that_make_no_sense_are_refused() {
    let lines = ["t.a", "t.b[0]", "module.m.t.a", "module.n.t.a"];
    let refused = |from: &str, to: &str| {
        let mut state = state(&lines);
        let before = show_state(&state);
        let said = text(mv(&mut state, None, (&target(from), &target(to)), Run::Real));
        assert_eq!(show_state(&state), before);
        said
    };
    let all = [
        refused("t.x", "t.y"),
        refused("t.x[0]", "t.y"),
        refused("t.a", "u.a"),
        refused("t.a", "data.t.a"),
        refused("t.a", "t.b[0]"),
        refused("t.a", "module.m"),
        refused("t.b", "t.a"),
        refused("t.b", "t.c[0]"),
        refused("module.m", "t.c"),
        refused("module.m", "module.n"),
        refused("module.x", "module.y"),
    ];
    expect![[r#"
        Invalid source address: Cannot move t.x: does not match anything in the current state.
        Invalid source address: The current state does not contain t.x[0].
        Invalid state move request: Cannot move t.a to u.a: resource types don't match.
        Invalid state move request: Cannot move t.a to data.t.a: a managed resource can be moved only to another managed resource address.
        Invalid target address: Cannot move to t.b[0]: there is already a resource instance at that address in the current state.
        Invalid target address: Cannot move t.a to module.m: the target must also be a resource instance.
        Invalid target address: Cannot move to t.a: there is already a resource at that address in the current state.
        Invalid target address: Cannot move t.b to t.c[0]: the source is a whole resource (not a resource instance) so the target must also be a whole resource.
        Invalid target address: Cannot move module.m to t.c: the target must also be a module.
        Destination module already exists: Please ensure your addresses and state paths are valid. No state was persisted. Your existing states are untouched.
        Invalid source address: Cannot move module.x: does not match anything in the current state."#]]
    .assert_eq(&all.join("\n"));
}

#[test]
fn objects_move_to_another_state() {
    let (mut from, mut to) = (state(&["t.a", "t.b"]), state(&["t.x"]));
    let lines = mv(&mut from, Some(&mut to), (&target("t.a"), &target("t.b")), Run::Real)
        .expect("it is moved");
    assert_eq!(lines, ["Move \"t.a\" to \"t.b\"", "Successfully moved 1 object(s)."]);
    assert_eq!(show_state(&from), "t.b (was t.b) depends on [], read []");
    expect![[r#"
        t.b (was t.a) depends on [], read []
        t.x (was t.x) depends on [], read []"#]]
    .assert_eq(&show_state(&to));
}

#[test]
fn objects_are_tainted_and_untainted() {
    let mut state = state(&["t.a"]);
    let address = |text: &str| names::instance(text).expect("an address");
    assert_eq!(
        untaint(&mut state, &address("t.a")).expect_err("it is whole").summary,
        "Resource instance is not tainted"
    );
    assert_eq!(
        taint(&mut state, &address("t.a")),
        Ok("Resource instance t.a has been marked as tainted.".into())
    );
    assert_eq!(show_state(&state), "t.a tainted (was t.a) depends on [], read []");
    assert_eq!(
        untaint(&mut state, &address("t.a")),
        Ok("Resource instance t.a has been successfully untainted.".into())
    );
    for state in [&mut state, &mut State::default()] {
        assert_eq!(
            taint(state, &address("t.x")).expect_err("it is not there").summary,
            "No such resource instance"
        );
    }
}

#[test]
fn a_provider_is_replaced_everywhere() {
    let mut state = state(&["t.a", "t.b[0]", "t.b[1]"]);
    let provider =
        |kind: &str| Provider { host: "r.io".into(), namespace: "x".into(), kind: kind.into() };
    assert_eq!(served_by(&state, &provider("y")).len(), 2);
    assert_eq!(replace_provider(&mut state, &provider("y"), &provider("z")), 2);
    assert!(served_by(&state, &provider("y")).is_empty());
}
