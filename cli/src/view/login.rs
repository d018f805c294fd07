//! What `login` and `logout` say. No token stands in any of it.

use entail::world::PRODUCT;
use std::path::Path;

use entail::value::text::shown;
use entail::workflow::login::{Place, Step, Way};

use super::style::{Paint, Style};

/// Returns what people read of a step.
pub fn text(step: &Step, style: Style) -> String {
    match step {
        Step::Intended { host, way, place } => intended(host, *way, place),
        Step::Page { host, way, address, is_opened } => page(host, *way, address, *is_opened),
        Step::Waiting => format!("{PRODUCT} waits until the host says that the login is done.\n\n"),
        Step::Known(user) => {
            format!("\nThe token belongs to the user {}.\n", style.bold(&shown(user)))
        }
        Step::Stored { host, .. } => format!(
            "\n{} {}\n\nCommands that ask {host} will show it from now on.\n",
            success(style),
            style.bold(&format!("{PRODUCT} has obtained and saved an API token."))
        ),
        Step::Absent(host) => format!("No credentials for {host} are stored.\n\n"),
        Step::Forgetting(host, place) => {
            format!("Removing the stored credentials for {host} from {}.\n\n", placed(place))
        }
        Step::Forgotten(host) => format!(
            "{} {}\n\nAt the host it stays valid until it is revoked there.\n",
            success(style),
            style.bold(&format!("{PRODUCT} has removed the stored API token for {host}."))
        ),
    }
}

/// Returns what a JSON stream says of a step.
pub fn message(step: &Step) -> String {
    let text = text(step, Style::default());
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn success(style: Style) -> String {
    style.paint(&[Paint::Bold, Paint::Green], "Success!").into_owned()
}

fn intended(host: &str, way: Way, place: &Place) -> String {
    let how = match way {
        Way::Browser => "OAuth",
        Way::Password => "OAuth, and your password",
        Way::Page => "your browser",
    };
    let needs = match way {
        Way::Browser => {
            "\nA web browser on this computer is needed to log in. Without one, get a token in\nanother way, and write it into the CLI \
             configuration.\n"
        }
        Way::Password => "\nThe password is exchanged for the token, and is not saved.\n",
        Way::Page => "",
    };
    format!(
        "{PRODUCT} will request an API token for {host} using {how}.\n{needs}\nIf login is successful, it is saved {}\n\n",
        match place {
            Place::File(path) =>
                format!("in plain text, for you alone to read, in:\n    {}", file(path)),
            Place::Helper(_) => format!("in {}.", placed(place)),
        }
    )
}

fn page(host: &str, way: Way, address: &str, is_opened: bool) -> String {
    let what = if way == Way::Page { "tokens" } else { "login" };
    let first = match is_opened {
        true => format!(
            "A web browser opens the {what} page for {host}. If it does not, open this address:\n"
        ),
        false => format!("Open this address in a browser, which is the {what} page for {host}:\n"),
    };
    let more = match way {
        Way::Page => "Make a token there, and copy it to here.\n\n",
        Way::Browser | Way::Password => "",
    };
    format!("{first}    {address}\n\n{more}")
}

fn placed(place: &Place) -> String {
    match place {
        Place::File(path) => format!("the file {}", file(path)),
        Place::Helper(name) => format!("the credentials helper {name:?}"),
    }
}

fn file(path: &Path) -> String {
    path.display().to_string()
}
