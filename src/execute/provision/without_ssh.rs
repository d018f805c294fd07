//! What stands in for `remote-exec` and `file` in a program that was built without the feature `ssh`.

use crate::diagnostic::left_out;
use crate::execute::Context;
use crate::provider::ProviderDiagnostic;
use crate::value::Value;

pub(super) async fn remote_exec(
    _: &Context<'_>,
    _: &Value,
    _: Option<&Value>,
    _: impl Fn(&str),
) -> Result<(), ProviderDiagnostic> {
    Err(refusal("remote-exec"))
}

pub(super) async fn file(
    _: &Context<'_>,
    _: &Value,
    _: Option<&Value>,
) -> Result<(), ProviderDiagnostic> {
    Err(refusal("file"))
}

fn refusal(kind: &str) -> ProviderDiagnostic {
    ProviderDiagnostic::error(format!("{kind} provisioner error"), left_out("ssh"))
}
