//! The proxies of the environment, and the hosts that are reached without one.
//!
//! The client reads these variables itself, but it knows no entry of `NO_PROXY` with a port: where there is one, the choice is made
//! here, as Go's `httpproxy` makes it.

use std::net::IpAddr;

use reqwest::{ClientBuilder, Proxy, Url};

use crate::error::Error;
use crate::world::World;

/// Returns a builder whose client uses the proxies of the environment.
///
/// # Errors
///
/// As for [`check_proxies`].
pub(in crate::backend) fn with_proxies(
    builder: ClientBuilder,
    world: &World,
) -> Result<ClientBuilder, Error> {
    check_proxies(world)?;
    let exceptions = Exceptions::of(first(world, ["NO_PROXY", "no_proxy"]).unwrap_or_default());
    // The program that answers a web request gets variables that strangers choose.
    if !exceptions.has_ports() || world.variable("REQUEST_METHOD").is_some() {
        return Ok(builder);
    }
    let proxy = |names| first(world, names).and_then(address);
    let all = proxy(["ALL_PROXY", "all_proxy"]);
    let http = proxy(["HTTP_PROXY", "http_proxy"]).or_else(|| all.clone());
    let https = proxy(["HTTPS_PROXY", "https_proxy"]).or(all);
    Ok(builder.proxy(Proxy::custom(move |url| {
        let proxy = if url.scheme() == "https" { &https } else { &http };
        proxy.clone().filter(|_| !exceptions.contain(url))
    })))
}

/// Checks that the variables that name proxies name some: a request must not go around one that cannot be used.
///
/// # Errors
///
/// If one has a value that is not the address of a proxy. The error does not show the value, which may hold a password.
fn check_proxies(world: &World) -> Result<(), Error> {
    const NAMES: [&str; 6] =
        ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];
    const SCHEMES: [&str; 6] = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"];
    for name in NAMES {
        let Some(text) = world.variable(name).map(str::trim).filter(|it| !it.is_empty()) else {
            continue;
        };
        let is_proxy = |it: &Url| SCHEMES.contains(&it.scheme()) && it.has_host();
        if !address(text).is_some_and(|it| is_proxy(&it)) {
            return Err(format!("the variable {name} holds no address of a proxy").into());
        }
    }
    Ok(())
}

/// Returns the first of two variables that is set.
fn first<'w>(world: &'w World, names: [&str; 2]) -> Option<&'w str> {
    names.into_iter().find_map(|name| world.variable(name))
}

/// Returns the address of a proxy, which may be written without a scheme.
fn address(text: &str) -> Option<Url> {
    let text = text.trim();
    if text.contains("://") { text.parse().ok() } else { format!("http://{text}").parse().ok() }
}

/// The hosts that are reached without a proxy.
struct Exceptions(Vec<Exception>);

struct Exception {
    hosts: Hosts,
    /// The only port that it is for.
    port: Option<u16>,
}

enum Hosts {
    All,
    /// An address, and how many of its first bits count.
    Network(IpAddr, u32),
    /// A name with all names below it.
    Domain(String),
}

impl Exceptions {
    /// Reads the text of `NO_PROXY`. An entry that cannot be understood is for no host.
    fn of(text: &str) -> Exceptions {
        Exceptions(text.split(',').filter_map(|it| Exception::of(it.trim())).collect())
    }

    fn has_ports(&self) -> bool {
        self.0.iter().any(|it| it.port.is_some())
    }

    fn contain(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let port = url.port_or_known_default();
        let is_for = |it: &Exception| it.port.is_none() || it.port == port;
        self.0.iter().any(|it| is_for(it) && it.hosts.contain(host))
    }
}

impl Exception {
    fn of(text: &str) -> Option<Exception> {
        if text == "*" {
            return Some(Exception { hosts: Hosts::All, port: None });
        }
        if let Some(hosts) = network(text) {
            return Some(Exception { hosts, port: None });
        }
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) => (host, Some(port.parse().ok()?)),
            None => (text, None),
        };
        let host = host.trim_matches(['[', ']']);
        let domain = host.trim_start_matches('*').trim_start_matches('.').to_ascii_lowercase();
        match network(host) {
            Some(hosts) => Some(Exception { hosts, port }),
            None if domain.is_empty() => None,
            None => Some(Exception { hosts: Hosts::Domain(domain), port }),
        }
    }
}

impl Hosts {
    fn contain(&self, host: &str) -> bool {
        match self {
            Hosts::All => true,
            Hosts::Network(network, length) => host.parse().is_ok_and(|host: IpAddr| {
                let differing = bits(host) ^ bits(*network);
                host.is_ipv4() == network.is_ipv4()
                    && differing.checked_shr(128 - length).unwrap_or_default() == 0
            }),
            Hosts::Domain(name) => {
                let above = host.strip_suffix(name.as_str());
                above.is_some_and(|it| it.is_empty() || it.ends_with('.'))
            }
        }
    }
}

/// Reads `ADDRESS` or `ADDRESS/LENGTH`.
fn network(text: &str) -> Option<Hosts> {
    let (address, length) = text.split_once('/').unwrap_or((text, ""));
    let address: IpAddr = address.parse().ok()?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let length = if text.contains('/') { length.parse().ok()? } else { most };
    (length <= most).then_some(Hosts::Network(address, length))
}

/// Returns the bits of an address, the first of them at the top.
fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(it) => u128::from(it.to_bits()) << 96,
        IpAddr::V6(it) => it.to_bits(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::store::wait_for;
    use crate::backend::web::{Trust, client};
    use crate::install::tests::server::{Reply, Server};

    #[track_caller]
    fn check(entries: &str, url: &str, is_direct: bool) {
        let url = Url::parse(url).expect("an address");
        assert_eq!(Exceptions::of(entries).contain(&url), is_direct, "{entries}: {url}");
    }

    #[test]
    fn an_exception_is_for_its_port_alone() {
        check("a.example:8443", "https://a.example:8443/", true);
        check("a.example:8443", "https://b.a.example:8443/", true);
        check("a.example:8443", "https://a.example/", false);
        check("a.example:443", "https://a.example/", true);
        check("a.example:80", "http://a.example/", true);
        check(".a.example:80", "http://b.a.example/", true);
        check("*.a.example:80", "http://b.a.example/", true);
        check("127.0.0.1:8080", "http://127.0.0.1:8080/", true);
        check("127.0.0.1:8080", "http://127.0.0.1:8081/", false);
        check("[::1]:8080", "http://[::1]:8080/", true);
        check("[::1]:8080", "http://[::1]/", false);
        check("a.example:https", "https://a.example/", false);
        check(":80", "http://a.example/", false);
    }

    #[test]
    fn an_exception_without_a_port_is_for_all_ports() {
        check("x:1, A.example", "https://a.example:8443/", true);
        check("x:1, a.example", "https://nota.example/", false);
        check("x:1, .a.example", "https://a.example/", true);
        check("x:1, 10.0.0.0/8", "https://10.1.2.3/", true);
        check("x:1, 10.0.0.0/8", "https://11.1.2.3/", false);
        check("x:1, 0.0.0.0/0", "https://11.1.2.3/", true);
        check("x:1, 10.0.0.0/33", "https://10.0.0.0/", false);
        check("x:1, 0.0.0.0/0", "https://[::1]/", false);
        check("x:1, fd00::/8", "https://[fd00::1]/", true);
        check("x:1, ::1", "https://[::1]:8080/", true);
        check("x:1, *", "https://a.example/", true);
    }

    #[test]
    fn a_host_with_its_port_in_no_proxy_is_reached_directly() {
        let (proxy, server) = (Server::plain(), Server::plain());
        server.at("/s", Reply::bytes("direct"));
        let url = format!("http://127.0.0.1:{}/s", server.port);
        proxy.at(&url, Reply::bytes("proxy"));
        let text = |exceptions: String| {
            let mut world = World::of_this_process();
            world.environment.retain(|name, _| !name.to_ascii_uppercase().ends_with("_PROXY"));
            let proxy = format!("127.0.0.1:{}", proxy.port);
            world.environment.insert("HTTP_PROXY".into(), proxy);
            world.environment.insert("NO_PROXY".into(), exceptions);
            let client = client(&world, &Trust::default()).expect("a client");
            let failed = std::io::Error::other::<reqwest::Error>;
            let answer = async {
                let answer = client.get(&url).send().await.map_err(failed)?;
                answer.text().await.map_err(failed)
            };
            wait_for(answer).expect("an answer")
        };
        assert_eq!(text(format!("127.0.0.1:{}", server.port)), "direct");
        assert_eq!(text("127.0.0.1:1".into()), "proxy");
    }
}
