//! The table of functions as a whole, and functions whose results the corpus cannot hold.

use super::super::functions::{Failure, all, find};
use super::super::*;
use super::support::{Known, check, shown_in, value_of};
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::schema::{FunctionParameter, FunctionSignature};
use crate::syntax::Name;
use crate::value::{Marks, Type, Value};
use crate::world::World;

#[test]
fn every_function_says_what_it_does() {
    assert!(all().len() > 120);
    for function in all() {
        assert!(function.description.ends_with('.'), "{} has no sentence", function.name);
        assert!(find(function.name).is_some());
    }
}

#[test]
fn no_function_loses_where_an_unknown_value_comes_from() {
    let origin = Marks { early: true, ..Marks::read(7) };
    let scope = Known::usual();
    let mut calls = 0;
    for function in all() {
        let parameters = function.parameters.iter().chain(&function.variadic);
        let arguments: Vec<Value> =
            parameters.map(|it| Value::unknown(it.shape.ty()).mark(&origin)).collect();
        let Ok(value) = function.invoke(&arguments, &scope, 0) else { continue };
        if !arguments.is_empty() && !value.is_known() {
            assert_eq!(value.marks().provenance(), origin, "{} of {arguments:?}", function.name);
            calls += 1;
        }
    }
    assert!(calls > 90, "{calls}");
}

#[test]
fn core_is_a_namespace_of_all_functions() {
    check(
        r#"
        core::upper("a") => "A"
        core::try([][0], 2) => 2
        "#,
    );
}

#[test]
fn a_class_may_begin_like_a_named_set_without_being_one() {
    check(
        r#"
        regex("[[:]+", "a:[b") => ":["
        replace("a:b", "/[[:]/", "-") => "a-b"
        regex("[[:digit:]:]+", "a1:2") => "1:2"
        can(regex("[[::]]", "a")) => false
        "#,
    );
}

#[test]
fn a_hyphen_may_stand_anywhere_in_a_class() {
    check(
        r#"
        regex("[a-z0-9-_]+", "+a-_9") => "a-_9"
        regex("[\\w-.]+", "+a-_.") => "a-_."
        regex("[a-z--]+", "+a-") => "a-"
        regex("[+--]+", ".,-+") => ",-+"
        can(regex("[_-9]", "a")) => false
        "#,
    );
}

#[test]
fn a_block_of_yaml_may_end_with_the_document() {
    check(
        r#"
        jsonencode(yamldecode("a: |\n  b")) => "{\"a\":\"b\"}"
        jsonencode(yamldecode("a: |\n  b\n  ")) => "{\"a\":\"b\\n\"}"
        jsonencode(yamldecode("a: |\n  b\n    ")) => "{\"a\":\"b\\n  \"}"
        jsonencode(yamldecode("a: |2\n    b\n   ")) => "{\"a\":\"  b\\n \"}"
        jsonencode(yamldecode("a: |+\n  b\n\n")) => "{\"a\":\"b\\n\\n\"}"
        jsonencode(yamldecode("a: |+\n  b\n\n ")) => "{\"a\":\"b\\n\\n\"}"
        jsonencode(yamldecode("a: |+\n  b")) => "{\"a\":\"b\"}"
        jsonencode(yamldecode("a: |-\n  b")) => "{\"a\":\"b\"}"
        jsonencode(yamldecode("a: >\n  b\n  c")) => "{\"a\":\"b c\"}"
        jsonencode(yamldecode("- |")) => "[null]"
        jsonencode(yamldecode("- |+\n")) => "[null]"
        jsonencode(yamldecode("? |\n  a")) => "{\"a\":null}"
        jsonencode(yamldecode(">+ # x\n a\n\n  b\n  ")) => "\"a\\n\\n b\\n \""
        can(yamldecode("[!!str, a]")) => false
        "#,
    );
}

#[test]
fn templates_render_templates_up_to_a_limit() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    std::fs::write(folder.path().join("loop.tmpl"), "${templatefile(\"loop.tmpl\", {})}")
        .expect("the folder is writable");
    let shown = shown_in(r#"templatefile("loop.tmpl", {})"#, &Known::at(folder.path()));
    assert!(shown.contains("maximum recursion depth 1024 reached in"), "{shown}");
}

#[test]
fn files_are_read_from_the_root_folder() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    std::fs::create_dir_all(folder.path().join("a/b")).expect("the folder is writable");
    for name in ["x.txt", "a/y.txt", "a/b/z.txt", "a/b/z.md"] {
        std::fs::write(folder.path().join(name), "hello ${name}").expect("the folder is writable");
    }
    let scope = Known::at(folder.path());
    for (text, wanted) in [
        (r#"file("x.txt")"#, r#""hello ${name}""#),
        (r#"templatefile("x.txt", {name = "you"})"#, r#""hello you""#),
        (r#"join(" ", fileset(".", "**/*.txt"))"#, r#""a/b/z.txt a/y.txt x.txt""#),
        (r#"join(" ", fileset("a", "{y,b/*}.*"))"#, r#""b/z.md b/z.txt y.txt""#),
        (r#"fileexists("a/q.txt")"#, "false"),
    ] {
        assert_eq!(shown_in(text, &scope), wanted, "the value of {text}");
    }
}

/// A scope with one provider function.
struct WithProvider(Known);

impl Scope for WithProvider {
    fn declared(&self, what: Declared<'_>, ask: Ask<'_>) -> Result<Value, Diagnostics> {
        self.0.declared(what, ask)
    }

    fn world(&self) -> &World {
        self.0.world()
    }

    fn provider_function(&self, name: &Name) -> Result<Arc<FunctionSignature>, Diagnostic> {
        match &*name.text {
            "provider::p::double" => Ok(Arc::new(FunctionSignature {
                parameters: vec![FunctionParameter::of("n", Type::NUMBER)],
                variadic: None,
                returns: Type::NUMBER,
                summary: None,
                description: None,
            })),
            _ => Err(unknown_function(name, name.span)),
        }
    }

    fn call_provider_function(&self, _: &Name, arguments: &[Value]) -> Result<Value, Failure> {
        match arguments[0].as_int() {
            Some(number @ 0..) => Ok(Value::int(number * 2)),
            _ => Err(Failure::argument(0, "only whole numbers from 0")),
        }
    }
}

#[test]
fn functions_of_providers_are_called_with_converted_arguments() {
    let scope = WithProvider(Known::usual());
    let value = |text: &str| {
        let (value, problems) = value_of(text, &scope);
        let words: Vec<String> = problems.iter().map(ToString::to_string).collect();
        format!("{} {}", print::format_value(&value), words.join(" ")).trim().to_owned()
    };
    assert_eq!(value("provider::p::double(\"4\")"), "8");
    assert_eq!(value("provider::p::double(var.later_number)"), "(known after apply)");
    assert_eq!(
        value("provider::p::double(-1)"),
        "(known after apply) Invalid function argument: Invalid value for \"n\" parameter: only whole numbers from 0."
    );
    assert!(value("provider::p::nothing()").contains("Call to unknown function"));
}
