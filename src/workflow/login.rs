//! `login`, `logout`: a host gives somebody a token, which is kept for commands that ask the host; and it is forgotten.

use std::path::PathBuf;

use super::host::Host;
use super::with_room;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::error::Error;
use crate::install::credentials::{Credentials, Keeper};
use crate::install::hostname::Hostname;
use crate::install::settings::{Token, only_file, token_variable};
use crate::install::signin::{
    Attempt, Client, Listener, NotGranted, Offer, Refused, offer, user_of,
};
use crate::install::web::{Url, Web};
use crate::install::{Settings, Trouble};
use crate::world::{PRODUCT, PROGRAM, World};

/// A step on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Somebody is going to be asked whether this host shall give a token.
    Intended {
        /// The host.
        host: String,
        /// How it will give it.
        way: Way,
        /// Where it will be kept.
        place: Place,
    },
    /// This page is to be opened, where somebody logs in or makes a token.
    Page {
        /// The host.
        host: String,
        /// How the host gives the token.
        way: Way,
        /// The page.
        address: String,
        /// Whether a browser opens it.
        is_opened: bool,
    },
    /// The host is waited for.
    Waiting,
    /// The host knows the token that was typed in: whose it is.
    Known(String),
    /// The token is kept.
    Stored {
        /// The host.
        host: String,
        /// How it was given.
        way: Way,
    },
    /// No token of this host is kept.
    Absent(String),
    /// The token of this host is going to be forgotten.
    Forgetting(String, Place),
    /// It is forgotten.
    Forgotten(String),
}

/// How a host gives a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Somebody logs in with a browser.
    Browser,
    /// Somebody's password is exchanged for it.
    Password,
    /// Somebody makes one, and types it in.
    Page,
}

/// Where a token is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In this file, readable for its owner.
    File(PathBuf),
    /// With the helper of this name.
    Helper(String),
}

/// Who leads somebody through it.
pub trait Guide: Sync {
    /// Tells of a step.
    fn told(&self, step: Step);

    /// Opens a page in a browser. Returns whether one opens.
    fn opens(&self, address: &str) -> bool;
}

/// What is known before anybody is asked.
struct Desk<'a> {
    host: &'a Host<'a>,
    guide: &'a dyn Guide,
    web: Web,
    name: Hostname,
    place: Place,
}

/// Gets a token from a host, and keeps it. Remarks are told.
///
/// # Errors
///
/// If nobody can be asked or somebody says no, the host gives none, or it cannot be kept.
pub fn login(host: &Host<'_>, name: &str, guide: &dyn Guide) -> Result<(), Diagnostics> {
    if !host.ask.may_ask() {
        return Err(Diagnostic::error("Login is an interactive command")
            .detail(format!(
                "\"{PROGRAM} login\" asks questions, and asking is switched off (-input=false, -json, or TF_INPUT). Where nobody can answer, \
                 give a token in a credentials block of the CLI configuration, or in an environment variable TF_TOKEN_ and the host's name \
                 with underscores."
            ))
            .into());
    }
    with_room(|runtime| runtime.block_on(host.unless_stopped(get(host, name, guide))))?
}

async fn get(host: &Host<'_>, name: &str, guide: &dyn Guide) -> Result<(), Diagnostics> {
    let name = hostname(name)?;
    let settings = Settings::of(host.world);
    let credentials = credentials(&settings, host.world)?;
    let place = match credentials.keeper(&name) {
        Keeper::Author => return Err(by_hand(&name, "login", "log in").into()),
        Keeper::File { path, .. } => Place::File(path),
        Keeper::Helper(name) => Place::Helper(name),
    };
    let web = Web::new(&settings, host.world);
    let services = web.services(name.shown()).await.map_err(|it| undiscovered(&name, &it))?;
    let (offer, remarks) = offer(&services, &name)?;
    if !remarks.is_empty() {
        host.tell.problems(remarks);
    }
    let desk = Desk { host, guide, web, name, place };
    let way = way_of(&offer);
    desk.consent(way)?;
    let token = match &offer {
        Offer::Browser(client) => desk.by_browser(client).await?,
        Offer::Password(client) => desk.by_password(client).await?,
        Offer::Page { page, service } => desk.by_page(page, service).await?,
    };
    credentials.store(&desk.name, &token).await.map_err(|why| {
        Diagnostic::error("Failed to save API token").detail(format!(
            "{} gave a token, and it cannot be kept: {why}. Revoke it there, and log in again once that is mended.",
            desk.name.shown()
        ))
    })?;
    guide.told(Step::Stored { host: desk.name.shown().to_owned(), way });
    let unused = unused(host.world, &desk);
    if !unused.is_empty() {
        host.tell.problems(unused);
    }
    Ok(())
}

/// Forgets the token of a host that `login` has kept.
///
/// # Errors
///
/// If it was written by hand, or cannot be forgotten.
pub fn logout(host: &Host<'_>, name: &str, guide: &dyn Guide) -> Result<(), Diagnostics> {
    with_room(|runtime| runtime.block_on(host.unless_stopped(forget(host, name, guide))))?
}

async fn forget(host: &Host<'_>, name: &str, guide: &dyn Guide) -> Result<(), Diagnostics> {
    let name = hostname(name)?;
    let settings = Settings::of(host.world);
    let credentials = credentials(&settings, host.world)?;
    let shown = name.shown().to_owned();
    let place = match credentials.keeper(&name) {
        Keeper::Author => return Err(by_hand(&name, "logout", "log out").into()),
        Keeper::File { has_one: false, .. } => None,
        Keeper::File { path, .. } => Some(Place::File(path)),
        Keeper::Helper(name) => Some(Place::Helper(name)),
    };
    match place {
        None => guide.told(Step::Absent(shown.clone())),
        Some(place) => {
            guide.told(Step::Forgetting(shown.clone(), place));
            credentials.forget(&name).await.map_err(|why| {
                Diagnostic::error("Failed to remove API token")
                    .detail(format!("The token of {shown} cannot be removed: {why}."))
            })?;
            guide.told(Step::Forgotten(shown.clone()));
        }
    }
    if let Some(variable) = variable(host.world, &name) {
        let detail = format!(
            "The environment variable {variable} holds a token for {shown}, which commands go on using. Unset it where that is not meant."
        );
        host.tell.problems(
            Diagnostic::warning("A token is set in the environment").detail(detail).into(),
        );
    }
    Ok(())
}

impl Desk<'_> {
    /// Asks whether a token shall be got.
    fn consent(&self, way: Way) -> Result<(), Diagnostic> {
        let (host, place) = (self.name.shown().to_owned(), self.place.clone());
        self.guide.told(Step::Intended { host, way, place });
        let explanation = "Only 'yes' will be accepted to confirm.";
        let answer = self.host.ask.answer("Do you want to proceed?", explanation, false);
        match answer.is_some_and(|it| it.trim().eq_ignore_ascii_case("yes")) {
            true => Ok(()),
            false => Err(Diagnostic::error("Login cancelled").detail(
                "The login was not confirmed. Nothing was asked for, and nothing was kept.",
            )),
        }
    }

    fn show(&self, way: Way, page: &Url) {
        let address = page.to_string();
        let is_opened = self.guide.opens(&address);
        let host = self.name.shown().to_owned();
        self.guide.told(Step::Page { host, way, address, is_opened });
    }

    async fn by_browser(&self, client: &Client) -> Result<Token, Diagnostic> {
        let world = self.host.world;
        let listener = Listener::open(&client.ports, world).await;
        let listener = listener.ok_or_else(|| no_port(&self.name, client))?;
        let (attempt, back) = (Attempt::new(world), listener.address());
        let page = client.page(&attempt, &back);
        let page = page.ok_or_else(|| no_token(&self.name, &"it says no page to log in".into()))?;
        self.show(Way::Browser, &page);
        self.guide.told(Step::Waiting);
        let code = listener.code(&attempt.state).await.map_err(|it| denied(&self.name, &it))?;
        drop(listener);
        let token = client.exchange(&self.web, &attempt, &code, &back).await;
        token.map_err(|why| no_token(&self.name, &why))
    }

    async fn by_password(&self, client: &Client) -> Result<Token, Diagnostic> {
        let user = self.line("Username", false)?;
        let password = self.line("Password", true)?;
        let token = client.token_for(&self.web, &user, &password).await;
        token.map_err(|why| no_token(&self.name, &why))
    }

    async fn by_page(&self, page: &Url, service: &Url) -> Result<Token, Diagnostic> {
        self.show(Way::Page, page);
        let token = Token::new(self.line("Token", true)?);
        token.check_sendable().map_err(|why| {
            Diagnostic::error("Token is invalid").detail(format!(
                "The token that was given is not kept: {why}. Copy it again, and nothing else."
            ))
        })?;
        let user = user_of(&self.web, service, &token).await.map_err(|it| match it {
            Refused::Invalid => Diagnostic::error("Token is invalid").detail(format!(
                "{} does not know the token that was given. It was not kept: copy the whole of it, and try again.",
                self.name.shown()
            )),
            Refused::Failed(why) => {
                Diagnostic::error("Failed to retrieve user account details").detail(format!(
                    "Whose token it is, {} does not say, so that it was not kept: {why}.",
                    self.name.shown()
                ))
            }
        })?;
        self.guide.told(Step::Known(user));
        Ok(token)
    }

    /// Asks for something that must not be empty.
    fn line(&self, what: &str, is_secret: bool) -> Result<String, Diagnostic> {
        let question = format!("{what} for {}:", self.name.shown());
        let answer = self.host.ask.answer(&question, "", is_secret).unwrap_or_default();
        match answer.trim() {
            "" => Err(Diagnostic::error("Login cancelled")
                .detail(format!("{what}: nothing was given. Nothing was kept."))),
            _ if what == "Password" => Ok(answer),
            trimmed => Ok(trimmed.to_owned()),
        }
    }
}

fn way_of(offer: &Offer) -> Way {
    match offer {
        Offer::Browser(_) => Way::Browser,
        Offer::Password(_) => Way::Password,
        Offer::Page { .. } => Way::Page,
    }
}

fn hostname(text: &str) -> Result<Hostname, Diagnostic> {
    Hostname::parse(text).map_err(|why| {
        Diagnostic::error("Invalid hostname")
            .detail(format!("{text:?} is no name of a host, such as app.example.com: {why}."))
    })
}

fn credentials(settings: &Settings, world: &World) -> Result<Credentials, Diagnostic> {
    Credentials::of(settings, world).map_err(|why| {
        Diagnostic::error("Tokens cannot be kept").detail(format!("{why}. Nothing was changed."))
    })
}

fn variable(world: &World, name: &Hostname) -> Option<String> {
    let found = token_variable(world, name.shown()).or_else(|| token_variable(world, name.name()));
    found.map(|it| it.0.to_owned())
}

/// Tells what keeps other commands from using the token.
fn unused(world: &World, desk: &Desk<'_>) -> Diagnostics {
    let mut found = Diagnostics::new();
    let shown = desk.name.shown();
    if let Some(variable) = variable(world, &desk.name) {
        found.push(Diagnostic::warning("A token is set in the environment").detail(format!(
            "The environment variable {variable} holds a token for {shown}, which comes before the one that is kept now. Unset it to use the new one."
        )));
    }
    if let (Place::File(path), Some((variable, _))) = (&desk.place, only_file(world)) {
        found.push(Diagnostic::warning("The file with tokens is not read").detail(format!(
            "{variable} names a file of the CLI configuration, so that no other one is read, and {} neither. Unset it to use the new token.",
            path.display()
        )));
    }
    found
}

fn by_hand(name: &Hostname, command: &str, what: &str) -> Diagnostic {
    let shown = name.shown();
    Diagnostic::error(format!("Credentials for {shown} are manually configured")).detail(format!(
        "A file of the CLI configuration has a credentials block for {shown}, which \"{PROGRAM} {command}\" does not change. To {what}, revoke \
         that token, and remove the block."
    ))
}

fn undiscovered(name: &Hostname, trouble: &Trouble) -> Diagnostic {
    Diagnostic::error(format!("Service discovery failed for {}", name.shown())).detail(format!(
        "{trouble}. Check the name, and that the host answers for the services of {PRODUCT}."
    ))
}

fn no_port(name: &Hostname, client: &Client) -> Diagnostic {
    Diagnostic::error("Can't start temporary login server").detail(format!(
        "{} calls back to a port of this machine from {} to {}, and none of them is free. End what listens there, and try again.",
        name.shown(),
        client.ports.start(),
        client.ports.end()
    ))
}

fn denied(name: &Hostname, why: &NotGranted) -> Diagnostic {
    Diagnostic::error("Failed to obtain auth token").detail(format!(
        "{} refuses the login: {}. Nothing was kept.",
        name.shown(),
        why.0
    ))
}

fn no_token(name: &Hostname, why: &Error) -> Diagnostic {
    Diagnostic::error("Failed to obtain auth token")
        .detail(format!("{} gave no token: {why}. Nothing was kept; begin again.", name.shown()))
}
