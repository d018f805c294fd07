//! What the program tells of its own steps: lines of a log where `TF_LOG` asks for them, spans of OpenTelemetry where `OTEL_*` does.
//!
//! Values of configurations, states and flags stand in neither.

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::Mutex;

use entail::world::World;
use entail::world::terminal::{Cleaned, Form};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

#[cfg(feature = "otel")]
mod otel;

/// Keeps telling until it is dropped, which sends what was not sent yet.
#[derive(Default)]
pub struct Telemetry {
    #[cfg(feature = "otel")]
    spans: Option<otel::Spans>,
}

/// Begins to tell what the environment asks for.
///
/// # Errors
///
/// A sentence that says why spans cannot be sent. The log is kept all the same.
pub fn begin(world: &World) -> (Telemetry, Option<String>) {
    let log = log(world);
    #[cfg(feature = "otel")]
    {
        let (spans, trouble) = match otel::Spans::of(world) {
            Ok(spans) => (spans, None),
            Err(why) => (None, Some(format!("No traces: {why}."))),
        };
        if log.is_some() || spans.is_some() {
            let layer = spans.as_ref().map(otel::Spans::layer);
            // Where a program around this one listens already, that stays as it is.
            let _ = tracing_subscriber::registry().with(layer).with(log).try_init();
        }
        (Telemetry { spans }, trouble)
    }
    #[cfg(not(feature = "otel"))]
    {
        if log.is_some() {
            let _ = tracing_subscriber::registry().with(log).try_init();
        }
        let asked = world.variable("OTEL_TRACES_EXPORTER").is_some_and(|it| it == "otlp");
        let left_out = "OTEL_TRACES_EXPORTER asks for traces, and this build leaves them out: the feature \"otel\" has them.";
        (Telemetry::default(), asked.then(|| left_out.to_owned()))
    }
}

/// Returns the span of a command, which all others stand in.
pub fn command(name: &str, world: &World) -> tracing::Span {
    let span = tracing::info_span!("command", name, root = %world.root.display());
    #[cfg(feature = "otel")]
    otel::adopt(world, &span);
    span.in_scope(|| tracing::info!(version = env!("CARGO_PKG_VERSION"), "begins"));
    span
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        #[cfg(feature = "otel")]
        if let Some(spans) = self.spans.take() {
            spans.end();
        }
    }
}

/// The level that is asked for; nothing where none is. A word that is no level asks for everything.
fn level(world: &World) -> Option<(LevelFilter, bool)> {
    let asked = world.variable("TF_LOG_CORE").or(world.variable("TF_LOG"))?;
    let level = match asked.to_ascii_uppercase().as_str() {
        "OFF" | "" => return None,
        "ERROR" => LevelFilter::ERROR,
        "WARN" => LevelFilter::WARN,
        "INFO" => LevelFilter::INFO,
        "DEBUG" => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    Some((level, asked.eq_ignore_ascii_case("json")))
}

/// The lines of the log, of this program alone: what libraries tell is theirs.
fn log<S>(world: &World) -> Option<Box<dyn Layer<S> + Send + Sync>>
where
    S: tracing::Subscriber + for<'a> tracing_subscriber::registry::LookupSpan<'a>,
{
    let (level, is_json) = level(world)?;
    let path = world.variable("TF_LOG_PATH").map(|it| world.root.join(it));
    let file =
        path.and_then(|it| File::options().create(true).append(true).mode(0o600).open(it).ok());
    let own = tracing_subscriber::filter::Targets::new().with_target("entail", level);
    let form = if is_json { Form::Json } else { Form::Text };
    let writer = Place { file: file.map(Mutex::new), form };
    let layer = fmt::layer().with_writer(writer).with_ansi(false);
    Some(match is_json {
        true => layer.json().flatten_event(true).with_filter(own).boxed(),
        false => layer.with_filter(own).boxed(),
    })
}

/// The end of a file, or the standard error.
struct Place {
    file: Option<Mutex<File>>,
    /// How lines on the standard error are cleaned.
    form: Form,
}

impl<'a> MakeWriter<'a> for Place {
    type Writer = Box<dyn io::Write + 'a>;

    fn make_writer(&'a self) -> Self::Writer {
        match self.file.as_ref().and_then(|it| it.lock().ok()?.try_clone().ok()) {
            Some(file) => Box::new(file),
            None => Box::new(Cleaned::new(io::stderr(), self.form)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_level_is_the_cores_before_that_of_all() {
        let of = |variables: &[(&str, &str)]| {
            let environment = variables.iter().map(|it| (it.0.to_owned(), it.1.to_owned()));
            let world = World { environment: environment.collect(), ..World::of_this_process() };
            level(&world)
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[("TF_LOG", "off")]), None);
        assert_eq!(of(&[("TF_LOG", "info")]), Some((LevelFilter::INFO, false)));
        assert_eq!(of(&[("TF_LOG", "JSON")]), Some((LevelFilter::TRACE, true)));
        let both = of(&[("TF_LOG", "trace"), ("TF_LOG_CORE", "warn")]);
        assert_eq!(both, Some((LevelFilter::WARN, false)));
    }
}
