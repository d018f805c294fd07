//! Bytes to a state: reads version 4 itself and leaves older ones to `legacy`.
//!
//! Attributes stay text. Names are shared: a file repeats few of them very often.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::de::DeserializeSeed;
use serde_json::value::RawValue;

use super::recognise::{format_version, is_version, shape_problem, writer_version};
use super::version4::{
    CheckObjectV4, CheckV4, FileV4, ObjectV4, OutputV4, OwnV4, ResourceV4, Rest, Streamed, Text,
};
use super::{
    Attributes, CheckResult, InstanceState, Object, OutputValue, ResourceState, Shared, State,
};
use super::{legacy, names, problems, stored};
use crate::address::{
    Instance, InstanceKey, Keyed, Mode, ModuleInstance, ProviderConfig, Resource, ResourceName,
};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::rarely::Rarely;
use crate::value::{Interner, Str};

mod from_end;
mod members;
pub(super) mod own;
mod parts;
mod texts;

pub use self::from_end::{Backwards, PIECE};
use self::members::{deposed_key, private_data, status};
use self::parts::merged;
use self::texts::Texts;

/// Reads a state file. Empty text is no state: `None`.
pub fn read(bytes: &[u8]) -> Result<Option<State>, Diagnostics> {
    if bytes.is_empty() {
        return Ok(None);
    }
    if bytes.starts_with(b"tfstate") {
        return Err(problems::unsupported(
            "The state is stored in the binary format that programs before version 0.7 wrote.",
        )
        .into());
    }
    let source =
        std::str::from_utf8(bytes).map_err(|error| problems::not_json(error.valid_up_to()))?;
    let version = format_version(source)?;
    match version {
        1..=3 => legacy::read(source, version).map(Some),
        4 => read_version4(source).map(Some),
        _ => Err(problems::unknown_version(version, writer_version(source).as_deref()).into()),
    }
}

/// Reads a state file of many megabytes from its end, and lets go of the text on the way: that needs little more room than the state.
/// Nothing where it is not laid out as it is written, or anything is wrong with it: then [`read`] says what.
pub fn read_from_end(bytes: &mut dyn Backwards) -> Option<State> {
    let mut gathered = Gathered::default();
    let rest = from_end::gather(bytes, &mut gathered)?;
    let file = serde_json::from_slice(&rest).map(|it: Rest<'_>| it.0).ok()?;
    gathered.state(file).ok()
}

fn read_version4(source: &str) -> Result<State, Diagnostics> {
    let mut gathered = Gathered::default();
    let mut file = streamed(source, |it| gathered.resource(&it))
        .map_err(|error| shape_problem(source, &error))?;
    gathered.own(file.entail.as_mut());
    gathered.state(file)
}

/// What a file holds many of.
#[derive(Default)]
struct Gathered {
    reader: Reader,
    resources: Vec<(Resource, Shared<ResourceState>)>,
    made_from: own::Names,
    /// Where resources are read from the last: how much of our own record is of those that are left.
    left: usize,
    problems: Diagnostics,
}

impl Gathered {
    fn resource(&mut self, resource: &ResourceV4<'_>) {
        let own = &self.made_from[..self.left.min(self.made_from.len())];
        let objects = resource.instances.iter().flatten();
        let mut likely = own::Likely::of(own, objects.filter(|it| is_made_from_others(it)).count());
        let read = self.reader.resource(resource, &mut likely);
        self.left = likely.left();
        self.resources.extend(self.problems.take(read));
    }

    /// Takes in our own record.
    fn own(&mut self, own: Option<&mut OwnV4<'_>>) {
        let own = own.and_then(own::complete);
        self.made_from
            .extend(own.into_iter().flat_map(|it| it.0).map(|it| self.reader.names_of(&it)));
    }

    /// Adds what else stands in the file.
    fn state(mut self, file: FileV4<'_>) -> Result<State, Diagnostics> {
        let mut diagnostics = Diagnostics::new();
        let written_by = Text::filled(&file.terraform_version).map(String::from);
        if let Some(version) = written_by.as_deref().filter(|it| !is_version(it)) {
            diagnostics.push(problems::bad_writer(version));
        }

        let mut outputs = BTreeMap::new();
        for (name, output) in file.outputs.unwrap_or_default() {
            if let Some(value) = diagnostics.take(output_from(&name, &output)) {
                outputs.insert(Str::from(name), value);
            }
        }

        diagnostics.extend(self.problems);
        // All of them are known now; the set of names is large.
        drop(self.reader);
        let mut resources = merged(self.resources, &mut diagnostics);
        own::give(&mut resources, &mut self.made_from);

        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        Ok(State {
            lineage: file.lineage.map(|it| it.0.into_owned()).unwrap_or_default(),
            serial: file.serial.unwrap_or_default(),
            written_by,
            outputs,
            resources,
            checks: file.check_results.map(|it| it.into_iter().map(check_from).collect()),
            unconfirmed: file.entail.map(own::unconfirmed).unwrap_or_default(),
        })
    }
}

/// Reads a file, and hands out its resources one by one.
fn streamed<'a>(
    source: &'a str,
    take: impl FnMut(ResourceV4<'a>),
) -> Result<FileV4<'a>, serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_str(source);
    let file = Streamed(take).deserialize(&mut reader)?;
    reader.end()?;
    Ok(file)
}

/// Reads one output of a state file.
pub(super) fn output_from(name: &str, output: &OutputV4<'_>) -> Result<OutputValue, Diagnostic> {
    let ty = output.ty.ok_or_else(|| problems::bad_output_type(name, &"it is missing".into()))?;
    let ty = stored::read_type(ty).map_err(|why| problems::bad_output_type(name, &why))?;
    let value = output.value.map_or("null", RawValue::get);
    let value =
        stored::read_value(value, ty).map_err(|why| problems::bad_output_value(name, &why))?;
    Ok(OutputValue {
        value,
        ty,
        sensitive: output.sensitive.unwrap_or_default(),
        deprecated: Text::filled(&output.deprecated).map(Str::from),
    })
}

fn check_from(check: CheckV4<'_>) -> CheckResult {
    let object = |it: CheckObjectV4<'_>| {
        let messages =
            it.failure_messages.unwrap_or_default().iter().map(|it| Str::from(&*it.0)).collect();
        (Str::from(&*it.object_addr.0), Str::from(&*it.status.0), messages)
    };
    CheckResult {
        kind: Str::from(&*check.object_kind.0),
        config_address: Str::from(&*check.config_addr.0),
        status: Str::from(&*check.status.0),
        objects: check.objects.map(|it| it.into_iter().map(object).collect()),
    }
}

/// Remembers the provider configuration that instances name: all have the same.
fn agree(
    own: &mut Option<Shared<ProviderConfig>>,
    found: Shared<ProviderConfig>,
    address: &Resource,
) -> Result<(), Diagnostic> {
    match own {
        Some(first) if *first != found => Err(problems::provider_conflict(
            &address.to_string(),
            &first.to_string(),
            &found.to_string(),
        )),
        _ => {
            *own = Some(found);
            Ok(())
        }
    }
}

/// Where the resource names a configuration without alias and the instance one of its aliases, that is a key of it.
fn key_of_alias(
    whole: &ProviderConfig,
    (config, key): (Shared<ProviderConfig>, InstanceKey),
) -> (Shared<ProviderConfig>, InstanceKey) {
    let is_alias = whole.alias.is_none() && key == InstanceKey::None;
    match config.alias.clone().filter(|_| is_alias) {
        Some(alias) => {
            let config = ProviderConfig { alias: Some("".into()), ..config.into_inner() };
            (config.into(), InstanceKey::Str(alias))
        }
        None => (config, key),
    }
}

/// Whether our own record is likely to say what a current object was made from.
fn is_made_from_others(object: &ObjectV4<'_>) -> bool {
    let is_alone = object.dependencies.as_ref().is_none_or(|it| it.is_empty());
    !is_alone && Text::filled(&object.deposed).is_none()
}

/// Reads objects, sharing what repeats.
#[derive(Default)]
pub(super) struct Reader {
    names: Interner,
    providers: FxHashMap<String, (Shared<ProviderConfig>, InstanceKey)>,
    root: ModuleInstance,
    /// The module of the resource before, and its name: those of a module mostly stand together.
    module: (String, ModuleInstance),
    /// The attributes.
    texts: Texts,
}

impl Reader {
    fn name(&mut self, text: &str) -> Str {
        self.names.intern(text)
    }

    /// Keeps what our own record says of an object.
    fn names_of(&mut self, (object, made_from): &(Text<'_>, Vec<Text<'_>>)) -> (Str, Box<[Str]>) {
        let made_from = made_from.iter().map(|it| self.name(&it.0)).collect();
        (self.name(&object.0), made_from)
    }

    fn module(&mut self, text: &str) -> Option<ModuleInstance> {
        if text.is_empty() {
            return Some(self.root.clone());
        }
        if *self.module.0 == *text {
            return Some(self.module.1.clone());
        }
        let module = names::module(text)?;
        self.module.0.clear();
        self.module.0.push_str(text);
        self.module.1 = module.clone();
        Some(module)
    }

    pub(super) fn provider(&mut self, text: &str) -> Option<(Shared<ProviderConfig>, InstanceKey)> {
        if let Some(known) = self.providers.get(text) {
            return Some(known.clone());
        }
        let (config, key) = names::provider(text)?;
        let provider = (config.into(), key);
        self.providers.insert(text.into(), provider.clone());
        Some(provider)
    }

    fn resource(
        &mut self,
        resource: &ResourceV4<'_>,
        likely: &mut own::Likely<'_>,
    ) -> Result<(Resource, Shared<ResourceState>), Diagnostics> {
        let address = self.address(resource)?;
        let whole = match Text::filled(&resource.provider) {
            Some(text) => Some(self.provider_of(text, &address)?.0),
            None => None,
        };
        let mut own: Option<Shared<ProviderConfig>> = None;
        let mut instances: Keyed<InstanceState> = Keyed::new();
        let mut diagnostics = Diagnostics::new();
        for object in resource.instances.iter().flatten() {
            let mut provider_key = InstanceKey::None;
            if let Some(text) = Text::filled(&object.provider) {
                let found = self.provider_of(text, &address)?;
                let found = match &whole {
                    Some(whole) => key_of_alias(whole, found),
                    None => found,
                };
                agree(&mut own, found.0, &address)?;
                provider_key = found.1;
            } else if whole.is_none() {
                return Err(problems::no_provider(&address.to_string()).into());
            }
            let Some((key, deposed, object)) =
                diagnostics.take(self.object(&address, object, likely))
            else {
                continue;
            };
            let instance = instances.or_default(key.clone());
            instance.provider_key = provider_key;
            let is_again = match &deposed {
                Some(deposed) => instance.deposed.insert(deposed.clone(), object.into()).is_some(),
                None => instance.current.replace(object.into()).is_some(),
            };
            if is_again {
                let name = address.instance(key).to_string();
                diagnostics.push(problems::duplicate(&name, deposed.as_deref()));
            }
        }
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        let provider = own.or(whole).ok_or_else(|| problems::no_provider(&address.to_string()))?;
        Ok((address, ResourceState { provider, instances }.into()))
    }

    fn address(&mut self, resource: &ResourceV4<'_>) -> Result<Resource, Diagnostic> {
        let mode = match &*resource.mode.0 {
            "managed" => Mode::Managed,
            "data" => Mode::Data,
            mode => return Err(problems::bad_mode(mode, &resource.kind.0, &resource.name.0)),
        };
        let module = Text::filled(&resource.module).unwrap_or_default();
        let module = self.module(module).ok_or_else(|| problems::bad_module(module))?;
        // In one module a name hardly repeats; in each instance of a module it does.
        let name = match module.is_root() {
            true => Str::from(&*resource.name.0),
            false => self.name(&resource.name.0),
        };
        let kind = self.name(&resource.kind.0);
        Ok(Resource { module, resource: ResourceName { mode, kind, name } })
    }

    fn provider_of(
        &mut self,
        text: &str,
        address: &Resource,
    ) -> Result<(Shared<ProviderConfig>, InstanceKey), Diagnostic> {
        self.provider(text).ok_or_else(|| problems::bad_provider(text, &address.to_string()))
    }

    /// Reads one object: its instance's key, its deposed key and itself.
    pub(super) fn object(
        &mut self,
        of: &Resource,
        found: &ObjectV4<'_>,
        likely: &mut own::Likely<'_>,
    ) -> Result<(InstanceKey, Option<Str>, Object), Diagnostic> {
        let key = match found.index_key.map(RawValue::get) {
            None => InstanceKey::None,
            Some(text) => self.key(text).ok_or_else(|| {
                problems::bad_instance(format!(
                    "Resource {of} has an instance with the invalid instance key {text}."
                ))
            })?,
        };
        let name = || -> Instance { of.instance(key.clone()) };
        let status = status(Text::filled(&found.status), name)?;
        let deposed = deposed_key(Text::filled(&found.deposed), name)?;
        let sensitive = match found.sensitive_attributes.map(RawValue::get) {
            None | Some("[]" | "null") => Vec::new(),
            Some(paths) => stored::read_paths(paths)
                .map_err(|why| problems::bad_paths(&name().to_string(), &why))?,
        };
        let private = private_data(Text::filled(&found.private), name)?;
        let attributes = match (found.attributes, &found.attributes_flat) {
            (Some(json), _) => Attributes::Json(self.texts.take(json)),
            (None, Some(flat)) => Attributes::Flat(flat.clone().into()),
            (None, None) => Attributes::Json("{}".into()),
        };
        let dependencies = found.dependencies.as_deref().unwrap_or_default();
        let alike = if is_made_from_others(found) { likely.names_of(of, &key) } else { &[] };
        let mut object = Object {
            status,
            schema_version: found.schema_version.unwrap_or_default(),
            attributes,
            dependencies: dependencies
                .iter()
                .enumerate()
                .map(|(at, it)| match alike.get(at).filter(|known| ***known == *it.0) {
                    Some(known) => Ok(known.clone()),
                    None => self.dependency(&it.0),
                })
                .collect::<Result<_, _>>()?,
            reads: None,
            recorded_as: None,
            create_before_destroy: found.create_before_destroy.unwrap_or_default(),
            skip_destroy: found.skip_destroy.unwrap_or_default(),
            besides: Rarely::default(),
        };
        let identity = found.identity.map(|it| {
            let version = found.identity_schema_version.unwrap_or_default();
            (self.texts.take(it).as_str().into(), version).into()
        });
        object.set_sensitive(sensitive.into());
        Ok((key, deposed, object.kept_with(private.into(), identity)))
    }

    fn key(&mut self, text: &str) -> Option<InstanceKey> {
        if text.starts_with('"') {
            let text: Text<'_> = serde_json::from_str(text).ok()?;
            return Some(InstanceKey::Str(self.name(&text.0)));
        }
        let number: f64 = text.parse().ok()?;
        (number.fract() == 0.0).then_some(InstanceKey::Int(number as i64))
    }

    /// Shares a recorded dependency, without the keys that other programs may have left in its module path.
    fn dependency(&mut self, text: &str) -> Result<Str, Diagnostic> {
        if let Some(known) = self.names.get(text) {
            return Ok(known);
        }
        if !text.contains('[') {
            return Ok(self.name(text));
        }
        match names::resource(text) {
            Some(address) => Ok(self.name(&address.config().to_string())),
            None => Err(problems::bad_instance(format!(
                "A recorded dependency is not a resource address: {text:?}."
            ))),
        }
    }
}
