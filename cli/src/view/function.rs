//! What a function takes and gives, as JSON: in diagnostics and in `metadata functions -json`.

use std::collections::BTreeMap;

use entail::expression::functions::{self, Function, Parameter, REMOVED, SPECIAL, Special};
use entail::value::json::type_to_json;
use serde::Serialize;
use serde_json::value::RawValue;

/// The signature of a function that failed.
#[derive(Serialize)]
pub struct SignatureForm {
    name: String,
    params: Vec<ParameterForm>,
    #[serde(skip_serializing_if = "Option::is_none")]
    variadic_param: Option<ParameterForm>,
    return_type: Box<RawValue>,
}

#[derive(Serialize)]
struct ParameterForm {
    name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'static str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_nullable: bool,
    #[serde(rename = "type")]
    ty: Box<RawValue>,
}

#[derive(Serialize)]
struct DescriptionForm {
    description: &'static str,
    return_type: Box<RawValue>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parameters: Vec<ParameterForm>,
    #[serde(skip_serializing_if = "Option::is_none")]
    variadic_parameter: Option<ParameterForm>,
}

#[derive(Serialize)]
struct Document {
    format_version: &'static str,
    function_signatures: BTreeMap<String, DescriptionForm>,
}

/// Returns the signature of a function by the name it was called by; nothing where it is none of the language's own.
pub fn signature(called_as: &str) -> Option<SignatureForm> {
    let base = called_as.strip_prefix("core::").unwrap_or(called_as);
    let (params, variadic_param, return_type) = match functions::find(base) {
        Some(it) => (
            parameters(it),
            it.variadic.as_ref().map(parameter),
            raw(type_to_json(it.usual_type())),
        ),
        None => {
            let it = SPECIAL.iter().find(|it| it.name == base)?;
            (
                it.parameters.iter().map(parameter).collect(),
                it.variadic.as_ref().map(parameter),
                raw(type_to_json(it.returns.ty())),
            )
        }
    };
    // What failed says itself whether null was the matter.
    let plain = |it: ParameterForm| ParameterForm { is_nullable: false, ..it };
    Some(SignatureForm {
        name: base.to_owned(),
        params: params.into_iter().map(plain).collect(),
        variadic_param: variadic_param.map(plain),
        return_type,
    })
}

/// Describes every function of the language, each also under its full name.
pub fn all() -> String {
    let functions = functions::all().into_iter();
    let ordinary = functions.filter(|it| !REMOVED.contains(&it.name));
    let signatures = ordinary
        .flat_map(|it| names(it.name).map(|name| (name, description(it))))
        .chain(SPECIAL.iter().flat_map(|it| names(it.name).map(|name| (name, special(it)))));
    let document = Document { format_version: "1.0", function_signatures: signatures.collect() };
    // The document has string keys only, so serialising it cannot fail.
    super::output::escape_html(&serde_json::to_string(&document).unwrap_or_default())
}

fn names(name: &str) -> [String; 2] {
    [name.to_owned(), format!("core::{name}")]
}

fn description(function: &Function) -> DescriptionForm {
    DescriptionForm {
        description: function.description,
        return_type: result(function),
        parameters: parameters(function),
        variadic_parameter: function.variadic.as_ref().map(parameter),
    }
}

fn special(it: &Special) -> DescriptionForm {
    DescriptionForm {
        description: it.description,
        return_type: raw(type_to_json(it.returns.ty())),
        parameters: it.parameters.iter().map(parameter).collect(),
        variadic_parameter: it.variadic.as_ref().map(parameter),
    }
}

fn parameters(function: &Function) -> Vec<ParameterForm> {
    function.parameters.iter().map(parameter).collect()
}

fn parameter(it: &Parameter) -> ParameterForm {
    ParameterForm {
        name: it.name,
        description: it.about,
        is_nullable: it.null,
        ty: raw(type_to_json(it.shape.ty())),
    }
}

fn result(function: &Function) -> Box<RawValue> {
    raw(type_to_json(function.usual_type()))
}

fn raw(json: String) -> Box<RawValue> {
    RawValue::from_string(json).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn a_signature_names_parameters_and_their_types() {
        let json = |name| serde_json::to_string(&signature(name)).expect("JSON");
        expect![[r#"{"name":"join","params":[{"name":"separator","description":"What stands between two elements.","type":"string"}],"variadic_param":{"name":"lists","description":"Lists of strings, one or more.","type":["list","string"]},"return_type":"string"}"#]]
            .assert_eq(&json("core::join"));
        expect!["null"].assert_eq(&json("nosuch"));
    }

    #[test]
    fn every_function_is_described_under_both_names() {
        let text = all();
        assert!(text.contains(r#""core::upper":{"description""#) && text.contains(r#""upper":{"#));
        assert!(text.contains(r#""core::try":{"#) && !text.contains(r#""map":{"#));
    }
}
