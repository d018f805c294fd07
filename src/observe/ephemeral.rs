//! Ephemeral resources: opened when something needs them, renewed while it does, closed when nothing does any more.
//!
//! Their values live in the table of values only; neither a plan nor a state holds them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use chrono::{DateTime, Utc};
use entail_rules::{Facts, Node, providers::Providers};
use rustc_hash::{FxHashMap, FxHashSet};

use super::object::Subject;
use super::{Observer, problems};
use crate::address::Instance;
use crate::event::Phase;
use crate::lower::structure::{NodeKind, Structure};
use crate::provider::Provider;
use crate::schema;
use crate::value::path::mark_paths;
use crate::value::{Marks, Value};

/// Where nothing is to be renewed, it is looked again after this long.
const IDLE: Duration = Duration::from_secs(60);

/// An open ephemeral resource.
#[derive(Clone)]
struct Lease {
    address: Instance,
    provider: Arc<dyn Provider>,
    private: Vec<u8>,
    renew_at: Option<DateTime<Utc>>,
}

/// The ephemeral resources that are open, and who still uses them.
#[derive(Default)]
pub struct Leases {
    /// What each node uses.
    used: FxHashMap<Node, Vec<Node>>,
    /// How many users each of them still has.
    left: Mutex<FxHashMap<Node, usize>>,
    open: Mutex<BTreeMap<Node, Lease>>,
    changed: tokio::sync::Notify,
}

impl Leases {
    /// Returns whether there is anything that may be lent.
    pub fn may_lend(facts: &Facts) -> bool {
        !(facts.ephemeral.is_empty() && facts.pending.is_empty())
    }

    /// Returns who uses what. `uses` is how often a node must be done before it uses nothing any more; a node for which
    /// it is `None` never is: it is evaluated last.
    pub fn of(
        facts: &Facts,
        providers: &Providers,
        structure: &Structure,
        uses: &dyn Fn(Node) -> Option<usize>,
    ) -> Leases {
        let mut leases = Leases::default();
        if !Leases::may_lend(facts) {
            return leases;
        }
        let mut readers: FxHashMap<Node, Vec<Node>> = FxHashMap::default();
        let reads = facts.reads.iter().chain(&facts.may_read);
        reads.for_each(|it| readers.entry(it.1).or_default().push(it.0));
        facts.member.iter().for_each(|it| readers.entry(it.0).or_default().push(it.1));
        providers.serves.iter().for_each(|it| readers.entry(it.0).or_default().push(it.1));
        let is_ephemeral = |node: Node| match structure.kind(node) {
            NodeKind::Object(resource, _) | NodeKind::Pending(resource) => {
                structure.resource(*resource).address.resource.mode
                    == crate::address::Mode::Ephemeral
            }
            _ => false,
        };
        let all = facts.ephemeral.iter().chain(&facts.pending).map(|it| it.0);
        let last: FxHashSet<Node> = facts.evaluated_last.iter().map(|it| it.0).collect();
        let mut left = FxHashMap::default();
        for node in all.filter(|it| is_ephemeral(*it)) {
            let (mut seen, mut open) = (FxHashSet::from_iter([node]), vec![node]);
            let mut count = 0;
            while let Some(next) = open.pop() {
                for &reader in readers.get(&next).into_iter().flatten() {
                    if !seen.insert(reader) {
                        continue;
                    }
                    if last.contains(&reader) {
                        count += 1;
                        continue;
                    }
                    let is_object = matches!(
                        structure.kind(reader),
                        NodeKind::Object(..) | NodeKind::Deposed(..) | NodeKind::Pending(_)
                    );
                    if is_object {
                        let times = uses(reader);
                        count += times.unwrap_or(1);
                        if times != Some(0) {
                            leases.used.entry(reader).or_default().push(node);
                        }
                    }
                    if !is_object || is_ephemeral(reader) {
                        open.push(reader);
                    }
                }
            }
            left.insert(node, count);
        }
        leases.left = Mutex::new(left);
        leases
    }

    /// Says that a node found in the walk uses, and is used, as the pending one does that it belongs to.
    pub fn as_pending(&mut self, node: Node, pending: Node) {
        let left = self.left.get_mut().unwrap_or_else(|it| it.into_inner());
        if let Some(used) = self.used.get(&pending).cloned() {
            used.iter().for_each(|it| *left.entry(*it).or_default() += 1);
            self.used.insert(node, used);
        }
        if let Some(users) = left.get(&pending).copied() {
            left.insert(node, users);
            let lenders = self.used.values_mut().filter(|it| it.contains(&pending));
            lenders.for_each(|it| it.push(node));
        }
    }

    /// Says that a node is done, and returns what nothing uses any more.
    pub fn done(&self, node: Node) -> Vec<Node> {
        let Some(used) = self.used.get(&node) else { return Vec::new() };
        let mut left = self.left.lock().unwrap_or_else(|it| it.into_inner());
        let is_idle = |it: &&Node| {
            let count = left.entry(**it).or_default();
            *count = count.saturating_sub(1);
            *count == 0
        };
        used.iter().filter(is_idle).copied().collect()
    }

    /// Returns whether nothing uses a resource, so that it is closed as soon as it was opened.
    pub fn is_idle(&self, node: Node) -> bool {
        let left = self.left.lock().unwrap_or_else(|it| it.into_inner());
        left.get(&node).is_none_or(|it| *it == 0)
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<Node, Lease>> {
        self.open.lock().unwrap_or_else(|it| it.into_inner())
    }

    /// Returns what is to be renewed next.
    fn next_due(&self) -> Option<(Node, Lease, DateTime<Utc>)> {
        let open = self.open();
        let due = open.iter().filter_map(|it| Some((*it.0, it.1.clone(), it.1.renew_at?)));
        due.min_by_key(|it| it.2)
    }
}

impl Observer<'_> {
    /// Opens an ephemeral resource and returns its value. `None` where that failed; the problem has been reported.
    pub async fn open(&self, node: Node, subject: &Subject<'_>, config: &Value) -> Option<Value> {
        let (plain, marks) = config.unmark_paths();
        let kind = &*subject.block.name.kind;
        let mut found = subject.provider.validate_ephemeral(kind, &plain).await;
        if self.failed(&found) {
            self.report_provider(&subject.address, Some(subject.block), &found);
            return None;
        }
        let opening = subject.provider.open(kind, &plain);
        let response = self.events.lending(&subject.address, Phase::Open, opening).await;
        found.extend(response.diagnostics);
        self.report_provider(&subject.address, Some(subject.block), &found);
        let opened = response.value.filter(|_| !self.failed(&found))?;
        if opened.value.is_null() || !opened.value.is_wholly_known() {
            self.values.report([problems::data_not_known(&subject.address)]);
            return None;
        }
        let lease = Lease {
            address: subject.address.clone(),
            provider: subject.provider.clone(),
            private: opened.private,
            renew_at: opened.renew_at,
        };
        self.leases.open().insert(node, lease);
        self.leases.changed.notify_one();
        Some(lent(&mark_paths(&opened.value, &marks), subject))
    }

    /// Closes what nothing uses any more.
    pub async fn close(&self, nodes: Vec<Node>) {
        for node in nodes {
            let Some(lease) = self.leases.open().remove(&node) else { continue };
            let closing = lease.provider.close(&lease.address.resource.kind, &lease.private);
            let found = self.events.lending(&lease.address, Phase::Close, closing).await;
            self.report_provider(&lease.address, None, &found);
        }
    }

    /// Closes whatever is still open, users before what they used.
    pub async fn close_all(&self) {
        let open: Vec<Node> = self.leases.open().keys().rev().copied().collect();
        self.close(open).await;
    }

    /// Renews what is open whenever its time has come. Never ends.
    pub async fn keep_open(&self) -> std::convert::Infallible {
        loop {
            let due = self.leases.next_due();
            let wait = due
                .as_ref()
                .map_or(IDLE, |it| (it.2 - self.values.world.now()).to_std().unwrap_or_default());
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = self.leases.changed.notified() => continue,
            }
            if let Some((node, lease, _)) = due {
                self.renew(node, &lease).await;
            }
        }
    }

    async fn renew(&self, node: Node, lease: &Lease) {
        let renewing = lease.provider.renew(&lease.address.resource.kind, &lease.private);
        let response = self.events.lending(&lease.address, Phase::Renew, renewing).await;
        self.report_provider(&lease.address, None, &response.diagnostics);
        let failed = self.failed(&response.diagnostics);
        if let Some(open) = self.leases.open().get_mut(&node) {
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
fn lent(value: &Value, subject: &Subject<'_>) -> Value {
    schema::mark_sensitive(value, &subject.schema.block).mark(&Marks::ephemeral())
}

/// What is known of an ephemeral resource that is opened later.
pub fn unopened(subject: &Subject<'_>, config: &Value) -> Value {
    lent(&schema::planned_unknown(&subject.schema.block, config), subject)
}
