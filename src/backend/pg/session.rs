//! A session with the server: what it is asked, and whether it is over.

use std::sync::{Arc, OnceLock};

use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error, Row};

/// A connection, and why it has ended once it has.
#[derive(Debug)]
pub(super) struct Session {
    pub client: Client,
    pub pid: i32,
    /// When the server began it. Numbers of processes come again.
    pub since: String,
    pub ended: Arc<OnceLock<String>>,
}

impl Session {
    /// Returns why the session is over, if it is.
    pub fn is_over(&self) -> Option<String> {
        let why = || "the connection was closed".to_owned();
        match self.ended.get() {
            Some(why) => Some(why.clone()),
            None => self.client.is_closed().then(why),
        }
    }

    /// Asks a question whose values are texts.
    pub async fn ask(&self, query: &str, values: &[&str]) -> Result<Vec<Row>, Error> {
        let typed: Vec<_> = values.iter().map(|it| (it as &_, Type::TEXT)).collect();
        self.client.query_typed(query, &typed).await
    }
}
