//! Ephemeral resources: opened when something needs them, renewed while it does, closed when nothing does any more.
//!
//! Their values live in the table of values only; neither a plan nor a state holds them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use entail_rules::{Node, ephemeral_uses};
use parking_lot::{Mutex, MutexGuard};
use rustc_hash::FxHashMap;

use super::object::ObjectContext;
use super::pool::Era;
use super::{Observer, problems};
use crate::address::Instance;
use crate::event::Phase;
use crate::provider::Provider;
use crate::schema;
use crate::value::{Marks, Plain, Value};

/// Where nothing is to be renewed, it is looked again after this long.
const IDLE: Duration = Duration::from_secs(60);

/// What is open: an ephemeral resource, and which values its arguments have.
type Open = (Node, Era);

/// An open ephemeral resource.
#[derive(Clone)]
struct Opened {
    address: Instance,
    /// What it was opened with.
    config: Plain,
    provider: Arc<dyn Provider>,
    private: Vec<u8>,
    renew_at: Option<DateTime<Utc>>,
}

/// The ephemeral resources that are open, and who still uses them.
#[derive(Default)]
pub struct EphemeralUses {
    /// What each node uses.
    used: FxHashMap<Node, Vec<Node>>,
    /// How many users each of them still has.
    left: Mutex<FxHashMap<Node, usize>>,
    open: Mutex<BTreeMap<Open, Opened>>,
    changed: tokio::sync::Notify,
}

impl EphemeralUses {
    /// Returns who uses what while planning, where each node is done once.
    pub fn planning(concluded: &ephemeral_uses::EphemeralUses) -> EphemeralUses {
        let until = concluded.kept_until.iter();
        EphemeralUses::of(concluded, until.map(|&(resource, user)| (resource, user)))
    }

    /// Returns who uses what while a plan is carried out, where a node is done once for each step.
    pub fn carrying(concluded: &ephemeral_uses::EphemeralUses) -> EphemeralUses {
        let steps = concluded.kept_for_step.iter();
        EphemeralUses::of(concluded, steps.map(|&(resource, user, _)| (resource, user)))
    }

    /// `uses`: each resource with each user, once for each time that the user is done. What is kept to the end has one user more.
    fn of(
        concluded: &ephemeral_uses::EphemeralUses,
        uses: impl Iterator<Item = (Node, Node)>,
    ) -> EphemeralUses {
        let mut found = EphemeralUses::default();
        let mut left: FxHashMap<Node, usize> = FxHashMap::default();
        for (resource, user) in uses {
            *left.entry(resource).or_default() += 1;
            let used = found.used.entry(user).or_default();
            if used.last() != Some(&resource) {
                used.push(resource);
            }
        }
        for (resource, _) in &concluded.kept_to_end {
            *left.entry(*resource).or_default() += 1;
        }
        found.left = Mutex::new(left);
        found
    }

    /// Says that a node found in the walk uses, and is used, as the pending one does that it belongs to.
    pub fn as_pending(&mut self, node: Node, pending: Node) {
        let left = self.left.get_mut();
        if let Some(used) = self.used.get(&pending).cloned() {
            used.iter().for_each(|it| *left.entry(*it).or_default() += 1);
            self.used.insert(node, used);
        }
        if let Some(users) = left.get(&pending).copied() {
            left.insert(node, users);
            let used = self.used.values_mut().filter(|it| it.contains(&pending));
            used.for_each(|it| it.push(node));
        }
    }

    /// Says that a node is done, and returns what nothing uses any more.
    pub fn done(&self, node: Node) -> Vec<Node> {
        let Some(used) = self.used.get(&node) else { return Vec::new() };
        let mut left = self.left.lock();
        let is_idle = |it: &&Node| {
            let count = left.entry(**it).or_default();
            *count = count.saturating_sub(1);
            *count == 0
        };
        used.iter().filter(is_idle).copied().collect()
    }

    /// Returns whether nothing uses a resource, so that it is closed as soon as it was opened.
    pub fn is_idle(&self, node: Node) -> bool {
        let left = self.left.lock();
        left.get(&node).is_none_or(|it| *it == 0)
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<Open, Opened>> {
        self.open.lock()
    }

    /// Returns what is to be renewed next.
    fn next_due(&self) -> Option<(Open, Opened, DateTime<Utc>)> {
        let open = self.open();
        let due = open.iter().filter_map(|it| Some((*it.0, it.1.clone(), it.1.renew_at?)));
        due.min_by_key(|it| it.2)
    }
}

impl Observer<'_> {
    /// Opens an ephemeral resource and returns its value. `None` where that failed; the problem has been reported.
    pub async fn open(
        &self,
        which: (Node, Era),
        subject: &ObjectContext<'_>,
        config: &Value,
    ) -> Option<Value> {
        let config = config.to_marked_by_path();
        let kind = &*subject.block.name.kind;
        let mut found = subject.provider.validate_ephemeral(kind, config.value()).await;
        if self.failed(&found) {
            self.report_provider(&subject.address, Some(subject.block), &found);
            return None;
        }
        let opening = subject.provider.open(kind, config.value());
        let response = self.events.calling_ephemeral(&subject.address, Phase::Open, opening).await;
        found.extend(response.diagnostics);
        self.report_provider(&subject.address, Some(subject.block), &found);
        let opened = response.value.filter(|_| !self.failed(&found))?;
        if opened.value.is_null() || !opened.value.is_wholly_known() {
            self.values.report([problems::data_not_known(&subject.address)]);
            return None;
        }
        let with = config.value().clone();
        let value = marked(&config.with(opened.value).into(), subject);
        let opened = Opened {
            address: subject.address.clone(),
            config: with,
            provider: subject.provider.clone(),
            private: opened.private,
            renew_at: opened.renew_at,
        };
        self.ephemeral_uses.open().insert(which, opened);
        self.ephemeral_uses.changed.notify_one();
        Some(value)
    }

    /// Returns whether an ephemeral resource is open, and was opened with these arguments.
    pub(super) fn is_open_with(&self, node: Node, config: &Value) -> bool {
        let open = self.ephemeral_uses.open();
        open.get(&(node, Era::Current)).is_some_and(|it| it.config == config.to_plain())
    }

    /// Closes what nothing uses any more.
    pub async fn close(&self, nodes: Vec<Node>) {
        self.close_each(nodes.into_iter().map(|it| (it, Era::Current)).collect()).await;
    }

    async fn close_each(&self, which: Vec<Open>) {
        for it in which {
            let Some(opened) = self.ephemeral_uses.open().remove(&it) else { continue };
            let closing = opened.provider.close(&opened.address.resource.kind, &opened.private);
            let found = self.events.calling_ephemeral(&opened.address, Phase::Close, closing).await;
            self.report_provider(&opened.address, None, &found);
        }
    }

    /// Closes whatever is still open, users before what they used.
    pub async fn close_all(&self) {
        let open: Vec<Open> = self.ephemeral_uses.open().keys().rev().copied().collect();
        self.close_each(open).await;
    }

    /// Renews what is open whenever its time has come. Never ends.
    pub async fn keep_open(&self) -> std::convert::Infallible {
        loop {
            let due = self.ephemeral_uses.next_due();
            let wait = due
                .as_ref()
                .map_or(IDLE, |it| (it.2 - self.values.world.now()).to_std().unwrap_or_default());
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = self.ephemeral_uses.changed.notified() => continue,
            }
            if let Some((which, opened, _)) = due {
                self.renew(which, &opened).await;
            }
        }
    }

    async fn renew(&self, which: Open, opened: &Opened) {
        let renewing = opened.provider.renew(&opened.address.resource.kind, &opened.private);
        let response = self.events.calling_ephemeral(&opened.address, Phase::Renew, renewing).await;
        self.report_provider(&opened.address, None, &response.diagnostics);
        let failed = self.failed(&response.diagnostics);
        if let Some(open) = self.ephemeral_uses.open().get_mut(&which) {
            // One that could not be renewed is not asked over and over.
            open.renew_at = None;
            if let Some(renewed) = response.value.filter(|_| !failed) {
                open.private = renewed.private;
                open.renew_at = renewed.renew_at;
            }
        }
    }
}

/// The value of an ephemeral resource as expressions see it.
fn marked(value: &Value, subject: &ObjectContext<'_>) -> Value {
    schema::mark_sensitive(value, &subject.schema.block).mark(&Marks::ephemeral())
}

/// What is known of an ephemeral resource that is opened later.
pub fn unopened(subject: &ObjectContext<'_>, config: &Value) -> Value {
    marked(&schema::planned_unknown(&subject.schema.block, config), subject)
}
