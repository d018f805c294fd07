//! Addresses that may be sent a secret.

use std::net::IpAddr;

use reqwest::Url;

/// Returns whether an address may be sent a secret: it is of `https`, or leads to this machine itself.
pub(crate) fn is_secure(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let ip = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    url.scheme() == "https" || host == "localhost" || ip.is_ok_and(|it| it.is_loopback())
}
