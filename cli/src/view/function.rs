//! What a function takes and gives, as JSON: in diagnostics and in `metadata functions -json`.

use std::collections::BTreeMap;

use entail::expression::functions::{self, FORMS, Form, Function, GONE, Parameter};
use entail::value::json::type_to_json;
use serde::Serialize;
use serde_json::value::RawValue;

/// The signature of a function that failed.
#[derive(Serialize)]
pub struct SignatureForm {
    name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
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
    let function = functions::find(called_as.strip_prefix("core::").unwrap_or(called_as))?;
    Some(SignatureForm {
        name: function.name.to_owned(),
        params: parameters(function),
        variadic_param: function.variadic.as_ref().map(parameter),
        return_type: result(function),
    })
}

/// Describes every function of the language, each also under its full name.
pub fn all() -> String {
    let functions = functions::all().into_iter().filter(|it| !GONE.contains(&it.name));
    let signatures = functions
        .flat_map(|it| names(it.name).map(|name| (name, description(it))))
        .chain(FORMS.iter().flat_map(|it| names(it.name).map(|name| (name, form(it)))));
    let document = Document { format_version: "1.0", function_signatures: signatures.collect() };
    // The document has string keys only, so serialising it cannot fail.
    super::output::escape_html(&serde_json::to_string(&document).unwrap_or_default())
}

fn names(name: &str) -> [String; 2] {
    [name.to_owned(), format!("core::{name}")]
}

fn form(form: &Form) -> DescriptionForm {
    let parameter = parameter(&Parameter::any(form.parameter));
    let (parameters, variadic_parameter) = match form.variadic {
        true => (Vec::new(), Some(parameter)),
        false => (vec![parameter], None),
    };
    let return_type = raw(type_to_json(form.returns.ty()));
    DescriptionForm { description: form.description, return_type, parameters, variadic_parameter }
}

fn description(function: &Function) -> DescriptionForm {
    DescriptionForm {
        description: function.description,
        return_type: result(function),
        parameters: parameters(function),
        variadic_parameter: function.variadic.as_ref().map(parameter),
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
