//! Answers questions about the world: what an expression gives, what became of an object, what a provider plans.
//!
//! Facts say that something is true of a value; the values themselves are kept here.

use std::sync::Arc;
use std::time::Instant;

use entail_rules::Node;

use crate::address::{Instance, InstanceKey, Mode, ProviderInstance};
use crate::config::{self, Condition};
use crate::diagnostic::Diagnostics;
use crate::event::{Event, EventObject as EventSubject, Phase as EphemeralPhase, Sink};
use crate::expression;
use crate::lower::BlockGraph;
use crate::lower::structure::{ModuleId, ResourceId};
use crate::plan::Action;
use crate::provider::{Provider, ProviderDiagnostic};
use crate::reason::{self, EngineRef};
use crate::request::Request;
use crate::state::State;
use crate::value::{Str, Value};

pub mod awaiting;
pub mod conditions;
pub mod data;
pub mod ephemeral;
pub mod former;
pub mod functions;
pub mod generate;
pub mod gone;
pub mod imports;
pub mod meta;
pub mod object;
pub mod provider_source;
pub mod pool;
pub mod problems;
pub mod serving;
mod stored;
pub mod provider_sources;
pub mod provisioners;
pub mod lifetimes;
pub mod values;

use pool::{Configuring, Era, Pool};
use values::{ValueScope, Values};

/// Who answers.
///
/// Each question can be cancelled by dropping its future. Nothing is changed by that, for observing changes nothing; no answer is
/// kept, and a configuring that was dropped is begun again by whoever asks next. A provider may finish the call unheard. What was
/// opened as ephemeral stays open until [`Observer::close_all`], or until the provider's process ends with the pool.
pub struct Observer<'a> {
    /// What has been learned.
    pub values: Values<'a>,
    /// The providers.
    pub pool: &'a Pool,
    /// The blocks of the configuration, and who serves them.
    pub graph: &'a BlockGraph,
    /// What exists, after moves.
    pub state: &'a State,
    /// Objects that were moved: where they are now, and where they were.
    pub moved: &'a std::collections::BTreeMap<Instance, Instance>,
    /// What is asked for.
    pub request: &'a Request,
    /// Who is told of progress.
    pub events: Told<'a>,
    /// What declared instances are to adopt.
    pub imports: imports::Imports,
    /// Variables whose validations were checked, and whether they passed.
    pub validated: parking_lot::Mutex<std::collections::BTreeMap<Node, bool>>,
    /// Which provider instance serves which instance.
    pub serving: serving::Serving,
    /// Results of conditions.
    pub checks: conditions::Results,
    /// Which provider instances are still needed.
    pub lifetimes: lifetimes::ProviderLifetimes,
    /// Ephemeral resources that are open.
    pub ephemeral_uses: ephemeral::EphemeralUses,
    /// Provider instances whose arguments read what is not settled yet.
    pub awaiting: awaiting::Awaiting,
    /// What the arguments of provider instances were before the plan is carried out.
    pub former: Option<former::Former<'a>>,
    /// How many provider calls may run at once.
    pub calls: tokio::sync::Semaphore,
}

/// A listener, with the few things that observing tells.
pub struct Told<'a>(pub &'a dyn Sink);

impl Told<'_> {
    /// Tells that a data source is about to be read.
    pub fn read_started(&self, address: &Instance) {
        let subject = EventSubject { address: address.clone(), deposed: None, id: None };
        self.0.event(Event::ApplyStart(subject, Action::Read));
    }

    /// Tells that a data source was read.
    pub fn read_finished(&self, address: &Instance, value: &Value, since: Instant) {
        self.0.event(Event::ApplyComplete(
            EventSubject::of(address, None, value),
            Action::Read,
            since.elapsed(),
        ));
    }

    fn refresh_started(&self, address: &Instance, deposed: Option<&Str>, value: &Value) {
        self.0.event(Event::RefreshStart(EventSubject::of(address, deposed, value)));
    }

    fn refresh_finished(&self, address: &Instance, deposed: Option<&Str>, value: &Value) {
        self.0.event(Event::RefreshComplete(EventSubject::of(address, deposed, value)));
    }

    /// Does something to an ephemeral resource, and tells of it before and after.
    async fn calling_ephemeral<T>(
        &self,
        address: &Instance,
        phase: EphemeralPhase,
        work: impl Future<Output = T>,
    ) -> T {
        let since = Instant::now();
        self.0.event(Event::EphemeralStart(address.clone(), phase));
        let result = work.await;
        self.0.event(Event::EphemeralComplete(address.clone(), phase, since.elapsed()));
        result
    }

    /// Tells that an ephemeral resource is opened only when the plan is carried out.
    pub fn deferred(&self, address: &Instance, why: &'static str) {
        self.0.event(Event::EphemeralDeferred(address.clone(), why));
    }
}

impl<'a> Observer<'a> {
    /// Returns who concludes what the rules say.
    pub fn engine(&self) -> EngineRef {
        reason::engine(self.values.world)
    }

    /// Returns the scope of one instance of a block.
    pub fn instance_scope(
        &self,
        module: ModuleId,
        resource: ResourceId,
        key: &InstanceKey,
    ) -> ValueScope<'_, 'a> {
        self.values.scope(module).with_each(key.clone(), self.values.each_value(resource, key))
    }

    /// Ends the processes of the provider instances that nothing needs any more, now that a step of a node is done.
    pub fn let_go(&self, node: Node) {
        self.lifetimes.done(node).iter().for_each(|it| self.pool.release(it));
    }

    /// Returns a configured provider instance. `None` where that failed or is not allowed yet; the problem has been reported.
    pub async fn provider(
        &self,
        instance: &ProviderInstance,
        era: Era,
    ) -> Option<Arc<dyn Provider>> {
        if self.pool.mocks.replaces(&instance.config) {
            return self.pool.unconfigured(&instance.config.provider);
        }
        if self.awaiting.has(instance) {
            self.values.report([problems::called_early(instance)]);
            return None;
        }
        let configure = async |provider| self.configure((instance, era), provider).await;
        self.pool.configured((instance, era), configure).await
    }

    /// Evaluates the arguments of a provider instance. `None` where its schema is not known; errors come with the value.
    pub fn provider_arguments(
        &self,
        instance: &ProviderInstance,
        era: Era,
    ) -> Option<(Value, Diagnostics)> {
        let values = match &self.former {
            Some(former) if era == Era::Former => former.values(),
            _ => &self.values,
        };
        let schema = self.pool.schema(&instance.config.provider)?;
        let Some((block, module)) = self.block_of(&instance.config) else {
            let empty = crate::schema::empty_value(&schema.provider.block);
            return Some((empty, Diagnostics::new()));
        };
        let Some(module) = module else {
            return Some((Value::NULL, problems::provider_of_no_module(instance, block).into()));
        };
        let scope = match instance.key {
            InstanceKey::None => values.scope(module),
            _ => {
                let (key, value) = self.each_of_provider(instance, block, module);
                values.scope(module).with_each(key, value)
            }
        };
        Some(expression::body::decode_body(&block.body, &schema.provider.block, &scope, &[]))
    }

    async fn configure(
        &self,
        (instance, era): (&ProviderInstance, Era),
        provider: Arc<dyn Provider>,
    ) -> Configuring {
        let Some((config, found)) = self.provider_arguments(instance, era) else {
            return Configuring::Failed;
        };
        let failed = found.has_errors();
        self.values.report(found);
        if failed {
            return Configuring::Failed;
        }
        let block = self.block_of(&instance.config).map(|it| it.0);
        let is_known = config.is_wholly_known();
        if !is_known && !self.values.planning {
            self.values.report([problems::provider_not_known(instance, block)]);
            return Configuring::Failed;
        }
        let is_ephemeral = config.contains_ephemeral();
        let config = config.to_plain();
        let mut found = provider.validate_provider(&config).await;
        if !self.failed(&found) {
            found.extend(provider.configure(&config).await);
        }
        let body = block.map(|it| &it.body);
        self.values.report(found.iter().map(|it| problems::of_provider(it, None, body)));
        if self.failed(&found) {
            return Configuring::Failed;
        }
        match (is_known, is_ephemeral) {
            (false, _) => Configuring::Half,
            (true, true) => Configuring::Passing,
            (true, false) => Configuring::Lasting,
        }
    }

    /// Reports what a provider said of an object.
    pub fn report_provider(
        &self,
        address: &Instance,
        block: Option<&config::Resource>,
        found: &[ProviderDiagnostic],
    ) {
        let body = block.map(|it| &it.body);
        self.values.report(found.iter().map(|it| problems::of_provider(it, Some(address), body)));
    }

    /// Returns whether any of them is an error.
    pub fn failed(&self, found: &[ProviderDiagnostic]) -> bool {
        found.iter().any(|it| it.severity == crate::diagnostic::Severity::Error)
    }

    /// Checks the preconditions of an object; returns whether none is an error.
    pub fn preconditions(&self, subject: &object::ObjectContext<'_>) -> bool {
        let scope = self.instance_scope(subject.module, subject.resource, &subject.key);
        let conditions = &subject.block.besides.lifecycle.preconditions;
        self.conditions(&scope, conditions, 0, "Resource precondition failed", &subject.address)
    }

    /// Checks postconditions on an object as planned or read; returns whether none is an error.
    pub fn postconditions(&self, subject: &object::ObjectContext<'_>, object: &Value) -> bool {
        let lifecycle = &subject.block.besides.lifecycle;
        if lifecycle.postconditions.is_empty() {
            return true;
        }
        let scope = self
            .instance_scope(subject.module, subject.resource, &subject.key)
            .with_self(object.clone());
        let (conditions, first) = (&lifecycle.postconditions, lifecycle.preconditions.len());
        self.conditions(
            &scope,
            conditions,
            first,
            "Resource postcondition failed",
            &subject.address,
        )
    }

    /// Checks conditions, of which the first is number `first` of the object, reports the ones that fail, and returns
    /// whether none is an error.
    fn conditions(
        &self,
        scope: &ValueScope<'_, '_>,
        conditions: &[Condition],
        first: usize,
        summary: &str,
        address: &Instance,
    ) -> bool {
        let softens = self.request.softens_conditions();
        let mut passed = true;
        for (index, condition) in conditions.iter().enumerate() {
            let outcome = conditions::check(condition, scope, summary).of(&address.to_string());
            self.checks.record(
                conditions::Kind::Resource,
                &address.config().to_string(),
                &address.to_string(),
                first + index,
                &outcome,
            );
            let told = outcome.told(softens);
            passed &= !told.has_errors();
            self.values.report(told);
        }
        passed
    }

    /// Returns the prior object of a node for those that read it, where the node takes no part. One that cannot be read is no more known
    /// than one that was never made: who leaves it out is not to be kept from anything else.
    pub async fn frozen(&self, node: Node) -> Option<Value> {
        let structure = &self.values.structure;
        let (id, key, _) = structure.kind(node).object()?;
        let known = structure.resource(id);
        let address = known.address.instance(key.clone());
        let resource = self.state.resources.of_near(&address, known.recorded)?;
        let stored = resource.instances.get(&address.key)?.current.as_deref()?;
        let schema = self
            .pool
            .resource_schema(
                &resource.provider.provider,
                address.resource.mode,
                &address.resource.kind,
            )?
            .clone();
        if address.resource.mode != Mode::Managed {
            let kept = data::recorded(stored, &schema)?;
            return Some(crate::schema::mark_sensitive(&kept, &schema.block));
        }
        let provider = self.pool.unconfigured(&resource.provider.provider)?;
        let previous = self.previous(&address, stored, &schema, &provider).await.0?;
        Some(stored::marked(&previous, stored, &schema))
    }
}
