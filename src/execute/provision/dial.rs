//! A TCP connection to another machine: straight, or through a proxy.

use std::io;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::connection::{Machine, Proxy};
use crate::diagnostic::system_words;
use crate::error::Error;

/// How long one attempt may take.
const PATIENCE: Duration = Duration::from_secs(15);
/// The most of a proxy's answer that is read.
const LONGEST: usize = 16 * 1024;

/// Connects to a machine.
///
/// # Errors
///
/// Why not, as a sentence.
pub(super) async fn dial(machine: &Machine, proxy: Option<&Proxy>) -> Result<TcpStream, Error> {
    let Some(proxy) = proxy else { return straight(&machine.address()).await };
    let mut stream = straight(&proxy.address()).await?;
    let asked = async {
        match &*proxy.scheme {
            "http" | "https" => ask_http(&mut stream, proxy, machine).await,
            "socks5" | "socks5h" => ask_socks(&mut stream, proxy, machine).await,
            other => Err(format!("proxy: unknown scheme: {other}").into()),
        }
    };
    match timeout(PATIENCE, asked).await {
        Ok(asked) => asked.map(|()| stream),
        Err(_) => Err(format!("dial tcp {}: i/o timeout", proxy.address()).into()),
    }
}

async fn straight(address: &str) -> Result<TcpStream, Error> {
    match timeout(PATIENCE, TcpStream::connect(address)).await {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err(error)) => Err(format!("dial tcp {address}: {}", reason(&error)).into()),
        Err(_) => Err(format!("dial tcp {address}: i/o timeout").into()),
    }
}

fn reason(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(_) => format!("connect: {}", system_words(error)),
        // Without a number of the system it is the name that was not found.
        None => "lookup: no such host".into(),
    }
}

fn broken(error: io::Error) -> Error {
    Error::of(error).context("Error connecting to proxy")
}

async fn ask_http(stream: &mut TcpStream, proxy: &Proxy, machine: &Machine) -> Result<(), Error> {
    let address = machine.address();
    let mut request = format!("CONNECT {address} HTTP/1.1\r\nHost: {address}\r\n");
    if !proxy.user.is_empty() || !proxy.password.is_empty() {
        let secret = STANDARD.encode(format!("{}:{}", proxy.user, proxy.password));
        request.push_str(&format!("Proxy-Authorization: Basic {secret}\r\n"));
    }
    request.push_str("\r\n");
    stream.write_all(request.as_bytes()).await.map_err(broken)?;
    let mut answer = Vec::new();
    // Byte by byte: what comes after the head belongs to the machine.
    while !answer.ends_with(b"\r\n\r\n") && answer.len() < LONGEST {
        answer.push(stream.read_u8().await.map_err(broken)?);
    }
    let head = String::from_utf8_lossy(&answer);
    match head.split(' ').nth(1) {
        Some("200") => Ok(()),
        Some(code) => Err(format!("Connection Error: StatusCode: {code}").into()),
        None => Err("malformed HTTP response".into()),
    }
}

/// SOCKS version 5: RFC 1928, and RFC 1929 for user and password.
async fn ask_socks(stream: &mut TcpStream, proxy: &Proxy, machine: &Machine) -> Result<(), Error> {
    let has_user = !proxy.user.is_empty();
    stream.write_all(&[5, 1, if has_user { 2 } else { 0 }]).await.map_err(broken)?;
    let mut chosen = [0; 2];
    stream.read_exact(&mut chosen).await.map_err(broken)?;
    match chosen {
        [5, 0] => {}
        [5, 2] if has_user => {
            let mut login = vec![1];
            login.extend(counted(&proxy.user)?);
            login.extend(counted(&proxy.password)?);
            stream.write_all(&login).await.map_err(broken)?;
            stream.read_exact(&mut chosen).await.map_err(broken)?;
            if chosen[1] != 0 {
                return Err("socks connect: username/password authentication failed".into());
            }
        }
        _ => return Err("socks connect: no acceptable authentication methods".into()),
    }
    let mut request = vec![5, 1, 0, 3];
    request.extend(counted(machine.host.trim_matches(['[', ']']))?);
    request.extend(machine.port.to_be_bytes());
    stream.write_all(&request).await.map_err(broken)?;
    let mut answer = [0; 4];
    stream.read_exact(&mut answer).await.map_err(broken)?;
    if answer[1] != 0 {
        return Err(format!("socks connect: the proxy answers with code {}", answer[1]).into());
    }
    let length = match answer[3] {
        1 => 4,
        4 => 16,
        _ => usize::from(stream.read_u8().await.map_err(broken)?),
    };
    // The address that the proxy uses, and its port.
    stream.read_exact(&mut vec![0; length + 2]).await.map_err(broken)?;
    Ok(())
}

/// Returns a text with its length before it.
fn counted(text: &str) -> Result<Vec<u8>, Error> {
    let length = u8::try_from(text.len()).map_err(|_| "socks connect: a name is too long")?;
    Ok([&[length], text.as_bytes()].concat())
}
