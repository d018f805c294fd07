//! How a host gives somebody a token: by OAuth, with a browser or a password, or by hand on a page of its own.

use super::Trouble;
use super::discovery::Services;
use super::hostname::Hostname;
use super::secure::is_secure;
use super::web::{Url, shown};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::world::PRODUCT;

mod account;
mod callback;
mod oauth;

pub use account::{Refused, user_of};
pub use callback::{Listener, NotGranted};
pub use oauth::{Attempt, Client};

/// The only host whose passwords are asked for: elsewhere a password is typed into a page of the host alone.
const PASSWORDS: &str = "app.terraform.io";

/// How a host gives a token.
#[derive(Clone, Debug)]
pub enum Offer {
    /// Somebody logs in with a browser, and the host calls back.
    Browser(Client),
    /// Somebody's name and password are exchanged for it.
    Password(Client),
    /// Somebody makes one on this page, and types it in.
    Page {
        /// The page.
        page: Url,
        /// What says whose token it is.
        service: Url,
    },
}

/// Returns how a host gives a token, and what is strange about what it says of it.
///
/// # Errors
///
/// If it gives none.
pub fn offer(services: &Services, host: &Hostname) -> Result<(Offer, Diagnostics), Diagnostics> {
    let mut remarks = Diagnostics::new();
    let described = match services.described("login.v1") {
        Ok(described) => Some(described),
        Err(Trouble::NoRegistry { has_other: true, .. }) => {
            remarks.push(other_version(Diagnostic::warning(unsupported()), host));
            None
        }
        Err(_) => None,
    };
    let client = described.and_then(|it| match Client::read(services, it) {
        Ok(client) => Some(client),
        Err(why) => {
            let detail =
                format!("What {} says of its service login.v1 is wrong: {why}.", host.shown());
            remarks.push(Diagnostic::warning(unsupported()).detail(detail));
            None
        }
    });
    if let Some((name, address)) = client.as_ref().and_then(Client::insecure) {
        remarks.push(insecure(host, &format!("the address {name:?} of login.v1"), address));
        return Err(remarks);
    }
    let offer = match client {
        Some(client) if client.grants("authz_code") => Ok(Offer::Browser(client)),
        Some(client) if client.grants("password") && host.name() == PASSWORDS => {
            Ok(Offer::Password(client))
        }
        Some(_) => Err(no_grant(host)),
        None => by_page(services, host),
    };
    match offer {
        Ok(offer) => Ok((offer, remarks)),
        Err(problem) => {
            remarks.push(problem);
            Err(remarks)
        }
    }
}

/// Returns the page where tokens are made by hand.
fn by_page(services: &Services, host: &Hostname) -> Result<Offer, Diagnostic> {
    let service = services.address("tfe.v2").map_err(|trouble| match trouble {
        Trouble::NoRegistry { has_other: false, .. } => Diagnostic::error(no_tokens()).detail(format!(
            "{} offers no service that gives tokens: neither login.v1 nor tfe.v2. Where its operator has given you a token, write it into a \
             credentials block of the CLI configuration.",
            host.shown()
        )),
        Trouble::NoRegistry { .. } => other_version(Diagnostic::error(no_tokens()), host),
        other => Diagnostic::error(no_tokens())
            .detail(format!("What {} says of its service tfe.v2 is wrong: {other}.", host.shown())),
    })?;
    if !is_secure(&service) {
        return Err(insecure(host, "the address of tfe.v2", &service));
    }
    let mut page = service.clone();
    page.set_path("/app/settings/tokens");
    page.set_query(Some("source=terraform-login"));
    Ok(Offer::Page { page, service })
}

fn unsupported() -> String {
    format!("Host does not support {PRODUCT} login")
}

fn no_tokens() -> String {
    format!("Host does not support {PRODUCT} tokens API")
}

fn other_version(problem: Diagnostic, host: &Hostname) -> Diagnostic {
    problem.detail(format!(
        "{} gives tokens by a version of the protocol that this program does not speak.",
        host.shown()
    ))
}

fn insecure(host: &Hostname, what: &str, address: &Url) -> Diagnostic {
    Diagnostic::error("Insecure address for login").detail(format!(
        "As {what}, {} names {}. Others on the way could read the token, so that the address must be of https, or lead to this machine \
         itself. Nothing was asked for, and nothing was kept.",
        host.shown(),
        shown(address)
    ))
}

fn no_grant(host: &Hostname) -> Diagnostic {
    Diagnostic::error(unsupported()).detail(format!(
        "{} gives tokens in no way that this program takes part in: it must offer the grant type \"authz_code\", a login with a browser. (A \
         password is asked for by {PASSWORDS} alone.)",
        host.shown()
    ))
}
