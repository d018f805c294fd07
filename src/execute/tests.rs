//! What a listener is told, and when; whole runs are in `testdata` and `tests/it`.

use std::time::Duration;

use parking_lot::Mutex;
use pretty_assertions::assert_eq;

use super::Queue;
use crate::address::{Instance, InstanceKey, ModuleInstance, ResourceName};
use crate::event::{Event, EventObject, Sink};
use crate::plan::Action;

#[test]
fn what_is_recorded_nowhere_is_not_reported_as_complete() {
    #[derive(Default)]
    struct Count(Mutex<Vec<String>>);
    impl Sink for Count {
        fn event(&self, event: Event) {
            let name = format!("{event:?}").split('(').next().unwrap_or_default().to_owned();
            self.0.lock().push(name);
        }
    }
    let address = Instance {
        module: ModuleInstance::default(),
        resource: ResourceName::managed("t", "a"),
        key: InstanceKey::None,
    };
    let subject = EventObject { address, deposed: None, id: None };
    let listener = Count::default();
    let queue = Queue::new(&listener);
    queue.event(Event::ApplyStart(subject.clone(), Action::Create));
    assert!(listener.0.lock().is_empty());
    queue.release();
    queue.event(Event::ApplyComplete(subject, Action::Create, Duration::ZERO));
    queue.event(Event::Message("bye".into()));
    assert_eq!(queue.release_unsaved(), ["t.a"]);
    assert_eq!(*listener.0.lock(), ["ApplyStart", "Message"]);
}
