//! A server of states: GET, POST, DELETE, LOCK and UNLOCK under `/NAME`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::Value as Json;

use super::http::{Reply, Request, serve};

/// One state and its lock.
#[derive(Clone, Default)]
pub struct Place {
    pub state: Option<Vec<u8>>,
    pub lock: Option<Vec<u8>>,
    /// How often a state was stored.
    pub writes: usize,
    /// What was asked, by method.
    pub log: Vec<String>,
    /// Statuses to answer instead, for the next requests of a method.
    pub faults: Vec<(&'static str, u16)>,
}

/// All that a server keeps.
pub type Places = Arc<Mutex<BTreeMap<String, Place>>>;

/// Starts a server. Returns its port and what it keeps.
pub fn start() -> (u16, Places) {
    let places = Places::default();
    let kept = places.clone();
    (serve(move |request| answer(&kept, &request)), places)
}

fn id(record: &[u8]) -> Option<String> {
    let record: Json = serde_json::from_slice(record).ok()?;
    Some(record["ID"].as_str()?.to_owned())
}

fn answer(places: &Places, request: &Request) -> Reply {
    let mut places = places.lock().expect("nobody panics with it");
    let place = places.entry(request.path.clone()).or_default();
    place.log.push(request.method.clone());
    let fault = place.faults.iter().position(|it| it.0 == request.method);
    if let Some(fault) = fault {
        return Reply::new(place.faults.remove(fault).1, "a fault");
    }
    let locked = || Reply::new(423, place.lock.clone().unwrap_or_default());
    match request.method.as_str() {
        "GET" => match &place.state {
            Some(state) => Reply::new(200, state.clone()),
            None => Reply::new(404, ""),
        },
        "LOCK" if place.lock.is_some() => locked(),
        "LOCK" => {
            place.lock = Some(request.body.clone());
            Reply::new(200, "")
        }
        "UNLOCK" => match place.lock.as_deref().and_then(id) {
            Some(held) if id(&request.body).is_some_and(|it| it == held) => {
                place.lock = None;
                Reply::new(200, "")
            }
            _ => Reply::new(409, ""),
        },
        "DELETE" => {
            place.state = None;
            Reply::new(200, "")
        }
        _ => match place.lock.as_deref().and_then(id) {
            Some(held) if request.asked("ID") != Some(&held) => locked(),
            _ => {
                place.state = Some(request.body.clone());
                place.writes += 1;
                Reply::new(200, "")
            }
        },
    }
}
