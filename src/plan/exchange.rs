//! The plan as OpenTofu's own library reads it: the entry `tfplan` of plan files that are written under the name of another program.
//!
//! Programs that link that library look into the files. Field numbers are those of its format, version 3. What only this program
//! knows – facts, order, what was left out – is in entries of its own. Plans of other programs are not read.

use std::collections::HashMap;

use prost::Message as _;

use super::file::Exchange;
use super::{Action, Change, OutputChange, Plan, Reason};
use crate::provider::ImportName;
use crate::request::PlanMode;
use crate::state::CheckResult;
use crate::state::write::WRITTEN_VERSION;
use crate::value::msgpack::to_msgpack;
use crate::value::{Path, PathStep, Type, Value};

/// The version of the format.
const VERSION: u64 = 3;

#[derive(Clone, PartialEq, prost::Message)]
struct PlanMessage {
    #[prost(uint64, tag = "1")]
    version: u64,
    #[prost(map = "string, message", tag = "2")]
    variables: HashMap<String, DynamicValue>,
    #[prost(message, repeated, tag = "3")]
    resource_changes: Vec<ResourceChange>,
    #[prost(message, repeated, tag = "4")]
    output_changes: Vec<OutputMessage>,
    #[prost(string, repeated, tag = "5")]
    targets: Vec<String>,
    #[prost(string, repeated, tag = "6")]
    excludes: Vec<String>,
    #[prost(message, optional, tag = "13")]
    backend: Option<BackendMessage>,
    #[prost(string, tag = "14")]
    written_by: String,
    #[prost(message, repeated, tag = "15")]
    relevant_attributes: Vec<ResourceAttribute>,
    #[prost(string, repeated, tag = "16")]
    replaces: Vec<String>,
    #[prost(int32, tag = "17")]
    mode: i32,
    #[prost(message, repeated, tag = "18")]
    resource_drift: Vec<ResourceChange>,
    #[prost(message, repeated, tag = "19")]
    checks: Vec<CheckMessage>,
    #[prost(bool, tag = "20")]
    errored: bool,
    #[prost(string, tag = "21")]
    timestamp: String,
    #[prost(string, repeated, tag = "22")]
    ephemeral_variables: Vec<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct DynamicValue {
    #[prost(bytes = "vec", tag = "1")]
    msgpack: Vec<u8>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct BackendMessage {
    #[prost(string, tag = "1")]
    kind: String,
    #[prost(message, optional, tag = "2")]
    config: Option<DynamicValue>,
    #[prost(string, tag = "3")]
    workspace: String,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ResourceChange {
    #[prost(string, tag = "7")]
    deposed_key: String,
    #[prost(string, tag = "8")]
    provider: String,
    #[prost(message, optional, tag = "9")]
    change: Option<ChangeMessage>,
    #[prost(bytes = "vec", tag = "10")]
    private: Vec<u8>,
    #[prost(message, repeated, tag = "11")]
    replace_paths: Vec<PathMessage>,
    #[prost(int32, tag = "12")]
    reason: i32,
    #[prost(string, tag = "13")]
    address: String,
    #[prost(string, tag = "14")]
    previous_address: String,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ChangeMessage {
    #[prost(int32, tag = "1")]
    action: i32,
    #[prost(message, repeated, tag = "2")]
    values: Vec<DynamicValue>,
    #[prost(message, repeated, tag = "3")]
    secrets_before: Vec<PathMessage>,
    #[prost(message, repeated, tag = "4")]
    secrets_after: Vec<PathMessage>,
    #[prost(message, optional, tag = "5")]
    importing: Option<Importing>,
    #[prost(string, tag = "6")]
    generated_config: String,
    #[prost(message, optional, tag = "7")]
    identity_before: Option<DynamicValue>,
    #[prost(message, optional, tag = "8")]
    identity_after: Option<DynamicValue>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Importing {
    #[prost(string, tag = "1")]
    id: String,
    #[prost(message, optional, tag = "2")]
    identity: Option<DynamicValue>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct OutputMessage {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, optional, tag = "2")]
    change: Option<ChangeMessage>,
    #[prost(bool, tag = "3")]
    sensitive: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ResourceAttribute {
    #[prost(string, tag = "1")]
    resource: String,
    #[prost(message, optional, tag = "2")]
    path: Option<PathMessage>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct PathMessage {
    #[prost(message, repeated, tag = "1")]
    steps: Vec<StepMessage>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct StepMessage {
    #[prost(oneof = "Selector", tags = "1, 2")]
    selector: Option<Selector>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Selector {
    #[prost(string, tag = "1")]
    Attribute(String),
    #[prost(message, tag = "2")]
    Key(DynamicValue),
}

#[derive(Clone, PartialEq, prost::Message)]
struct CheckMessage {
    #[prost(int32, tag = "1")]
    kind: i32,
    #[prost(string, tag = "2")]
    address: String,
    #[prost(int32, tag = "3")]
    status: i32,
    #[prost(message, repeated, tag = "4")]
    objects: Vec<CheckObject>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct CheckObject {
    #[prost(string, tag = "1")]
    address: String,
    #[prost(int32, tag = "2")]
    status: i32,
    #[prost(string, repeated, tag = "3")]
    messages: Vec<String>,
}

/// Writes the entry. The arguments of the backend are not in it.
pub fn write(plan: &Plan, exchange: &Exchange) -> Vec<u8> {
    let message = PlanMessage {
        version: VERSION,
        variables: plan.variables.iter().map(|it| (it.0.to_string(), of_any_type(it.1))).collect(),
        // What only goes from the state is none of its changes.
        resource_changes: plan.changes.iter().filter_map(resource_change).collect(),
        output_changes: plan.outputs.values().filter_map(output_change).collect(),
        targets: plan.targets.clone(),
        excludes: plan.excludes.clone(),
        backend: Some(BackendMessage {
            kind: exchange.backend.clone(),
            config: Some(of_any_type(&Value::NULL)),
            workspace: plan.workspace.clone(),
        }),
        written_by: WRITTEN_VERSION.to_owned(),
        relevant_attributes: plan.relevant_attributes.iter().map(attribute).collect(),
        replaces: plan.replaces.iter().map(ToString::to_string).collect(),
        mode: match plan.mode {
            PlanMode::Normal => 0,
            PlanMode::Destroy => 1,
            PlanMode::RefreshOnly => 2,
        },
        resource_drift: plan.drift.iter().filter_map(resource_change).collect(),
        checks: plan.checks.iter().map(check).collect(),
        errored: plan.errored,
        ephemeral_variables: exchange.ephemeral_variables.clone(),
        timestamp: plan.timestamp.to_rfc3339_opts(chrono::SecondsFormat::Secs, true),
    };
    message.encode_to_vec()
}

fn of_any_type(value: &Value) -> DynamicValue {
    DynamicValue { msgpack: to_msgpack(value, Type::DYNAMIC) }
}

fn of_type(value: &Value, ty: Type) -> DynamicValue {
    DynamicValue { msgpack: to_msgpack(value, ty) }
}

/// Returns the number of an action; nothing for one that the format does not have.
fn action(action: Action) -> Option<i32> {
    Some(match action {
        Action::NoOp => 0,
        Action::Create => 1,
        Action::Read => 2,
        Action::Update => 3,
        Action::Delete => 5,
        Action::DeleteThenCreate => 6,
        Action::CreateThenDelete => 7,
        Action::Forget => 8,
        Action::ForgetThenCreate => 10,
        Action::Drop => return None,
    })
}

fn reason(reason: Reason) -> i32 {
    match reason {
        Reason::ReplaceBecauseTainted => 1,
        Reason::ReplaceByRequest => 2,
        Reason::ReplaceBecauseCannotUpdate => 3,
        Reason::DeleteBecauseNoResourceConfig => 4,
        Reason::DeleteBecauseWrongRepetition => 5,
        Reason::DeleteBecauseCountIndex => 6,
        Reason::DeleteBecauseEachKey => 7,
        Reason::DeleteBecauseNoModule => 8,
        Reason::ReplaceByTriggers => 9,
        Reason::ReadBecauseConfigUnknown => 10,
        Reason::ReadBecauseDependencyPending => 11,
        Reason::DeleteBecauseNoMoveTarget => 12,
        Reason::ReadBecauseCheckNested => 13,
        Reason::DeleteBecauseEnabledFalse => 14,
        Reason::ForgotBecauseLifecycleDestroyInState => 15,
        Reason::ForgotBecauseLifecycleDestroyInConfig => 16,
        _ => 0,
    }
}

fn resource_change(change: &Change) -> Option<ResourceChange> {
    // One of them may be null: the other has the type.
    let ty = if change.after.is_null() { change.before.ty() } else { change.after.ty() };
    let (before, after) = (of_type(&change.before, ty), of_type(&change.after, ty));
    let details = &change.details;
    let changed = ChangeMessage {
        importing: details.importing.as_deref().map(importing),
        generated_config: details.generated_config.as_deref().unwrap_or_default().to_owned(),
        identity_before: details.identity.before().map(of_any_type),
        identity_after: details.identity.after().map(of_any_type),
        ..changed(change.action, (before, after), (&change.before, &change.after))?
    };
    Some(ResourceChange {
        address: change.address.to_string(),
        previous_address: details
            .previous_address
            .as_deref()
            .unwrap_or(&change.address)
            .to_string(),
        deposed_key: change.deposed.as_deref().unwrap_or_default().to_owned(),
        provider: change.served_by.config.to_string(),
        change: Some(changed),
        private: details.private.to_vec(),
        replace_paths: details.replace_paths.iter().map(path).collect(),
        reason: reason(change.reason),
    })
}

fn output_change(change: &OutputChange) -> Option<OutputMessage> {
    let values = (of_any_type(&change.before), of_any_type(&change.after));
    Some(OutputMessage {
        name: change.name.to_string(),
        change: Some(changed(change.action, values, (&change.before, &change.after))?),
        sensitive: change.sensitive,
    })
}

/// Returns a change with the values that its action has.
fn changed(
    done: Action,
    (before, after): (DynamicValue, DynamicValue),
    (old, new): (&Value, &Value),
) -> Option<ChangeMessage> {
    let secrets = |it: &Value| it.mark_paths().sensitive_paths().iter().map(path).collect();
    Some(ChangeMessage {
        action: action(done)?,
        values: match done {
            Action::NoOp | Action::Create => vec![after],
            Action::Delete | Action::Forget => vec![before],
            _ => vec![before, after],
        },
        secrets_before: secrets(old),
        secrets_after: secrets(new),
        ..ChangeMessage::default()
    })
}

fn importing(name: &ImportName) -> Importing {
    match name {
        ImportName::Id(id) => Importing { id: id.clone(), identity: None },
        ImportName::Identity(it) => {
            Importing { id: String::new(), identity: Some(of_any_type(it)) }
        }
    }
}

fn path(path: &Path) -> PathMessage {
    let step = |it: &PathStep| {
        let selector = match it {
            PathStep::Attribute(name) => Selector::Attribute(name.to_string()),
            // The type is told by the value alone.
            PathStep::Index(key) => Selector::Key(of_type(key, key.ty())),
        };
        StepMessage { selector: Some(selector) }
    };
    PathMessage { steps: path.iter().map(step).collect() }
}

fn attribute((resource, of): &(String, Path)) -> ResourceAttribute {
    ResourceAttribute { resource: resource.clone(), path: Some(path(of)) }
}

fn check(result: &CheckResult) -> CheckMessage {
    let status = |it: &str| match it {
        "pass" => 1,
        "fail" => 2,
        "error" => 3,
        _ => 0,
    };
    let objects = result.objects.iter().flatten();
    CheckMessage {
        kind: match &*result.kind {
            "resource" => 1,
            "output" => 2,
            "check" => 3,
            _ => 4,
        },
        address: result.config_address.to_string(),
        status: status(&result.status),
        objects: objects
            .map(|(address, is, messages)| CheckObject {
                address: address.to_string(),
                status: status(is),
                messages: messages.iter().map(ToString::to_string).collect(),
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::plan::file::tests::plan;

    #[test]
    fn the_entry_has_what_the_library_reads() {
        let exchange = Exchange { backend: "s3".into(), ephemeral_variables: vec!["e".into()] };
        let read = PlanMessage::decode(&*write(&plan(), &exchange)).expect("a message");
        assert_eq!(read.ephemeral_variables, ["e"]);
        let changes = read.resource_changes.iter().map(|it| {
            let change = it.change.clone().unwrap_or_default();
            let values = change.values.len();
            let secrets = (change.secrets_before.len(), change.secrets_after.len());
            format!("{} {} {values} {secrets:?} {}", it.address, change.action, it.provider)
        });
        let outputs = read.output_changes.iter().map(|it| format!("{} {}", it.name, it.sensitive));
        let checks =
            read.checks.iter().map(|it| format!("{} {} {}", it.kind, it.address, it.status));
        let all: Vec<String> = changes.chain(outputs).chain(checks).collect();
        let backend = read.backend.clone().unwrap_or_default();
        expect![[r#"
            3 1.12.6 2 2024-05-06T07:08:09Z s3 dev
            module.m[0].t.n["k"] 7 2 (0, 1) provider["r.io/x/y"].by
            module.m[0].t.n["k"] 0 1 (0, 0) provider["r.io/x/y"].by
            o true
            3 check.c 2
        "#]]
        .assert_eq(&format!(
            "{} {} {} {} {} {}\n{}\n",
            read.version,
            read.written_by,
            read.mode,
            read.timestamp,
            backend.kind,
            backend.workspace,
            all.join("\n")
        ));
    }
}
