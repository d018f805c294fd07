//! Spans for a collector of OpenTelemetry, as `OTEL_TRACES_EXPORTER=otlp` and the further variables of its specification say.

use std::collections::HashMap;

use std::time::Duration;

use entail::backend::web::{Trust, tls};
use entail::error::{Error, ErrorContext};
use entail::world::{World, read_regular};
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{SpanExporter, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use reqwest::blocking::Client;
use tracing::Subscriber;
use tracing_opentelemetry::{OpenTelemetryLayer, OpenTelemetrySpanExt};
use tracing_subscriber::registry::LookupSpan;

/// What the program is called where nobody says otherwise.
const NAME: &str = "entail";
/// How long a collector may take, so that one that is gone does not hold up what is done.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where spans go.
pub struct Spans(SdkTracerProvider);

impl Spans {
    /// Opens the way to the collector; nothing where none is asked for, or `OTEL_SDK_DISABLED` is `true`.
    pub fn of(world: &World) -> Result<Option<Spans>, Error> {
        let disabled = world.variable("OTEL_SDK_DISABLED");
        if disabled.is_some_and(|it| it.eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        match world.variable("OTEL_TRACES_EXPORTER") {
            None | Some("" | "none") => return Ok(None),
            Some("otlp") => {}
            Some(other) => {
                return Err(format!(
                    "OTEL_TRACES_EXPORTER asks for {other:?}, and traces are sent with \"otlp\" alone"
                )
                .into());
            }
        }
        let protocol = world
            .variable("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL")
            .or(world.variable("OTEL_EXPORTER_OTLP_PROTOCOL"))
            .unwrap_or("http/protobuf");
        let endpoint = endpoint(world)?;
        check_batches(world)?;
        let exporter = match protocol {
            "http/protobuf" => {
                SpanExporter::builder().with_http().with_http_client(client(world)?).build()
            }
            other => {
                return Err(format!(
                    "OTEL_EXPORTER_OTLP_PROTOCOL asks for {other:?}, and traces are sent with \"http/protobuf\": most collectors listen for it at port 4318"
                )
                .into());
            }
        };
        let exporter = exporter.map_err(|it| {
            // The library repeats the address, which may hold a password.
            let why = it.to_string();
            let why = match endpoint {
                Some(text) => why.replace(text, "…"),
                None => why,
            };
            format!("traces cannot be sent: {why}")
        })?;
        let name = world.variable("OTEL_SERVICE_NAME").unwrap_or(NAME).to_owned();
        let resource = Resource::builder().with_service_name(name).build();
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource)
            .build();
        Ok(Some(Spans(provider)))
    }

    /// Returns what makes spans of what the program tells.
    pub fn layer<S>(&self) -> impl tracing_subscriber::Layer<S> + use<S>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        use tracing_subscriber::Layer;
        let own = tracing_subscriber::filter::Targets::new()
            .with_target("entail", tracing::level_filters::LevelFilter::TRACE);
        OpenTelemetryLayer::new(self.0.tracer(NAME)).with_filter(own)
    }

    /// Sends what was not sent yet. A collector that does not listen is no failure of the command.
    pub fn end(self) {
        let _ = self.0.shutdown();
    }
}

/// Returns the collector's address, if one is given.
///
/// # Errors
///
/// If it is not an address of `http` or `https`. The error does not repeat it, because it may hold a password.
fn endpoint(world: &World) -> Result<Option<&str>, Error> {
    let names = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
    let given = names.into_iter().find_map(|name| Some((name, world.variable(name)?)));
    let Some((name, text)) = given else { return Ok(None) };
    let url = reqwest::Url::parse(text).ok();
    match url.filter(|it| matches!(it.scheme(), "http" | "https")) {
        Some(_) => Ok(Some(text)),
        None => Err(format!("{name} is not an address of http or https").into()),
    }
}

/// Checks the variables for batches of spans: the library drops every span if its queue has no room, and says nothing.
///
/// # Errors
///
/// If one is not a number, or is a number with which nothing would be sent.
fn check_batches(world: &World) -> Result<(), Error> {
    for (name, least) in [
        ("OTEL_BSP_MAX_QUEUE_SIZE", 1),
        ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 1),
        ("OTEL_BSP_SCHEDULE_DELAY", 0),
        ("OTEL_BSP_EXPORT_TIMEOUT", 0),
    ] {
        let given = world.variable(name).filter(|it| !it.is_empty());
        if given.is_some_and(|it| it.parse::<u64>().map_or(true, |it| it < least)) {
            return Err(format!("{name} must be a whole number of at least {least}").into());
        }
    }
    Ok(())
}

/// Returns whom connections to the collector trust and as whom they show themselves, as `OTEL_EXPORTER_OTLP_CERTIFICATE`,
/// `…_CLIENT_CERTIFICATE` and `…_CLIENT_KEY` say; without them, the certificates that the program trusts anywhere.
///
/// # Errors
///
/// If a file cannot be read, or a client certificate and its key are not both given.
fn trust(world: &World) -> Result<Trust, Error> {
    let read = |kind: &str| -> Result<Option<String>, Error> {
        let names = ["TRACES_", ""].map(|it| format!("OTEL_EXPORTER_OTLP_{it}{kind}"));
        let given = names.into_iter().find_map(|it| {
            let path = world.variable(&it)?.to_owned();
            Some((it, path)).filter(|it| !it.1.is_empty())
        });
        let Some((name, path)) = given else { return Ok(None) };
        let bytes = read_regular(&world.cwd.join(&path))
            .context(format_args!("{path}, which {name} names, cannot be read"))?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    };
    let identity = match (read("CLIENT_CERTIFICATE")?, read("CLIENT_KEY")?) {
        (Some(chain), Some(key)) => Some((chain, key)),
        (None, None) => None,
        _ => {
            let why = "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_CLIENT_KEY go together";
            return Err(why.into());
        }
    };
    Ok(Trust { authorities: read("CERTIFICATE")?, identity, ..Trust::default() })
}

/// Returns the way to the collector.
fn client(world: &World) -> Result<Client, Error> {
    let tls = tls(world, &trust(world)?)?;
    // The headers of `OTEL_EXPORTER_OTLP_HEADERS` are for this collector alone.
    let builder = Client::builder().tls_backend_preconfigured(tls).timeout(PATIENCE);
    let client = builder.redirect(reqwest::redirect::Policy::none()).build();
    client.context("traces cannot be sent")
}

/// Lets a span belong to the trace that has called this program: `TRACEPARENT`.
pub fn adopt(world: &World, span: &tracing::Span) {
    let given = ["traceparent", "tracestate"];
    let carrier: HashMap<String, String> = given
        .iter()
        .filter_map(|it| Some(((*it).to_owned(), world.variable(&it.to_uppercase())?.to_owned())))
        .collect();
    if !carrier.is_empty() {
        let _ = span.set_parent(TraceContextPropagator::new().extract(&carrier));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(variables: &[(&str, &str)]) -> Result<Option<Spans>, Error> {
        let environment = variables.iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect();
        Spans::of(&World { environment, ..World::of_this_process() })
    }

    #[test]
    fn traces_can_be_disabled() {
        let exporter = ("OTEL_TRACES_EXPORTER", "console");
        assert!(matches!(spans(&[exporter, ("OTEL_SDK_DISABLED", "True")]), Ok(None)));
        assert!(spans(&[exporter, ("OTEL_SDK_DISABLED", "false")]).is_err());
    }

    #[track_caller]
    fn check_refused(variables: &[(&str, &str)], expected: &str) {
        let exporter = ("OTEL_TRACES_EXPORTER", "otlp");
        let refused = spans(&[&[exporter][..], variables].concat());
        let why = refused.err().expect("it is refused").to_string();
        assert!(why.contains(expected), "{why}");
    }

    #[test]
    fn numbers_with_which_no_spans_would_be_sent_are_refused() {
        let least =
            |name: &str, least: u8| format!("{name} must be a whole number of at least {least}");
        for (name, text, number) in [
            ("OTEL_BSP_MAX_QUEUE_SIZE", "0", 1),
            ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "0", 1),
            ("OTEL_BSP_SCHEDULE_DELAY", "-1", 0),
            ("OTEL_BSP_EXPORT_TIMEOUT", "soon", 0),
        ] {
            check_refused(&[(name, text)], &least(name, number));
        }
    }

    #[test]
    fn certificates_for_the_collector_are_read() {
        for name in ["OTEL_EXPORTER_OTLP_CERTIFICATE", "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE"] {
            check_refused(
                &[(name, "/gone.pem")],
                &format!("/gone.pem, which {name} names, cannot be read"),
            );
            let file = tempfile::NamedTempFile::new().expect("a file");
            let path = file.path().to_str().expect("a path of text");
            check_refused(&[(name, path)], "no certificate in PEM");
        }
        let key = tempfile::NamedTempFile::new().expect("a file");
        let path = key.path().to_str().expect("a path of text");
        check_refused(&[("OTEL_EXPORTER_OTLP_CLIENT_KEY", path)], "go together");
    }

    #[test]
    fn an_address_of_the_collector_is_not_repeated() {
        for name in ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] {
            for address in ["SECRET no address", "file:///SECRET", "https://me:SECRET@"] {
                let refused = spans(&[("OTEL_TRACES_EXPORTER", "otlp"), (name, address)]);
                let why = refused.err().expect("it is refused").to_string();
                assert_eq!(why, format!("{name} is not an address of http or https"));
            }
        }
    }
}
