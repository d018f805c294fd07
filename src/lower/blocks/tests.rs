//! What a block rests on, by the references that it makes.

use expect_test::{Expect, expect};

use super::*;
use crate::config::tests::{folder, load_folder};
use crate::diagnostic::Sources;
use crate::value::Str;

/// The recorded dependencies of `terraform_data.x`.
#[track_caller]
fn check(files: &str, expected: Expect) {
    let folder = folder(files);
    let (config, problems) = load_folder(folder.path(), &Sources::default());
    assert!(!problems.has_errors(), "{problems:?}");
    let config = config.expect("a configuration");
    let graph = BlockGraph::of(crate::reason::ENGINES[0], &config);
    let x = block(&graph, "x");
    let found = graph.dependencies(x);
    expected.assert_eq(&found.join("\n"));
    // Whatever is held likely, they are the same.
    for at in 0..=found.len() {
        let graph = BlockGraph::of(crate::reason::ENGINES[0], &config);
        let mut likely = found.clone();
        if let Some(other) = likely.get_mut(at) {
            *other = "data.terraform_data.x".into();
        }
        assert_eq!(graph.dependencies_like(x, &likely), found);
    }
}

fn block(graph: &BlockGraph, name: &str) -> usize {
    let name = ResourceName {
        mode: crate::address::Mode::Managed,
        kind: "terraform_data".into(),
        name: name.into(),
    };
    graph.find(VariantId::ROOT, &BlockKey::Resource(name)).expect("a block")
}

const MODULE: &str = r#"
    -- m/main.tf --
    variable "v" { default = 1 }
    resource "terraform_data" "read" { input = var.v }
    resource "terraform_data" "aside" {}
    module "deep" { source = "../deep" }
    output "o" { value = terraform_data.read.id }
    -- deep/main.tf --
    resource "terraform_data" "deep" {}
"#;

fn with(reference: &str) -> String {
    format!(
        r#"
    -- main.tf --
    module "m" {{
      source = "./m"
      count  = 2
    }}
    resource "terraform_data" "x" {{
      input = {reference}
    }}
    {MODULE}"#
    )
}

#[test]
fn one_output_stands_for_what_it_rests_on() {
    check(&with("module.m[0].o"), expect!["module.m.terraform_data.read"]);
}

#[test]
fn a_module_as_a_whole_stands_for_everything_inside() {
    for reference in ["module.m", "module.m[1]", "module.m[*].o", "module.m[length(path.cwd)].o"] {
        check(
            &with(reference),
            expect![[r#"
                module.m.module.deep.terraform_data.deep
                module.m.terraform_data.aside
                module.m.terraform_data.read"#]],
        );
    }
}

fn depending_on(items: &str) -> String {
    with(&format!("1 \n depends_on = [{items}] \n"))
}

#[test]
fn in_depends_on_a_module_is_everything_inside_and_an_output_is_itself() {
    for items in ["module.m", "module.m[0]", "module.m, module.m.o"] {
        check(
            &depending_on(items),
            expect![[r#"
                module.m.module.deep.terraform_data.deep
                module.m.terraform_data.aside
                module.m.terraform_data.read"#]],
        );
    }
    for items in ["module.m.o", "module.m[1].o"] {
        check(&depending_on(items), expect!["module.m.terraform_data.read"]);
    }
}

#[test]
fn calls_are_told_apart_by_whether_everything_in_them_or_around_them_is_depended_on() {
    let folder = folder(&format!(
        r#"
    -- main.tf --
    module "m" {{ source = "./m" }}
    module "n" {{ source = "./m" }}
    module "o" {{ source = "./m" }}
    resource "terraform_data" "x" {{ depends_on = [module.m, module.o.o] }}
    {MODULE}"#
    ));
    let (config, _) = load_folder(folder.path(), &Sources::default());
    let graph = BlockGraph::of(crate::reason::ENGINES[0], &config.expect("a configuration"));
    let calls = graph.all().filter_map(|(_, it)| match it.key {
        BlockKey::Call(name) => Some((it.module, name)),
        _ => None,
    });
    let depended_on = calls.filter(|(module, name)| graph.is_depended_on(*module, name));
    let shown = depended_on.map(|(module, name)| {
        let outer = &graph.modules[module].variant.path.0;
        outer.iter().chain([name]).map(|it| &**it).collect::<Vec<_>>().join(".")
    });
    assert_eq!(shown.collect::<Vec<_>>(), ["m", "m.deep"]);
}

#[test]
fn many_who_depend_on_a_module_refer_to_all_of_it_once() {
    const MANY: usize = 100;
    let users: String = (0..MANY)
        .map(|it| format!("resource terraform_data u{it} {{ depends_on = [module.m] }}\n"))
        .collect();
    let inner: String =
        (0..MANY).map(|it| format!("resource terraform_data r{it} {{}}\n")).collect();
    let files =
        format!("-- main.tf --\nmodule m {{ source = \"./m\" }}\n{users}-- m/main.tf --\n{inner}");
    let folder = folder(&files);
    let (config, _) = load_folder(folder.path(), &Sources::default());
    let graph = BlockGraph::of(crate::reason::ENGINES[0], &config.expect("a configuration"));
    let edges: usize = (0..graph.count()).map(|it| graph.edges(it).len()).sum();
    assert!(edges < 5 * MANY, "{edges} edges");
}

#[test]
fn beyond_the_most_that_are_recorded_are_the_nearest_whoever_was_asked_before() {
    const COUNT: usize = MOST_DEPENDENCIES + 20;
    // Each rests on the two before it, and so on all of them.
    let named = |it: usize| format!("[for r in [{it}] : local.l{it}]");
    let blocks: String = (0..COUNT)
        .map(|it| {
            let before: Vec<String> = (it.saturating_sub(2)..it).map(named).collect();
            format!(
                "resource terraform_data r{it:03} {{ input = [{}] }}\nlocals {{ l{it} = terraform_data.r{it:03}.id }}\n",
                before.join(", ")
            )
        })
        .collect();
    let folder = folder(&format!("-- main.tf --\n{blocks}"));
    let (config, _) = load_folder(folder.path(), &Sources::default());
    let config = config.expect("a configuration");
    let expected = |it: usize| {
        let first = if it > MOST_DEPENDENCIES { it - 2 } else { 0 };
        (first..it).map(|it| format!("terraform_data.r{it:03}")).collect::<Vec<_>>()
    };
    // Held likely, right or wrong, they are the same.
    let right = BlockGraph::of(crate::reason::ENGINES[0], &config);
    for it in (0..COUNT).step_by(9) {
        let x = block(&right, &format!("r{it:03}"));
        let likely: Vec<Str> = expected(it).into_iter().map(Str::from).collect();
        assert_eq!(right.dependencies_like(x, &likely), likely);
        let mut wrong = likely.clone();
        if let Some(last) = wrong.last_mut() {
            *last = "terraform_data.s".into();
        }
        let misled = BlockGraph::of(crate::reason::ENGINES[0], &config);
        assert_eq!(misled.dependencies_like(x, &wrong), likely);
    }
    // Upwards, downwards and in leaps (the step has no divisor in common with the count).
    for step in [1, COUNT - 1, 97] {
        let graph = BlockGraph::of(crate::reason::ENGINES[0], &config);
        for it in (0..COUNT).map(|it| it * step % COUNT) {
            let found = graph.dependencies(block(&graph, &format!("r{it:03}")));
            assert_eq!(found.iter().map(|it| &**it).collect::<Vec<_>>(), expected(it), "r{it:03}");
        }
    }
}

#[test]
fn a_name_that_blocks_share_stands_for_no_other() {
    // Few names, and more than are compared with each other.
    for count in [3, 30] {
        let blocks: String =
            (0..count).map(|it| format!("resource terraform_data r{it:03} {{}}\n")).collect();
        let folder = folder(&format!("-- main.tf --\n{blocks}"));
        let (config, _) = load_folder(folder.path(), &Sources::default());
        let graph = BlockGraph::of(crate::reason::ENGINES[0], &config.expect("a configuration"));
        let name = |it: usize| Str::from(format!("terraform_data.r{it:03}"));
        let names: Vec<Str> = (0..count).map(name).collect();
        let mut blocks: Vec<usize> =
            (0..count).map(|it| block(&graph, &format!("r{it:03}"))).collect();
        assert!(graph.are_called(&blocks, &names));
        blocks[1] = blocks[0];
        assert!(!graph.are_called(&blocks, &names));
    }
}

#[test]
fn blocks_are_alike_that_differ_in_nothing_but_the_resources_they_name() {
    // Of each block the name, what it says, and which one stands for it: itself, or nothing where it does not read all it names.
    let all = [
        ("a", "input = 1", "a"),
        ("b", "input = 1", "a"),
        ("by_alias", "input = 1\n  provider = terraform.other", "a"),
        ("by_another", "input = 1\n  provider = null", "by_another"),
        ("c", "input = 2", "c"),
        ("d", "input = length(jsonencode([terraform_data.a.id, local.l]))", "d"),
        ("e", "input = length(jsonencode([terraform_data.c.id, local.l]))", "d"),
        ("f", "input = length(jsonencode([terraform_data.c.output, local.l]))", "f"),
        ("g", "input = length(jsonencode([terraform_data.c.id, local.m]))", "g"),
        ("h", "input = length(jsonencode([terraform_data.gone.id, local.l]))", ""),
        ("i", "input = length(jsonencode([terraform_data.counted, local.l]))", "i"),
        ("j", "input = length(jsonencode([data.terraform_remote_state.a, local.l]))", "j"),
        ("k", "triggers_replace = 1", "k"),
        ("l", "input = 1\n  lifecycle { ignore_changes = [input] }", "l"),
        ("m", "input = 1\n  lifecycle { ignore_changes = [input] }", "m"),
        ("o", "count = 1\n  input = 1", ""),
        ("p", "input = 1\n  depends_on = [terraform_data.a]", ""),
    ];
    let blocks: String = all
        .map(|(name, says, _)| format!("resource terraform_data {name} {{\n  {says}\n}}\n"))
        .concat();
    let others = "locals {\n  l = 1\n  m = 1\n}\nresource terraform_data counted { count = 2 }\ndata terraform_remote_state a { backend = \"local\" }\n";
    let folder = folder(&format!("-- main.tf --\n{others}{blocks}"));
    let (config, _) = load_folder(folder.path(), &Sources::default());
    let graph = BlockGraph::of(crate::reason::ENGINES[0], &config.expect("a configuration"));
    for (name, _, stands_for_it) in all {
        let first = graph.first_alike(block(&graph, name));
        let first = first.and_then(|it| graph.resource(it as usize));
        let first = first.map_or(String::new(), |it| it.resource.name.to_string());
        assert_eq!(first, stands_for_it, "{name}");
    }
}
