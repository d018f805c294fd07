//! A proxy that breaks connections: it cuts, delays, lets half an answer through, or says a request twice.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What may happen to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    None,
    /// It is cut before the request arrives.
    CutBefore,
    /// The request arrives, and the answer is cut.
    CutAnswer,
    /// Half of the answer comes through.
    HalfAnswer,
    /// The answer is late.
    Delay,
    /// The request is said twice, the second time to nobody's use.
    Twice,
}

/// A proxy before a port.
#[derive(Clone)]
pub struct Proxy {
    pub port: u16,
    faults: Arc<Mutex<Vec<Fault>>>,
    /// One request in so many meets a fault, besides those that were set; none where it is 0.
    chance: Arc<AtomicU64>,
    asked: Arc<AtomicU64>,
    broken: Arc<AtomicU64>,
}

/// What breaks connections.
const FAULTS: [Fault; 5] =
    [Fault::CutBefore, Fault::CutAnswer, Fault::HalfAnswer, Fault::Delay, Fault::Twice];

impl Proxy {
    /// Starts a proxy before a port of this machine.
    pub fn start(upstream: u16) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().expect("it has an address").port();
        let proxy = Proxy {
            port,
            faults: Arc::default(),
            chance: Arc::default(),
            asked: Arc::default(),
            broken: Arc::default(),
        };
        let shared = proxy.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let shared = shared.clone();
                std::thread::spawn(move || shared.carry(client, upstream));
            }
        });
        proxy
    }

    /// Says what happens to the next answers, in order; then nothing does.
    pub fn set(&self, faults: impl IntoIterator<Item = Fault>) {
        *self.faults.lock().expect("nobody panics with it") = faults.into_iter().collect();
    }

    /// Lets one request in so many meet a fault from now on, whichever; none where it is 0.
    pub fn disturb(&self, one_in: u64) {
        self.chance.store(one_in, Ordering::Relaxed);
    }

    /// Returns a fault by chance.
    fn by_chance(&self) -> Fault {
        let one_in = self.chance.load(Ordering::Relaxed);
        // Numbers without a pattern, made of how many requests there were.
        let mut number =
            self.asked.fetch_add(1, Ordering::Relaxed).wrapping_add(0x9e37_79b9_7f4a_7c15);
        number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        number ^= number >> 31;
        match one_in > 0 && number.is_multiple_of(one_in) {
            true => FAULTS[(number / one_in % 5) as usize],
            false => Fault::None,
        }
    }

    /// Returns how many faults have happened.
    pub fn broken(&self) -> u64 {
        self.broken.load(Ordering::Relaxed)
    }

    /// Takes the next fault, where it is due: faults are for requests, so that each is taken when one begins.
    fn next(&self) -> Fault {
        let mut faults = self.faults.lock().expect("nobody panics with it");
        let fault = if faults.is_empty() { self.by_chance() } else { faults.remove(0) };
        if fault != Fault::None {
            self.broken.fetch_add(1, Ordering::Relaxed);
        }
        fault
    }

    fn carry(&self, mut client: TcpStream, upstream: u16) -> Option<()> {
        let mut server = TcpStream::connect(("127.0.0.1", upstream)).ok()?;
        let fault = Arc::new(Mutex::new(Fault::None));
        let (mut from_server, mut to_client) = (server.try_clone().ok()?, client.try_clone().ok()?);
        let seen = fault.clone();
        std::thread::spawn(move || {
            let mut bytes = [0; 16 * 1024];
            while let Ok(count @ 1..) = from_server.read(&mut bytes) {
                let fault = *seen.lock().expect("nobody panics with it");
                let part = match fault {
                    Fault::CutAnswer => 0,
                    Fault::HalfAnswer => count / 2,
                    _ => count,
                };
                if fault == Fault::Delay {
                    std::thread::sleep(Duration::from_millis(400));
                }
                if to_client.write_all(&bytes[..part]).is_err() || part < count {
                    break;
                }
            }
            // One of them may be closed already.
            let _ = (to_client.shutdown(Shutdown::Both), from_server.shutdown(Shutdown::Both));
        });
        let mut bytes = [0; 16 * 1024];
        while let Ok(count @ 1..) = client.read(&mut bytes) {
            let next = self.next();
            *fault.lock().expect("nobody panics with it") = next;
            match next {
                Fault::CutBefore => break,
                Fault::Twice => {
                    let mut again = TcpStream::connect(("127.0.0.1", upstream)).ok()?;
                    again.write_all(&bytes[..count]).ok()?;
                    std::thread::sleep(Duration::from_millis(30));
                }
                _ => {}
            }
            if server.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
        // One of them may be closed already.
        let _ = (client.shutdown(Shutdown::Both), server.shutdown(Shutdown::Both));
        Some(())
    }
}
