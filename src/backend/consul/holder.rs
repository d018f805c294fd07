//! Who holds the lock of a state: the session of its key, and the record beside it.

use std::io;

use super::Consul;
use crate::backend::lock::LockInfo;

impl Consul {
    /// Reads the record beside the lock; `None` if there is none that can be read.
    pub(super) async fn record(&self, workspace: &str) -> io::Result<Option<LockInfo>> {
        let found = self.agent.get(&self.lock_keys(workspace).1).await?;
        Ok(found.and_then(|it| serde_json::from_slice(&it.value).ok()))
    }

    /// Returns the session that holds the lock, and its record; `None` if it is free.
    pub(super) async fn holder(
        &self,
        workspace: &str,
    ) -> io::Result<Option<(String, Option<LockInfo>)>> {
        let lock = self.agent.get(&self.lock_keys(workspace).0).await?;
        let Some(session) = lock.and_then(|it| it.session) else { return Ok(None) };
        let record = self.record(workspace).await?.filter(|it| it.id == session);
        Ok(Some((session, record)))
    }

    /// Says why the lock was lost, and who holds it now. The key may still name the session of this run: then there is no other
    /// holder yet.
    pub(super) async fn loss(&self, workspace: &str, why: String) -> io::Result<String> {
        let own = self.held.lock().get(workspace).map(|it| it.session.clone());
        match self.holder(workspace).await? {
            Some((session, record)) if own.as_ref() != Some(&session) => {
                let who = record.map_or("another session".into(), |it| it.who);
                Ok(format!("{why}; the lock belongs to {who} now (ID {session})"))
            }
            _ => Ok(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, OnceLock};

    use super::super::{Held, KIND};
    use super::*;
    use crate::backend::local::Choice;
    use crate::backend::opening::{Opening, Owner};
    use crate::backend::store::{Store, beside, wait_for};
    use crate::install::tests::server::{Reply, Server};
    use crate::value::Value;
    use crate::world::World;

    /// Returns what is said of a lock that this run had as the session `own`, where its key names a session now.
    fn told(session: &str) -> Option<String> {
        let server = Server::plain();
        let key =
            format!(r#"[{{"Key": "states/.lock", "ModifyIndex": 5, "Session": "{session}"}}]"#);
        server.at("/v1/kv/states/.lock?consistent=", Reply::json(key));
        let mut world = World::of_this_process();
        world.environment.clear();
        let mut given = KIND.unset();
        given.insert("address".into(), Value::string(format!("127.0.0.1:{}", server.port)));
        given.insert("path".into(), Value::string("states"));
        let opening = Opening {
            world: &Arc::new(world),
            owner: Owner::Backend(KIND.name),
            settings: KIND.settings,
            given: &given,
            choice: &Choice::default(),
        };
        let consul = Consul::open(&opening).expect("it is opened");
        let held = Held {
            session: "own".into(),
            lost: Arc::new(OnceLock::from("it was not renewed".to_owned())),
            renewing: Arc::new(beside(async {}).expect("a thread")),
        };
        consul.held.lock().insert("default".into(), held);
        wait_for(consul.ask_lock("default")).expect("an answer")
    }

    #[test]
    fn the_session_of_this_run_is_not_named_as_the_new_holder() {
        assert_eq!(told("own").as_deref(), Some("it was not renewed"));
        let other = "it was not renewed; the lock belongs to another session now (ID other)";
        assert_eq!(told("other").as_deref(), Some(other));
    }
}
