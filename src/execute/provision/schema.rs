//! The arguments of provisioners and connections, and what is checked of them before anything runs.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::config::{Config, Provisioner, Resource, merge_bodies};
use crate::diagnostic::{Diagnostic, Diagnostics, Sources, left_out};
use crate::expression::body::validate_body;
use crate::expression::{Scope, evaluate_constant};
use crate::install::provisioner_places;
use crate::observe::provisioners::Provisioners;
use crate::schema::{AttributeSchema, BlockSchema};
use crate::syntax::{Attribute, Body};
use crate::value::{Type, Value};
use crate::world::{PROGRAM, World};

use super::external;

/// A provisioner that is built in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    LocalExec,
    RemoteExec,
    File,
}

impl Kind {
    /// Returns the kind with that name.
    pub(super) fn of(provisioner: &Provisioner) -> Option<Kind> {
        match &*provisioner.kind.text {
            "local-exec" => Some(Kind::LocalExec),
            "remote-exec" => Some(Kind::RemoteExec),
            "file" => Some(Kind::File),
            _ => None,
        }
    }

    /// Returns the arguments.
    pub(super) fn schema(self) -> &'static BlockSchema {
        static SCHEMAS: OnceLock<[BlockSchema; 3]> = OnceLock::new();
        let texts = || Type::list(Type::STRING);
        let [local, remote, file] = SCHEMAS.get_or_init(|| {
            [
                of(
                    &["command"],
                    &[
                        ("environment", Type::map(Type::STRING)),
                        ("interpreter", texts()),
                        ("quiet", Type::BOOL),
                        ("working_dir", Type::STRING),
                    ],
                ),
                of(&[], &[("inline", texts()), ("script", Type::STRING), ("scripts", texts())]),
                of(&["destination"], &[("source", Type::STRING), ("content", Type::STRING)]),
            ]
        });
        match self {
            Kind::LocalExec => local,
            Kind::RemoteExec => remote,
            Kind::File => file,
        }
    }
}

/// Returns the arguments of `connection`, those of every type together.
pub(super) fn connection() -> &'static BlockSchema {
    static SCHEMA: OnceLock<BlockSchema> = OnceLock::new();
    const TEXTS: &[&str] = &[
        "type",
        "user",
        "password",
        "timeout",
        "script_path",
        "target_platform",
        "private_key",
        "certificate",
        "host_key",
        "agent_identity",
        "proxy_scheme",
        "proxy_host",
        "proxy_user_name",
        "proxy_user_password",
        "bastion_host",
        "bastion_host_key",
        "bastion_user",
        "bastion_password",
        "bastion_private_key",
        "bastion_certificate",
        "cacert",
    ];
    SCHEMA.get_or_init(|| {
        let typed =
            |names: &[&'static str], ty: Type| names.iter().map(|it| (*it, ty)).collect::<Vec<_>>();
        let optional = [
            typed(TEXTS, Type::STRING),
            typed(&["port", "proxy_port", "bastion_port"], Type::NUMBER),
            typed(&["agent", "https", "insecure", "use_ntlm"], Type::BOOL),
        ];
        of(&["host"], &optional.concat())
    })
}

fn of(required: &[&str], optional: &[(&str, Type)]) -> BlockSchema {
    let required = required.iter().map(|name| {
        ((*name).into(), AttributeSchema { required: true, ..AttributeSchema::of(Type::STRING) })
    });
    let optional = optional.iter().map(|(name, ty)| {
        ((*name).into(), AttributeSchema { optional: true, ..AttributeSchema::of(*ty) })
    });
    BlockSchema {
        attributes: BTreeMap::from_iter(required.chain(optional)),
        ..BlockSchema::default()
    }
}

/// Returns how a provisioner connects: its own `connection` laid over that of the resource, argument by argument.
pub(super) fn connection_of(provisioner: &Provisioner, base: Option<&Body>) -> Option<Body> {
    match (base, &provisioner.connection) {
        (Some(base), Some(own)) => {
            let mut merged = base.clone();
            merge_bodies(&mut merged, own.clone());
            Some(merged)
        }
        (Some(only), None) | (None, Some(only)) => Some(only.clone()),
        (None, None) => None,
    }
}

/// Checks the provisioners of a block before anything is done. Plugins judge what their arguments evaluate to in `scope`; what
/// those of other provisioners evaluate to is seen when they run.
pub async fn check(block: &Resource, plugins: &Provisioners, scope: &dyn Scope) -> Diagnostics {
    let mut problems = Diagnostics::new();
    let mut found = Vec::new();
    let base = block.besides.connection.as_deref();
    for it in &block.besides.provisioners {
        match plugins.plugin(&it.kind.text) {
            Some(plugin) => {
                found.extend(external::check(plugin, it, (plugins, scope)).await);
                found.extend(check_connection_of(it, base));
            }
            None => found.extend(check_one(it, base, plugins.world())),
        }
    }
    for problem in found {
        // A `connection` that several provisioners use is wrong once.
        let is_same =
            |it: &Diagnostic| it.summary == problem.summary && it.subject == problem.subject;
        if !problems.iter().any(is_same) {
            problems.push(problem);
        }
    }
    problems
}

/// Checks one provisioner that is no plugin, and how it connects.
pub(super) fn check_one(
    provisioner: &Provisioner,
    base: Option<&Body>,
    world: &World,
) -> Diagnostics {
    let Some(kind) = Kind::of(provisioner) else {
        let name = &provisioner.kind;
        return unknown_kind(&name.text, ",", world).at(name.span).into();
    };
    if kind != Kind::LocalExec && !cfg!(feature = "ssh") {
        return no_way(provisioner).into();
    }
    let mut problems = validate_body(&provisioner.body, kind.schema());
    let (attributes, _) = provisioner.body.just_attributes();
    problems.extend(match kind {
        Kind::LocalExec => check_local(provisioner, &attributes),
        Kind::RemoteExec => check_remote(provisioner, &attributes),
        Kind::File => check_file(provisioner, &attributes),
    });
    problems.extend(check_connection_of(provisioner, base));
    problems
}

/// Checks how a provisioner connects.
pub(super) fn check_connection_of(provisioner: &Provisioner, base: Option<&Body>) -> Diagnostics {
    let connection = connection_of(provisioner, base);
    connection.map(|it| check_connection(&it)).unwrap_or_default()
}

/// Returns an argument's value, as far as nothing but it has to be known.
fn constant(attributes: &[Attribute], name: &str) -> Option<Value> {
    let attribute = attributes.iter().find(|it| &*it.name.text == name)?;
    evaluate_constant(&attribute.value).ok()
}

/// Returns whether an argument is written, and not as null.
fn is_set(attributes: &[Attribute], name: &str) -> bool {
    attributes.iter().any(|it| &*it.name.text == name)
        && constant(attributes, name).is_none_or(|it| !it.is_null())
}

fn is_empty(attributes: &[Attribute], name: &str) -> bool {
    constant(attributes, name).is_some_and(|it| it.is_null() || it.as_str() == Some(""))
}

fn check_local(provisioner: &Provisioner, attributes: &[Attribute]) -> Diagnostics {
    match is_empty(attributes, "command") {
        true => problem(
            provisioner,
            "Invalid local-exec provisioner command",
            "The command must be a non-empty string.",
        ),
        false => Diagnostics::new(),
    }
}

fn check_remote(provisioner: &Provisioner, attributes: &[Attribute]) -> Diagnostics {
    match ["inline", "script", "scripts"].iter().filter(|it| is_set(attributes, it)).count() {
        1 => Diagnostics::new(),
        _ => problem(
            provisioner,
            "Invalid remote-exec provisioner configuration",
            "Only one of \"inline\", \"script\", or \"scripts\" must be set",
        ),
    }
}

fn check_file(provisioner: &Provisioner, attributes: &[Attribute]) -> Diagnostics {
    let mut problems = Diagnostics::new();
    if is_empty(attributes, "destination") {
        problems.extend(problem(
            provisioner,
            "Invalid file provisioner configuration",
            "The destination must be a non-empty string.",
        ));
    }
    match (is_set(attributes, "source"), is_set(attributes, "content")) {
        (true, true) => {
            problems.extend(problem(provisioner, "Cannot set both 'source' and 'content'", ""));
        }
        (false, false) => {
            problems.extend(problem(provisioner, "Must provide one of 'source' or 'content'", ""));
        }
        _ => {}
    }
    problems
}

/// Connections are checked as far as no type of connection would allow what is written.
fn check_connection(body: &Body) -> Diagnostics {
    let mut problems = validate_body(body, connection());
    let (attributes, _) = body.just_attributes();
    let is_winrm = constant(&attributes, "type").is_some_and(|it| it.as_str() == Some("winrm"));
    let kind = attributes.iter().find(|it| &*it.name.text == "type").filter(|_| is_winrm);
    problems.extend(kind.map(|it| {
        Diagnostic::error("Provisioners no longer support WinRM").at(it.value.span).detail(
            "The type \"winrm\" is not supported. Windows can be reached over SSH: use the type \"ssh\", with target_platform = \"windows\".",
        )
    }));
    problems
}

fn problem(provisioner: &Provisioner, summary: &str, detail: &str) -> Diagnostics {
    Diagnostic::error(summary).at(provisioner.declared).detail(detail).into()
}

/// Returns the provisioners that are neither built in nor plugins, each with its place.
pub fn unknown_kinds(config: &Config, sources: &Sources, plugins: &Provisioners) -> Diagnostics {
    let modules = config.all().map(|it| it.1);
    let listed =
        modules.flat_map(|it| it.resources.values()).flat_map(|it| &it.besides.provisioners);
    let unknown =
        listed.filter(|it| Kind::of(it).is_none() && plugins.plugin(&it.kind.text).is_none());
    let problem = |it: &Provisioner| {
        let place = format!(", at {},", sources.place(it.kind.span));
        unknown_kind(&it.kind.text, &place, plugins.world())
    };
    unknown.map(problem).collect::<Vec<_>>().into()
}

/// A provisioner that is neither built in nor a plugin in one of the folders.
fn unknown_kind(kind: &str, place: &str, world: &World) -> Diagnostic {
    let way_out = provisioner_places(world, kind);
    Diagnostic::error("Missing required provisioner plugin").detail(format!(
        "This configuration requires provisioner plugin {kind:?}{place} which isn't available. Provisioner plugins are not installed by \"{PROGRAM} init\".\n\nhint: {way_out}\nhint: local-exec, remote-exec and file are built in"
    ))
}

/// A provisioner that needs another machine, where the program cannot reach one.
fn no_way(provisioner: &Provisioner) -> Diagnostic {
    let kind = &provisioner.kind.text;
    Diagnostic::error("Provisioner left out of this program")
        .at(provisioner.kind.span)
        .detail(format!("{kind:?} reaches other machines over SSH, and {}.", left_out("ssh")))
}
