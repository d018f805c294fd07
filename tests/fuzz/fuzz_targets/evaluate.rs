//! Evaluating expressions: whatever they say, there is a value or a problem.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use entail::diagnostic::{Diagnostic, Diagnostics, FileId};
use entail::expression::print::{format_type, format_value};
use entail::expression::{Ask, Declared, Scope, evaluate};
use entail::syntax;
use entail::value::{Marks, Type, Value, json};
use entail::world::World;
use libfuzzer_sys::fuzz_target;

/// A scope with a few variables: known, unknown, sensitive.
struct Known(World);

static SCOPE: LazyLock<Known> = LazyLock::new(|| {
    // Functions that read files find none.
    let nowhere = PathBuf::from("/nowhere");
    let world = World { root: nowhere.clone(), cwd: nowhere, ..World::of_this_process() };
    Known(World { fixed_time: Some(Default::default()), ..world })
});

impl Scope for Known {
    fn declared(&self, what: Declared<'_>, ask: Ask<'_>) -> Result<Value, Diagnostics> {
        let Declared::Variable(name) = what else {
            return Err(Diagnostic::error("Nothing of this kind").at(ask.span).into());
        };
        Ok(match &**name {
            "a" => Value::string("abc"),
            "b" => Value::int(5),
            "c" => Value::list(Type::STRING, vec![Value::string("x"), Value::string("y")]),
            "d" => Value::object([("x".into(), Value::int(1)), ("y".into(), Value::NULL)]),
            "e" => Value::unknown(Type::STRING),
            "f" => Value::unknown(Type::DYNAMIC),
            "g" => Value::unknown(Type::list(Type::NUMBER)),
            _ => Value::string("hush").mark(&Marks::sensitive()),
        })
    }

    fn world(&self) -> &World {
        &self.0
    }
}

fuzz_target!(|text: &str| {
    let text = format!("x = {text}\n");
    let (body, _) = syntax::parse(FileId(1), &text);
    for attribute in &body.attributes {
        let (value, _) = evaluate(&attribute.value, &*SCOPE);
        let bare = value.to_plain();
        let _ = (format_value(&value), format_type(bare.ty()), json::to_json(&bare));
    }
});
