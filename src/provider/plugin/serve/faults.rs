//! What a served provider does wrong, as a script says: for tests of those who must live with it.
//!
//! A script is a list such as `plan=garbage,apply@2=crash-after`: the call, from the how-manieth time on it is (the
//! first, if not said), and the fault.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bytes::Bytes;
use tonic::Status;

use super::LARGEST;
use crate::error::Error;
use crate::provider::plugin::wire::entail::plugin as msg;
use crate::value::msgpack::to_msgpack;
use crate::value::{Type, Value};

/// What goes wrong in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// The process ends before anything is done.
    CrashBefore,
    /// The process ends when everything is done, and nobody was told.
    CrashAfter,
    /// There is no answer.
    Hang,
    /// The answer takes so many milliseconds.
    Slow(u64),
    /// The answer is larger than is taken.
    Oversized,
    /// The value is not msgpack.
    Garbage,
    /// The value is of another type.
    WrongType,
    /// The value is null.
    Null,
    /// The value is unknown.
    Unknown,
    /// There is no value.
    Absent,
    /// The call fails with a status.
    Status,
    /// Problems are told, and the value is given nevertheless.
    Problem,
}

impl Fault {
    fn of(text: &str) -> Option<Fault> {
        Some(match text.split_once(':').unwrap_or((text, "")) {
            ("crash-before", _) => Fault::CrashBefore,
            ("crash-after", _) => Fault::CrashAfter,
            ("hang", _) => Fault::Hang,
            ("slow", milliseconds) => Fault::Slow(milliseconds.parse().ok()?),
            ("oversized", _) => Fault::Oversized,
            ("garbage", _) => Fault::Garbage,
            ("wrong-type", _) => Fault::WrongType,
            ("null", _) => Fault::Null,
            ("unknown", _) => Fault::Unknown,
            ("absent", _) => Fault::Absent,
            ("status", _) => Fault::Status,
            ("problem", _) => Fault::Problem,
            _ => return None,
        })
    }
}

/// The faults of a script, by call.
#[derive(Debug, Default)]
pub struct Faults(BTreeMap<String, (u32, Fault, AtomicU32)>);

impl Faults {
    /// Reads a script.
    ///
    /// # Errors
    ///
    /// Names the part that is not understood.
    pub fn parse(script: &str) -> Result<Faults, Error> {
        let mut faults = BTreeMap::new();
        for part in script.split(',').map(str::trim).filter(|it| !it.is_empty()) {
            let read = part.split_once('=').and_then(|(call, fault)| {
                let (call, from) = call.split_once('@').unwrap_or((call, "1"));
                Some((call.to_owned(), (from.parse().ok()?, Fault::of(fault)?, AtomicU32::new(0))))
            });
            let (call, fault) = read.ok_or_else(|| format!("The fault {part:?} is not known."))?;
            faults.insert(call, fault);
        }
        Ok(Faults(faults))
    }

    fn now(&self, call: &str) -> Option<Fault> {
        let (from, fault, count) = self.0.get(call)?;
        (count.load(Ordering::Relaxed) >= *from).then_some(*fault)
    }

    /// Goes wrong before the call is answered.
    pub(super) async fn before(&self, call: &str) -> Result<(), Status> {
        if let Some((_, _, count)) = self.0.get(call) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        match self.now(call) {
            Some(Fault::CrashBefore) => crash(),
            Some(Fault::Hang) => std::future::pending().await,
            Some(Fault::Slow(milliseconds)) => {
                tokio::time::sleep(Duration::from_millis(milliseconds)).await;
                Ok(())
            }
            Some(Fault::Status) => Err(Status::internal("the script says so")),
            _ => Ok(()),
        }
    }

    /// Goes wrong with the answer.
    pub(super) fn after(&self, call: &str, answer: &mut impl Spoil) -> Result<(), Status> {
        let told = |msgpack: Bytes| Some(msg::DynamicValue { msgpack, json: Bytes::new() });
        let fault = self.now(call);
        if fault == Some(Fault::CrashAfter) {
            crash();
        }
        if fault == Some(Fault::Problem)
            && let Some(problems) = answer.problems()
        {
            problems.push(msg::Diagnostic {
                severity: msg::diagnostic::Severity::Error as i32,
                summary: "Failed as told".into(),
                detail: "The script says so.".into(),
                attribute: None,
            });
        }
        let Some(value) = answer.value() else { return Ok(()) };
        match fault {
            Some(Fault::Oversized) => *value = told(vec![0xc0; LARGEST + 1].into()),
            Some(Fault::Garbage) => *value = told(Bytes::from_static(&[0xc1, 0xc1])),
            Some(Fault::WrongType) => {
                *value = told(to_msgpack(&Value::string("wrong"), Type::STRING).into());
            }
            Some(Fault::Null) => *value = told(Bytes::from_static(&[0xc0])),
            Some(Fault::Unknown) => *value = told(Bytes::from_static(&[0xd4, 0, 0])),
            Some(Fault::Absent) => *value = None,
            _ => {}
        }
        Ok(())
    }
}

/// Ends the process as a program does that has a bug.
fn crash() -> ! {
    use std::io::Write;
    let text = "panic: runtime error: index out of range [1] with length 1\n\ngoroutine 1 [running]:\nmain.main()\n";
    // Nobody may be there to read it.
    let _ = std::io::stderr().write_all(text.as_bytes());
    std::process::exit(2)
}

/// An answer that can be spoiled.
pub(super) trait Spoil {
    /// Its value, where it has one.
    fn value(&mut self) -> Option<&mut Option<msg::DynamicValue>> {
        None
    }

    /// The problems that it tells.
    fn problems(&mut self) -> Option<&mut Vec<msg::Diagnostic>> {
        None
    }
}

macro_rules! spoil {
    ($($message:ident $(. $value:ident)?;)*) => {
        $(impl Spoil for msg::$message::Response {
            $(fn value(&mut self) -> Option<&mut Option<msg::DynamicValue>> {
                Some(&mut self.$value)
            })?
            fn problems(&mut self) -> Option<&mut Vec<msg::Diagnostic>> {
                Some(&mut self.diagnostics)
            }
        })*
    };
}

spoil! {
    get_provider_schema;
    get_resource_identity_schemas;
    get_functions;
    validate_provider_config;
    configure_provider;
    validate_config;
    upgrade_resource_state.upgraded_state;
    upgrade_resource_identity;
    read_resource.new_state;
    plan_resource_change.planned_state;
    apply_resource_change.new_state;
    import_resource_state;
    move_resource_state.target_state;
    read_data_source.state;
    open_ephemeral_resource.result;
    renew_ephemeral_resource;
    close_ephemeral_resource;
}

impl Spoil for msg::stop_provider::Response {}
impl Spoil for msg::call_function::Response {}
