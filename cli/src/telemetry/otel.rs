//! Spans for a collector of OpenTelemetry, as `OTEL_TRACES_EXPORTER=otlp` and the further variables of its specification say.

use std::collections::HashMap;

use std::time::Duration;

use entail::backend::web::{Trust, tls};
use entail::error::{Error, ErrorContext};
use entail::world::World;
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
    /// Opens the way to the collector; nothing where none is asked for.
    pub fn of(world: &World) -> Result<Option<Spans>, Error> {
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
        let exporter = exporter.context("traces cannot be sent")?;
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

/// The way to the collector, with the certificates that the program trusts anywhere.
fn client(world: &World) -> Result<Client, Error> {
    let tls = tls(world, &Trust::default())?;
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
