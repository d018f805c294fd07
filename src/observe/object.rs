//! One managed object: what became of it, and what its provider plans for it.

use std::sync::Arc;

use super::problems;
use super::{Observer, stored};
use crate::address::{Instance, InstanceKey, Mode};
use crate::config;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::lower::structure::{ModuleId, ResourceId};
use crate::provider::{ImportName, PlanCall, PlannedObject, Provider};
use crate::rarely::{Rarely, plain};
use crate::schema::{self, Schema};
use crate::state::{self, Private, Status};
use crate::value::{Path, PathStep, Plain, Str, Value};

mod ignored;

pub use self::ignored::written_path;
use self::ignored::{with_ignored_kept, without_ignored};

/// An object as it is now.
#[derive(Clone, Debug)]
pub struct Prior {
    /// Before refresh, brought to today's schema; marked. Null when there was none.
    pub previous: Value,
    /// After refresh; marked. Null when there is none.
    pub value: Value,
    /// What else is known, mostly nothing.
    pub besides: Rarely<Besides>,
}

/// What is known of an object besides its values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Besides {
    /// What the provider kept.
    pub private: Private,
    /// Whether it is half made.
    pub tainted: bool,
    /// Whether the state holds it otherwise than it would be written today.
    pub is_laid_out_otherwise: bool,
    /// What named it, where it was imported in this run.
    pub imported: Option<Box<ImportName>>,
    /// What it is identified by.
    pub identity: Option<Value>,
    /// What it was identified by before refresh.
    pub previous_identity: Option<Value>,
}

plain!(Besides);

impl Prior {
    /// Returns an object that does not exist.
    pub fn absent(schema: &Schema) -> Prior {
        let null = Value::Null(schema.block.ty());
        Prior { previous: null.clone(), value: null, besides: Rarely::default() }
    }

    /// Returns whether there is no such object, and was none.
    pub fn is_absent(&self) -> bool {
        self.previous.is_null() && self.value.is_null() && self.besides.imported.is_none()
    }

    /// Returns what happened to it since it was recorded; nothing where it was not recorded.
    pub fn changed_outside(&self) -> Option<Outside> {
        if self.previous.is_null() || self.previous == self.value {
            return None;
        }
        Some(if self.value.is_null() { Outside::Gone } else { Outside::Changed })
    }
}

/// What happened to an object since it was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// It is another.
    Changed,
    /// It is there no more.
    Gone,
}

/// Whether the provider is asked what became of a stored object, and which of its instance's objects that is.
#[derive(Clone, Copy, Debug)]
pub enum Refresh<'k> {
    /// It is not asked.
    Skip,
    /// The current object.
    Current,
    /// The deposed one with this key.
    Deposed(&'k str),
}

/// What a provider answered for one object.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The object now.
    pub prior: Prior,
    /// The configuration as written; marked.
    pub config: Value,
    /// The planned object; marked.
    pub value: Value,
    /// Paths whose change needs a replacement, filtered.
    pub replace_paths: Vec<Path>,
    /// What to hand back in apply.
    pub private: Vec<u8>,
    /// What it will be identified by.
    pub identity: Option<Value>,
    /// Whether a path that needs a replacement is write-only.
    pub write_only_replace: bool,
}

impl Planned {
    /// Returns whether the planned object is (or may become) another than the one that exists.
    pub fn differs(&self) -> bool {
        let (planned, prior) = (self.value.to_plain(), self.prior.value.to_plain());
        !planned.is_wholly_known() || planned != prior
    }

    /// Returns whether only what is sensitive changes.
    pub fn marks_differ(&self) -> bool {
        let sensitive = |value: &Value| value.mark_paths().sensitive_paths();
        sensitive(&self.value) != sensitive(&self.prior.value)
    }
}

/// What an object's block, schema and provider are, looked up once.
pub struct ObjectContext<'o> {
    /// The resource.
    pub resource: ResourceId,
    /// Its module instance.
    pub module: ModuleId,
    /// Its key.
    pub key: InstanceKey,
    /// Its address.
    pub address: Instance,
    /// Its block.
    pub block: &'o config::Resource,
    /// Its schema.
    pub schema: &'o Arc<Schema>,
    /// Its provider, configured.
    pub provider: Arc<dyn Provider>,
}

impl<'a> Observer<'a> {
    /// Reads a stored object: brings it to today's schema and, unless refresh is off, asks what became of it.
    ///
    /// `None` where that failed; the problem has been reported.
    pub async fn prior(
        &self,
        address: &Instance,
        stored: &state::Object,
        schema: &Schema,
        provider: &Arc<dyn Provider>,
        refresh: Refresh<'_>,
    ) -> Option<Prior> {
        let kind = &*address.resource.kind;
        let (previous, found) = self.previous(address, stored, schema, provider).await;
        self.values.report(found);
        let previous = previous?;
        let marked = |value: &Value| stored::marked(value, stored, schema);
        let tainted = stored.status == Status::Tainted;
        let is_laid_out_otherwise = match &stored.attributes {
            state::Attributes::Json(json) => !schema::is_stored_as_today(json, &schema.block),
            _ => false,
        };
        let identity = self.identity(address, stored, schema, provider).await?;
        let deposed: Option<Str> = match refresh {
            Refresh::Deposed(key) => Some(key.into()),
            _ => None,
        };
        if let Refresh::Skip = refresh {
            let value = marked(&previous);
            let besides = Besides {
                private: stored.besides.private.clone(),
                tainted,
                is_laid_out_otherwise,
                imported: None,
                identity: identity.clone(),
                previous_identity: identity,
            };
            let besides = Rarely::of(besides);
            return Some(Prior { previous: value.clone(), value, besides });
        }
        self.events.refresh_started(address, deposed.as_ref(), &previous);
        let read = provider.read(kind, &previous, &stored.besides.private, identity.as_ref()).await;
        let has_news = !read.diagnostics.is_empty() && deposed.is_none();
        let block = if has_news { self.declared_block(address) } else { None };
        self.report_provider(address, block, &read.diagnostics);
        let read = read.value.filter(|_| !self.failed(&read.diagnostics))?;
        self.events.refresh_finished(address, deposed.as_ref(), &read.value);
        if let Some(problem) = problem_of_read(address, &read.value, &schema.block) {
            self.values.report([problem]);
            return None;
        }
        let besides = Besides {
            private: read.private.into(),
            tainted,
            is_laid_out_otherwise,
            imported: None,
            identity: read.identity,
            previous_identity: identity,
        };
        Some(Prior {
            previous: marked(&previous),
            value: marked(&read.value),
            besides: Rarely::of(besides),
        })
    }

    fn declared_block(&self, address: &Instance) -> Option<&config::Resource> {
        let config = self.values.config;
        let block = self.graph.block_at(config, &self.values.structure, &address.of())?;
        self.graph.written(block)
    }

    /// Evaluates the block, and asks the provider what it would make of it.
    pub async fn plan(&self, subject: &ObjectContext<'_>, prior: Prior) -> Option<Planned> {
        let (config, failed) = self.configuration(subject)?;
        if failed {
            return None;
        }
        self.plan_with(subject, prior, config, true).await
    }

    /// Plans a replacement: as if nothing existed, with the whole configuration.
    pub async fn replan(&self, subject: &ObjectContext<'_>, first: &Planned) -> Option<Planned> {
        let mut absent = Prior::absent(subject.schema);
        absent.besides.private = first.private.clone().into();
        let second = self.plan_with(subject, absent, first.config.clone(), false).await?;
        Some(Planned {
            prior: first.prior.clone(),
            replace_paths: first.replace_paths.clone(),
            ..second
        })
    }

    async fn plan_with(
        &self,
        subject: &ObjectContext<'_>,
        prior: Prior,
        config: Value,
        is_first: bool,
    ) -> Option<Planned> {
        let block = &subject.schema.block;
        let written = config.to_marked_by_path();
        let effective = match prior.besides.tainted || prior.value.is_null() {
            true => Plain::null(block.ty()),
            false => prior.value.to_plain(),
        };
        if is_first {
            let found =
                subject.provider.validate_resource(&subject.block.name.kind, written.value()).await;
            self.report_provider(&subject.address, Some(subject.block), &found);
            if self.failed(&found) {
                return None;
            }
        }
        let ignored = match is_first && !effective.is_null() {
            true => without_ignored(&prior.value, &config, subject),
            false => None,
        };
        let ignored = ignored.map(|it| it.to_marked_by_path());
        let apart = ignored.as_ref().unwrap_or(&written);
        let (adjusted, config_marks): (&Value, _) = (apart.value(), apart.marks());
        let proposed = schema::proposed_new(block, &effective, adjusted);
        let private: &[u8] = if prior.besides.tainted { &[] } else { &prior.besides.private };
        // What is gone is asked for under its name; what replaces something has none yet.
        let keeps_name = !effective.is_null() || prior.value.is_null();
        let identity = prior.besides.identity.as_ref().filter(|_| keeps_name);
        let call = PlanCall {
            kind: &subject.block.name.kind,
            prior: &effective,
            proposed: &proposed,
            config: adjusted,
            private,
            identity,
        };
        let response = subject.provider.plan(call).await;
        self.report_provider(&subject.address, Some(subject.block), &response.diagnostics);
        let planned = response.value.filter(|_| !self.failed(&response.diagnostics))?;
        let planned = match is_first {
            true => self.checked(subject, &effective, adjusted, planned)?,
            false => planned,
        };
        let (replace_paths, write_only_replace) =
            replaces(block, &effective, &planned.planned, &planned.requires_replace);
        let value = schema::mark_object(&planned.planned, &config_marks.lasting(), block);
        let mut prior = prior;
        if prior.besides.imported.is_some() {
            // What is adopted is as sensitive as the configuration says: that alone is no change.
            prior.value = prior.value.mark_at(config_marks);
        }
        Some(Planned {
            prior,
            config,
            value,
            replace_paths,
            private: planned.private,
            identity: planned.identity,
            write_only_replace,
        })
    }

    /// Checks what a provider has planned; where its type system is the old one, puts back what it has made of what is ignored.
    fn checked(
        &self,
        subject: &ObjectContext<'_>,
        prior: &Value,
        config: &Value,
        mut planned: PlannedObject,
    ) -> Option<PlannedObject> {
        if planned.legacy_types {
            planned.planned = with_ignored_kept(prior, planned.planned, subject);
            return Some(planned);
        }
        let (block, declared) = (&subject.schema.block, subject.block.declared);
        let errors = schema::check_planned(block, prior, config, &planned.planned);
        if errors.is_empty() {
            return Some(planned);
        }
        self.values.report(
            errors
                .iter()
                .map(|it| problems::invalid_plan(&subject.address, &it.to_string(), declared)),
        );
        None
    }

    /// Evaluates preconditions and body. `None` where that failed; the flag says that a precondition did.
    pub(super) fn configuration(&self, subject: &ObjectContext<'_>) -> Option<(Value, bool)> {
        let scope = self.instance_scope(subject.module, subject.resource, &subject.key);
        let passed = self.preconditions(subject);
        let (config, found) = crate::expression::body::decode_body(
            &subject.block.body,
            &subject.schema.block,
            &scope,
            &[],
        );
        let errors = found.has_errors();
        self.values.report(at_object(found, &subject.address));
        if errors {
            return None;
        }
        let misused = misused(subject.block, subject.schema, &config);
        let is_misused = !misused.is_empty();
        self.values.report(misused.into_iter().map(|it| it.about(&subject.address)));
        (!is_misused).then_some((config, !passed))
    }

    /// Plans the removal of an object: what the provider hands out for it, and says to identify it by.
    pub async fn plan_removal(
        &self,
        address: &Instance,
        schema: &Schema,
        provider: &Arc<dyn Provider>,
        prior: &Prior,
    ) -> Option<(Vec<u8>, Option<Value>)> {
        let null = Value::Null(schema.block.ty());
        let value = prior.value.to_plain();
        let call = PlanCall {
            kind: &address.resource.kind,
            prior: &value,
            proposed: &null,
            config: &null,
            private: &prior.besides.private,
            identity: prior.besides.identity.as_ref(),
        };
        let response = provider.plan(call).await;
        self.report_provider(address, None, &response.diagnostics);
        let planned = response.value.filter(|_| !self.failed(&response.diagnostics))?;
        if !planned.planned.is_null() {
            self.values.report([problems::removal_not_null(address)]);
            return None;
        }
        Some((planned.private, planned.identity))
    }
}

/// Says which object's configuration warnings are about; an error is about its expression, whichever object asked for it.
fn at_object(found: Diagnostics, address: &Instance) -> impl Iterator<Item = Diagnostic> + use<'_> {
    found.into_iter().map(move |it| if it.is_error() { it } else { it.about(address) })
}

/// Returns what is wrong with ephemeral values in arguments that are stored.
pub fn misused(block: &config::Resource, schema: &Schema, config: &Value) -> Vec<Diagnostic> {
    if block.name.mode == Mode::Ephemeral || !config.contains_ephemeral() {
        return Vec::new();
    }
    let config = config.to_marked_by_path();
    let write_only = schema::write_only_paths(&schema.block, config.value());
    let is_stored = |path: &[PathStep]| !write_only.iter().any(|it| path.starts_with(it));
    let mut found: Vec<Diagnostic> = Vec::new();
    for (path, _) in config.marks().iter().filter(|it| it.1.ephemeral && is_stored(it.0)) {
        // The argument as a whole is to blame, wherever in it the value stands.
        let whole = schema.block.argument_of(path);
        let span = crate::expression::body::span_of_path(&block.body, &whole.to_vec());
        let problem = problems::ephemeral_value(path, span);
        if !found.contains(&problem) {
            found.push(problem);
        }
    }
    found
}

/// What is wrong with what a provider found, if anything: another type than the schema's, or not wholly known.
fn problem_of_read(
    address: &Instance,
    read: &Value,
    block: &schema::BlockSchema,
) -> Option<Diagnostic> {
    let ty = block.ty();
    if !read.is_null() && read.ty() != ty && !ty.has_dynamic() {
        return Some(problems::invalid_object(address, "read"));
    }
    (!read.is_wholly_known()).then(|| problems::not_wholly_known(address, "read"))
}

/// Filters the paths that a provider cannot change in place; the flag says that one of them is write-only.
fn replaces(
    schema: &schema::BlockSchema,
    prior: &Value,
    planned: &Value,
    paths: &[Path],
) -> (Vec<Path>, bool) {
    let kept = schema::requires_replace(schema, prior, planned, paths).unwrap_or_default();
    let write_only = schema::write_only_paths(schema, planned);
    let any = kept.iter().any(|it| write_only.contains(it));
    (kept, any)
}
