//! The walk that plans: asks of each node what only values and providers know, as soon as what it reads is settled.
//!
//! Questions run side by side; answers are decided by the rules in batches, a batch being whatever has arrived.

use std::collections::BTreeMap;

use entail_rules::decide::{Decisions, decide};
use entail_rules::{Action, Block, Facts, Node, Reason};
use futures_util::FutureExt;
use futures_util::stream::{FuturesUnordered, StreamExt};
use rustc_hash::{FxHashMap, FxHashSet};

use super::answers::ByNode;
use super::problems;
use crate::address::{Instance, InstanceKey, Mode, ProviderInstance};
use crate::lower::structure::{NodeKind, ResourceId};
use crate::lower::trace::Trigger;
use crate::observe::Observer;
use crate::observe::data::Question;
use crate::observe::ephemeral;
use crate::observe::object::{Planned, Prior, Refresh, Subject, lasting};
use crate::request::PlanMode;
use crate::schedule::Schedule;
use crate::schema::{self, Schema};
use crate::value::{Marks, Value};

/// The most questions that are open at once; provider calls are bounded separately.
const OPEN: usize = 1024;

/// Which part an object takes in the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// It is planned.
    Selected,
    /// It is left out because of an exclusion.
    Excluded,
    /// No target wants it.
    Untargeted,
    /// It is no object.
    NoObject,
}

/// What was learned and decided of one object.
#[derive(Clone, Debug)]
pub struct Found {
    /// What is to be done.
    pub action: Action,
    /// Why.
    pub reason: Reason,
    /// The object now; marked.
    pub prior: Option<Prior>,
    /// The planned object, null when it goes; marked.
    pub after: Value,
    /// What the provider handed out.
    pub private: Vec<u8>,
    /// What the object will be identified by.
    pub identity: Option<Value>,
    /// Paths that made it a replacement.
    pub replace_paths: Vec<crate::value::Path>,
    /// The configuration's own marks, where the plan is to record those and not the schema's: in replacements and reads.
    pub recorded_marks: Option<Vec<(crate::value::Path, Marks)>>,
}

/// What the walk keeps while it runs.
pub struct Progress {
    /// What waits for what.
    pub schedule: Schedule,
    /// Facts by node.
    pub by_node: ByNode,
    /// The part of each node.
    pub parts: Vec<Part>,
    /// What was found, by node.
    pub found: BTreeMap<Node, Found>,
    /// Objects that are gone, or data that nothing declares: out of the state without a change.
    pub dropped: Vec<Node>,
    /// What the gone objects among them were.
    pub gone: Vec<(Node, Prior)>,
    /// Data that was read or reused: its value.
    pub results: BTreeMap<Node, Value>,
    /// All facts of all batches, for proofs.
    pub facts: Facts,
    /// All decisions of all batches.
    pub decisions: Decisions,
    /// Key sets to expand before going on.
    pub to_expand: Vec<Node>,
    /// `replace_triggered_by` by attribute.
    pub triggers: FxHashMap<Node, Vec<Trigger>>,
    /// Whether values are evaluated even if nothing asks for them.
    pub evaluate_all: bool,
    /// Key sets that have been expanded.
    pub expanded: FxHashSet<Node>,
    /// Pending nodes that are wanted only because a target names instances in them.
    pub only_named: FxHashSet<Node>,
    /// The block of each pending node.
    pub blocks: FxHashMap<Node, Block>,
    /// Pending nodes whose block makes the new object first.
    pub cbd_blocks: FxHashSet<Node>,
    /// Existing instances whose declaration waits for each pending node.
    pub late: FxHashMap<Node, Vec<Node>>,
    /// What data behind a pending node waits for.
    pub data_waits: FxHashMap<Node, Vec<Node>>,
}

impl Progress {
    /// Returns what a data source waits for.
    pub fn waits_of(&self, node: Node) -> Vec<Node> {
        self.data_waits.get(&node).cloned().unwrap_or_default()
    }
}

enum Answer {
    /// Nothing to ask.
    Nothing,
    /// It takes no part; its value for those that read it.
    Frozen(Option<Value>),
    /// It could not be answered; the problem has been reported.
    Failed,
    Planned(Box<Planned>),
    Existing(Box<Prior>),
    Asked(Box<Question>),
}

/// Looks at everything that is ready until nothing is, or key sets must be expanded first.
pub async fn run(observer: &Observer<'_>, progress: &mut Progress) {
    let mut open = FuturesUnordered::new();
    let mut batch: Vec<(Node, Answer)> = Vec::new();
    loop {
        while open.len() < OPEN {
            let Some(next) = progress.schedule.take_ready() else { break };
            let node = Node(next);
            if progress.by_node.is_blocked(node) || !needs_provider(observer, progress, node) {
                let answer = value_node(observer, progress, node);
                if let Some(answer) = answer {
                    batch.push((node, answer));
                }
                if batch.len() >= OPEN {
                    break;
                }
            } else {
                open.push(
                    ask(observer, node, progress.parts[node.0 as usize]).map(move |it| (node, it)),
                );
            }
        }
        if batch.is_empty() {
            match open.next().await {
                Some(answer) => batch.push(answer),
                None => return,
            }
        }
        while batch.len() < OPEN {
            match open.next().now_or_never() {
                Some(Some(answer)) => batch.push(answer),
                _ => break,
            }
        }
        conclude(observer, progress, std::mem::take(&mut batch)).await;
    }
}

/// Returns whether a node has its value, or its instances, only once the walk has been there.
pub fn is_decided_late(kind: &NodeKind) -> bool {
    matches!(kind, NodeKind::Object(..) | NodeKind::Pending(_) | NodeKind::CallKeys(_))
}

fn needs_provider(observer: &Observer<'_>, _: &Progress, node: Node) -> bool {
    matches!(observer.values.structure.kind(node), NodeKind::Object(..) | NodeKind::Deposed(..))
}

/// Nodes that need no provider: values, key sets, collections – and whatever is blocked.
fn value_node(observer: &Observer<'_>, progress: &mut Progress, node: Node) -> Option<Answer> {
    let values = &observer.values;
    if progress.by_node.is_blocked(node) {
        return Some(Answer::Nothing);
    }
    match values.structure.kind(node) {
        NodeKind::Pending(_) | NodeKind::CallKeys(_) if progress.expanded.contains(&node) => {
            Some(Answer::Nothing)
        }
        NodeKind::Pending(_) => {
            progress.to_expand.push(node);
            None
        }
        NodeKind::CallKeys(call) if values.structure.call(*call).pending => {
            progress.to_expand.push(node);
            None
        }
        NodeKind::Variable(..) | NodeKind::Local(..) if progress.evaluate_all => {
            let failed = values.value(node).is_err() || !observer.validate_variable(node);
            Some(if failed { Answer::Failed } else { Answer::Nothing })
        }
        NodeKind::Output(module, _)
            if progress.evaluate_all && *module != crate::lower::Structure::ROOT =>
        {
            let failed = values.value(node).is_err() || !observer.output_conditions(node);
            Some(if failed { Answer::Failed } else { Answer::Nothing })
        }
        _ => Some(Answer::Nothing),
    }
}

/// Returns what is needed to speak of an object: its resource, schema and configured provider.
pub async fn subject<'o>(
    observer: &'o Observer<'_>,
    resource: ResourceId,
    key: &InstanceKey,
) -> Option<Subject<'o>> {
    let structure = &observer.values.structure;
    let node = structure.resource(resource);
    let mut block = structure.block(resource)?;
    if block.generated
        && let Some((generated, _)) = observer.imports.generated(&node.address.config())
    {
        block = &generated.block;
    }
    let config = node.provider.clone()?;
    let schema = observer.pool.resource_schema(
        &config.provider,
        node.address.resource.mode,
        &node.address.resource.kind,
    )?;
    let provider = observer.provider(&observer.serving(resource, key)?).await?;
    Some(Subject {
        resource,
        module: node.module?,
        key: key.clone(),
        address: node.address.instance(key.clone()),
        block,
        schema,
        provider,
    })
}

async fn ask(observer: &Observer<'_>, node: Node, part: Part) -> Answer {
    let structure = &observer.values.structure;
    let (resource, key, deposed) = match structure.kind(node) {
        NodeKind::Object(resource, key) => (*resource, key.clone(), None),
        NodeKind::Deposed(resource, key, deposed) => {
            (*resource, key.clone(), Some(deposed.clone()))
        }
        _ => return Answer::Nothing,
    };
    if part != Part::Selected {
        return Answer::Frozen(observer.frozen(node).await);
    }
    let address = structure.resource(resource).address.instance(key.clone());
    let is_declared =
        deposed.is_none() && structure.resource(resource).instances.contains_key(&key);
    let _permit = observer.calls.acquire().await;
    match address.resource.mode {
        Mode::Managed if is_declared && observer.request.mode == PlanMode::Normal => {
            declared(observer, resource, &key, &address).await
        }
        Mode::Managed if deposed.is_none() && observer.adopts(&address).is_some() => {
            adopting(observer, resource, &key).await
        }
        Mode::Managed => existing(observer, resource, &address, deposed.as_deref()).await,
        Mode::Data | Mode::Ephemeral
            if is_declared && observer.request.mode != PlanMode::Destroy =>
        {
            data(observer, resource, &key).await
        }
        _ => Answer::Nothing,
    }
}

async fn declared(
    observer: &Observer<'_>,
    resource: ResourceId,
    key: &InstanceKey,
    address: &Instance,
) -> Answer {
    let Some(subject) = subject(observer, resource, key).await else { return Answer::Failed };
    let prior = match observer.state.current(address) {
        Some(stored) => {
            let refresh =
                if observer.request.skip_refresh { Refresh::Skip } else { Refresh::Current };
            observer.prior(address, stored, subject.schema, &subject.provider, refresh).await
        }
        None => match observer.wish(address) {
            Err(()) => None,
            Ok(Some(wish)) if observer.state.instance(address).is_none() => {
                observer.import(&subject, &wish).await
            }
            Ok(_) => Some(Prior::absent(subject.schema)),
        },
    };
    let Some(prior) = prior else { return Answer::Failed };
    let mut subject = subject;
    if subject.block.generated && prior.imported.is_some() {
        match observer.generate(&subject, &prior) {
            Some(generated) => subject.block = &generated.block,
            None => return Answer::Failed,
        }
    }
    match observer.plan(&subject, prior).await {
        Some(planned) => Answer::Planned(Box::new(planned)),
        None => Answer::Failed,
    }
}

/// What `import` finds at once, for an instance that must not have an object yet.
async fn adopting(observer: &Observer<'_>, resource: ResourceId, key: &InstanceKey) -> Answer {
    let Some(subject) = subject(observer, resource, key).await else { return Answer::Failed };
    match observer.adopt(&subject).await {
        Some(prior) => Answer::Existing(Box::new(prior)),
        None => Answer::Failed,
    }
}

async fn existing(
    observer: &Observer<'_>,
    resource: ResourceId,
    address: &Instance,
    deposed: Option<&str>,
) -> Answer {
    let Some(instance) = observer.state.instance(address) else { return Answer::Nothing };
    let stored = match deposed {
        Some(key) => instance.deposed.get(key),
        None => instance.current.as_ref(),
    };
    let Some(stored) = stored else { return Answer::Nothing };
    let node = match deposed {
        Some(deposed) => {
            let deposed = (address.key.clone(), crate::value::Str::from(deposed));
            observer.values.structure.resource(resource).deposed.get(&deposed).copied()
        }
        None => observer.values.structure.resource(resource).instance(&address.key),
    };
    let Some((schema, provider)) = serving(observer, resource, address, node).await else {
        return Answer::Failed;
    };
    let refresh = match deposed {
        _ if observer.request.skip_refresh => Refresh::Skip,
        None => Refresh::Current,
        Some(key) => Refresh::Deposed(key),
    };
    match observer.prior(address, stored, &schema, &provider, refresh).await {
        Some(prior) => Answer::Existing(Box::new(prior)),
        None => Answer::Failed,
    }
}

/// The schema and provider of an object that may have no block any more.
pub async fn serving(
    observer: &Observer<'_>,
    resource: ResourceId,
    address: &Instance,
    node: Option<Node>,
) -> Option<(std::sync::Arc<Schema>, std::sync::Arc<dyn crate::provider::Provider>)> {
    let instance = serving_instance(observer, resource, address, node)?;
    let config = &instance.config;
    let schema = observer
        .pool
        .resource_schema(&config.provider, address.resource.mode, &address.resource.kind)
        .cloned();
    let Some(schema) = schema else {
        observer.values.report([unknown_type(address, &config.provider.to_string())]);
        return None;
    };
    let provider = observer.provider(&instance).await?;
    Some((schema, provider))
}

/// The provider instance of an object that may have no block any more: as concluded, else as the state names it.
pub fn serving_instance(
    observer: &Observer<'_>,
    resource: ResourceId,
    address: &Instance,
    node: Option<Node>,
) -> Option<ProviderInstance> {
    if let Some(known) = node.and_then(|it| observer.serving.known.get(&it)) {
        return Some(known.clone());
    }
    let recorded = observer.state.resources.get(&address.of());
    let key = recorded.and_then(|it| it.instances.get(&address.key));
    let key = key.map(|it| it.provider_key.clone()).unwrap_or_default();
    let config = observer.values.structure.resource(resource).provider.clone();
    let config = config.or_else(|| recorded.map(|it| it.provider.clone()))?;
    Some(ProviderInstance { config, key })
}

fn unknown_type(address: &Instance, provider: &str) -> crate::diagnostic::Diagnostic {
    crate::diagnostic::Diagnostic::error("Invalid resource type").about(address).detail(format!(
        "The provider {provider} does not support resource type \"{}\", which the state holds as {address}.",
        address.resource.kind
    ))
}

async fn data(observer: &Observer<'_>, resource: ResourceId, key: &InstanceKey) -> Answer {
    let Some(subject) = subject(observer, resource, key).await else { return Answer::Failed };
    match observer.ask_data(&subject) {
        Some(question) => Answer::Asked(Box::new(question)),
        None => Answer::Failed,
    }
}

/// Lets the rules decide a batch, does what the decisions ask for, and settles its nodes.
async fn conclude(observer: &Observer<'_>, progress: &mut Progress, answers: Vec<(Node, Answer)>) {
    let mut batch = progress.by_node.batch();
    let mut trivial = true;
    for (node, answer) in &answers {
        let is_frozen = matches!(answer, Answer::Frozen(_));
        let is_plain =
            matches!(answer, Answer::Nothing) && progress.parts[node.0 as usize] == Part::NoObject;
        if is_frozen || (is_plain && !progress.by_node.matters(*node)) {
            continue;
        }
        trivial = false;
        progress.by_node.describe(&mut batch, *node, observer.values.structure.kind(*node));
        answer_facts(observer, progress, &mut batch, *node, answer);
    }
    let decisions = if trivial { Decisions::default() } else { decide(&batch) };
    progress.by_node.learn(&batch, &decisions);
    let actions: FxHashMap<Node, (Action, Reason)> =
        decisions.action.iter().map(|it| (it.0, (it.1, it.2))).collect();
    let mut second = FuturesUnordered::new();
    for (node, answer) in answers {
        let action = actions.get(&node).copied();
        let reads_now = decisions.reads_now.binary_search(&(node,)).is_ok()
            || decisions.opens.binary_search(&(node,)).is_ok();
        second.push(finish(observer, node, answer, action, reads_now).map(move |it| (node, it)));
    }
    while let Some((node, outcome)) = second.next().await {
        record(observer, progress, node, outcome);
        observer.values.decide(node);
        progress.schedule.settle(node.0);
        observer.close(observer.leases.done(node)).await;
    }
    progress.facts.absorb(&batch);
    progress.decisions.absorb(&decisions);
}

/// Writes what was answered of a node.
fn answer_facts(
    observer: &Observer<'_>,
    progress: &Progress,
    batch: &mut Facts,
    node: Node,
    answer: &Answer,
) {
    let mut existing = |prior: &Prior| {
        if !prior.value.is_null() {
            batch.prior.push((node,));
            if prior.tainted {
                batch.tainted.push((node,));
            }
        }
    };
    match answer {
        Answer::Failed => batch.failed.push((node,)),
        Answer::Existing(prior) => existing(prior),
        Answer::Planned(planned) => {
            existing(&planned.prior);
            if planned.differs() {
                batch.differs.push((node,));
            } else if planned.marks_differ() {
                batch.marks_differ.push((node,));
            }
            if !planned.replace_paths.is_empty() || planned.write_only_replace {
                batch.must_replace.push((node,));
            }
            for trigger in progress.triggers.get(&node).into_iter().flatten() {
                if trigger_differs(progress, trigger) {
                    batch.trigger_differs.push((node, trigger.target));
                }
            }
        }
        Answer::Asked(question) => {
            if !question.is_known {
                batch.config_unknown.push((node,));
            }
            if question.recorded.is_some() {
                batch.recorded_result.push((node,));
            }
        }
        Answer::Nothing | Answer::Frozen(_) => {}
    }
    let _ = observer;
}

/// Returns whether the attribute that a trigger names changes.
fn trigger_differs(progress: &Progress, trigger: &Trigger) -> bool {
    let Some(found) = progress.found.get(&trigger.target) else { return false };
    let reach = |value: &Value| {
        let mut value = value.unmark_deep().0;
        for step in &trigger.path {
            value = match step {
                crate::syntax::Step::Attribute(name) => value.get(&name.text)?.clone(),
                crate::syntax::Step::LegacyIndex(index, _) => {
                    value.children().nth(*index as usize)?.clone()
                }
                crate::syntax::Step::Index(key, _) => match &key.expr {
                    crate::syntax::Expr::String(text) => value.get(text)?.clone(),
                    crate::syntax::Expr::Number(number) => {
                        value.children().nth(number.as_i64()? as usize)?.clone()
                    }
                    _ => return None,
                },
                crate::syntax::Step::Splat { .. } => return None,
            };
        }
        Some(value)
    };
    let before = found.prior.as_ref().and_then(|it| reach(&it.value));
    let after = reach(&found.after);
    before != after
}

enum Outcome {
    Nothing,
    Failed,
    Value(Option<Value>),
    Result(Value),
    Found(Box<Found>),
    /// Decided, and forbidden: it is shown, and nothing rests on it.
    Refused(Box<Found>),
    /// It is out of the state without a change; what it was.
    Dropped(Option<Box<Prior>>),
}

/// Does what a decision asks for before the node is settled: a second planning call, a read, a removal.
async fn finish(
    observer: &Observer<'_>,
    node: Node,
    answer: Answer,
    action: Option<(Action, Reason)>,
    reads_now: bool,
) -> Outcome {
    match (answer, action) {
        (Answer::Frozen(value), _) => Outcome::Value(value),
        (Answer::Failed, _) => unusable(observer, node),
        (Answer::Nothing, Some((Action::Drop, _))) => Outcome::Dropped(None),
        (Answer::Nothing, _) => Outcome::Nothing,
        (Answer::Planned(planned), Some((action, reason))) => {
            changed(observer, node, *planned, action, reason).await
        }
        (Answer::Existing(prior), Some((action, reason))) => {
            removed(observer, node, *prior, action, reason).await
        }
        (Answer::Asked(question), action) => {
            read(observer, node, *question, action, reads_now).await
        }
        (Answer::Planned(_) | Answer::Existing(_), None) => Outcome::Nothing,
    }
}

async fn changed(
    observer: &Observer<'_>,
    node: Node,
    planned: Planned,
    action: Action,
    reason: Reason,
) -> Outcome {
    let NodeKind::Object(resource, key) = observer.values.structure.kind(node) else {
        return Outcome::Nothing;
    };
    let replaces = matches!(
        action,
        Action::DeleteThenCreate | Action::CreateThenDelete | Action::ForgetThenCreate
    );
    let mut planned = planned;
    let mut recorded_marks = None;
    let Some(subject) = subject(observer, *resource, key).await else { return Outcome::Failed };
    if replaces && !planned.prior.tainted {
        recorded_marks = Some(lasting(planned.config.unmark_paths().1));
        match observer.replan(&subject, &planned).await {
            Some(second) => planned = second,
            None => return Outcome::Failed,
        }
    }
    let destroys = matches!(action, Action::DeleteThenCreate | Action::CreateThenDelete);
    let refused = !observer.may_destroy(*resource, Some(&subject.address), destroys);
    let after = if action == Action::NoOp { planned.prior.value.clone() } else { planned.value };
    let after = if reason == Reason::KeptForAnother { planned.prior.value.clone() } else { after };
    // What is planned is shown even if it is not as it should be.
    let refused = refused || !observer.postconditions(&subject, &after);
    let replace_paths = if replaces { planned.replace_paths } else { Vec::new() };
    found(
        Found {
            action,
            reason,
            prior: Some(planned.prior),
            after,
            private: planned.private,
            identity: planned.identity,
            replace_paths,
            recorded_marks,
        },
        refused,
    )
}

/// What cannot be planned is not shown – save an object for which a block was written: the block is to be had all the same.
fn unusable(observer: &Observer<'_>, node: Node) -> Outcome {
    let address = observer.values.structure.instance(node);
    let Some((_, object)) = address.and_then(|it| observer.imports.generated(&it.config())) else {
        return Outcome::Failed;
    };
    let prior = Prior { imported: None, ..object.clone() };
    let after = prior.value.clone();
    let placeholder = Found {
        action: Action::NoOp,
        reason: Reason::Plain,
        prior: Some(prior),
        after,
        identity: None,
        private: Vec::new(),
        replace_paths: Vec::new(),
        recorded_marks: None,
    };
    found(placeholder, true)
}

fn found(found: Found, refused: bool) -> Outcome {
    if refused { Outcome::Refused(Box::new(found)) } else { Outcome::Found(Box::new(found)) }
}

async fn removed(
    observer: &Observer<'_>,
    node: Node,
    prior: Prior,
    action: Action,
    reason: Reason,
) -> Outcome {
    let (resource, key, is_current) = match observer.values.structure.kind(node) {
        NodeKind::Object(resource, key) => (*resource, key, true),
        NodeKind::Deposed(resource, key, _) => (*resource, key, false),
        _ => return Outcome::Nothing,
    };
    let address = observer.values.structure.resource(resource).address.instance(key.clone());
    let null = Value::Null(prior.value.ty());
    let mut private = prior.private.clone();
    let mut refused = false;
    match action {
        Action::Drop => return Outcome::Dropped(Some(Box::new(prior))),
        Action::Delete => {
            refused = is_current && !observer.may_destroy(resource, Some(&address), true);
            let Some((schema, provider)) = serving(observer, resource, &address, Some(node)).await
            else {
                return Outcome::Failed;
            };
            match observer.plan_removal(&address, &schema, &provider, &prior).await {
                Some(planned) => private = planned,
                None => return Outcome::Failed,
            }
        }
        Action::Forget if observer.request.mode == PlanMode::Normal => {
            observer.values.report([problems::forgotten(&address)]);
        }
        _ => {}
    }
    let after = if action == Action::NoOp { prior.value.clone() } else { null };
    found(
        Found {
            action,
            reason,
            prior: Some(prior),
            after,
            private,
            identity: None,
            replace_paths: Vec::new(),
            recorded_marks: None,
        },
        refused,
    )
}

async fn read(
    observer: &Observer<'_>,
    node: Node,
    question: Question,
    action: Option<(Action, Reason)>,
    reads_now: bool,
) -> Outcome {
    let NodeKind::Object(resource, key) = observer.values.structure.kind(node) else {
        return Outcome::Nothing;
    };
    let Some(subject) = subject(observer, *resource, key).await else { return Outcome::Failed };
    if subject.address.resource.mode == Mode::Ephemeral {
        return opened(observer, node, &subject, &question, reads_now).await;
    }
    let mut value = None;
    if reads_now {
        observer.events.read_started(&subject.address);
        let since = std::time::Instant::now();
        value = observer.read_data(&subject, &question.config).await;
        match &value {
            Some(read) => {
                observer.events.read_finished(&subject.address, read, since);
                if !observer.postconditions(&subject, read) {
                    return Outcome::Failed;
                }
            }
            // In a check it has only failed the check, and is read again when the plan is carried out.
            None if subject.block.check.is_some() => {}
            None => return Outcome::Failed,
        }
    }
    match (action, value) {
        (Some((Action::Read, reason)), value) => {
            let after = value.unwrap_or_else(|| unread(&subject, &question));
            let recorded_marks = Some(question.config.unmark_paths().1);
            found(
                Found {
                    action: Action::Read,
                    reason,
                    prior: None,
                    after,
                    private: Vec::new(),
                    identity: None,
                    replace_paths: Vec::new(),
                    recorded_marks,
                },
                false,
            )
        }
        (_, Some(value)) => Outcome::Result(value),
        (_, None) => match question.recorded {
            Some(recorded) => Outcome::Result(recorded),
            None => Outcome::Value(Some(unread(&subject, &question))),
        },
    }
}

/// Opens an ephemeral resource, or leaves that to the apply.
async fn opened(
    observer: &Observer<'_>,
    node: Node,
    subject: &Subject<'_>,
    question: &Question,
    now: bool,
) -> Outcome {
    if !now {
        let why = match question.is_known {
            true => "pending dependencies",
            false => "unknown configuration",
        };
        observer.events.deferred(&subject.address, why);
        let value = ephemeral::unopened(subject, &question.config);
        return Outcome::Value(Some(value));
    }
    let Some(value) = observer.open(node, subject, &question.config).await else {
        return Outcome::Failed;
    };
    let passed = observer.postconditions(subject, &value);
    if observer.leases.is_idle(node) {
        observer.close(vec![node]).await;
    }
    if passed { Outcome::Value(Some(value)) } else { Outcome::Failed }
}

/// What is known of a data source that is read later.
fn unread(subject: &Subject<'_>, question: &Question) -> Value {
    let schema = &subject.schema.block;
    schema::mark_sensitive(&schema::planned_unknown(schema, &question.config), schema)
}

fn record(observer: &Observer<'_>, progress: &mut Progress, node: Node, outcome: Outcome) {
    match outcome {
        Outcome::Nothing | Outcome::Value(None) => {}
        Outcome::Failed => progress.by_node.fail(node),
        Outcome::Value(Some(value)) => observer.values.settle(node, value),
        Outcome::Result(value) => {
            observer.values.settle(node, value.clone());
            progress.results.insert(node, value);
        }
        Outcome::Dropped(prior) => {
            progress.dropped.push(node);
            progress.gone.extend(prior.map(|it| (node, *it)));
        }
        Outcome::Refused(found) => {
            progress.by_node.fail(node);
            progress.found.insert(node, *found);
        }
        Outcome::Found(found) => {
            if !found.after.is_null() {
                observer.values.settle(node, found.after.clone());
            }
            progress.found.insert(node, *found);
        }
    }
}
