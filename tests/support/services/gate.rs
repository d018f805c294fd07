//! A proxy that carries bytes until a client sends a given text: then it cuts the connection, or falls silent.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What becomes of the connection on which the text is sent. The text itself does not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// It is cut on both sides.
    Cut,
    /// It is cut for the client. The server still has it.
    CutForClient,
    /// Nothing comes through any more.
    Silence,
}

/// How long a connection stays silent. A client that waits longer is cut off, so that its test ends.
const LONGEST: Duration = Duration::from_secs(150);

/// A proxy before a port.
#[derive(Clone)]
pub struct Gate {
    pub port: u16,
    awaited: Arc<Mutex<Option<(&'static str, Then)>>>,
}

impl Gate {
    /// Starts a proxy before a port of this machine.
    pub fn start(upstream: u16) -> Gate {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().expect("it has an address").port();
        let gate = Gate { port, awaited: Arc::default() };
        let shared = gate.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let shared = shared.clone();
                std::thread::spawn(move || shared.carry(client, upstream));
            }
        });
        gate
    }

    /// Waits for a text. What follows happens once.
    pub fn at(&self, text: &'static str, then: Then) {
        *self.awaited.lock().expect("no thread panics while it holds this") = Some((text, then));
    }

    /// Returns what becomes of a connection on which these bytes are sent, if anything does.
    fn meets(&self, bytes: &[u8]) -> Option<Then> {
        let mut awaited = self.awaited.lock().expect("no thread panics while it holds this");
        let is_there = |text: &str| bytes.windows(text.len()).any(|it| it == text.as_bytes());
        awaited.take_if(|it| is_there(it.0)).map(|it| it.1)
    }

    fn carry(&self, mut client: TcpStream, upstream: u16) -> Option<()> {
        let mut server = TcpStream::connect(("127.0.0.1", upstream)).ok()?;
        let (mut from_server, mut to_client) = (server.try_clone().ok()?, client.try_clone().ok()?);
        std::thread::spawn(move || {
            // Either side may end it.
            let _ = std::io::copy(&mut from_server, &mut to_client);
            close(&from_server, &to_client);
        });
        let mut bytes = [0; 16 * 1024];
        while let Ok(count @ 1..) = client.read(&mut bytes) {
            match self.meets(&bytes[..count]) {
                None => server.write_all(&bytes[..count]).ok()?,
                Some(Then::Cut) => break,
                Some(Then::CutForClient) => return client.shutdown(Shutdown::Both).ok(),
                Some(Then::Silence) => {
                    client.set_read_timeout(Some(LONGEST)).ok()?;
                    while let Ok(1..) = client.read(&mut bytes) {}
                    break;
                }
            }
        }
        close(&client, &server);
        Some(())
    }
}

fn close(one: &TcpStream, other: &TcpStream) {
    // One of them may be closed already.
    let _ = (one.shutdown(Shutdown::Both), other.shutdown(Shutdown::Both));
}
