//! `/metrics`: the counters, in the text format of Prometheus.

use std::fmt::Write as _;

use axum::extract::{FromRequestParts as _, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};

use super::app::HttpApp;
use super::auth::AuthenticatedCaller;
use super::counters::{BUCKETS, RefusalReason};
use super::problem::Problem;

const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A number about the whole store.
#[derive(Clone, Copy, Debug)]
pub struct Gauge {
    /// Its name, such as `tulving_memories`.
    pub name: &'static str,
    /// Its description.
    pub about: &'static str,
    /// Its value.
    pub value: u64,
}

/// `GET /metrics`
///
/// The answer contains the total number of memories of all users. So the caller must be an admin of the organisation, unless
/// the configuration opens the route to every client.
pub(super) async fn show(State(app): State<HttpApp>, request: Request) -> Result<Response, Problem> {
    if !app.rules.open_metrics {
        let AuthenticatedCaller(caller) =
            AuthenticatedCaller::from_request_parts(&mut request.into_parts().0, &app).await?;
        app.blocking(move |engine| engine.require_org_admin(&caller)).await??;
    }
    let gauges = app.gauges.clone();
    let gauges = app.blocking(move |_| gauges.map(|gauges| gauges()).unwrap_or_default()).await?;
    Ok(([(CONTENT_TYPE, TEXT)], text(&app, &gauges)).into_response())
}

fn text(app: &HttpApp, gauges: &[Gauge]) -> String {
    let counters = &app.shared.counters;
    let (received, sent) = counters.bytes();
    let mut page = MetricsText(String::new());
    page.head("tulving_http_requests_total", "counter", "requests answered");
    let routes = counters.routes();
    for (route, asked) in &routes {
        for ((method, class), count) in &asked.answers {
            let labels = format!("method=\"{method}\",route=\"{route}\",status=\"{class}xx\"");
            page.row("tulving_http_requests_total", &labels, count);
        }
    }
    page.head("tulving_http_request_duration_seconds", "histogram", "duration of requests in seconds");
    for (route, asked) in &routes {
        let mut below = 0;
        for (end, count) in BUCKETS.iter().zip(asked.buckets) {
            below += count;
            let labels = format!("route=\"{route}\",le=\"{end}\"");
            page.row("tulving_http_request_duration_seconds_bucket", &labels, below);
        }
        let labels = format!("route=\"{route}\"");
        let all = format!("{labels},le=\"+Inf\"");
        page.row("tulving_http_request_duration_seconds_bucket", &all, asked.count);
        page.row("tulving_http_request_duration_seconds_sum", &labels, asked.time.as_secs_f64());
        page.row("tulving_http_request_duration_seconds_count", &labels, asked.count);
    }
    page.head("tulving_http_requests_in_flight", "gauge", "requests being answered");
    page.row("tulving_http_requests_in_flight", "", counters.in_flight());
    page.head("tulving_http_connections", "gauge", "open connections");
    page.row("tulving_http_connections", "", counters.connections());
    page.head("tulving_http_refused_total", "counter", "refused connections and requests");
    for reason in RefusalReason::ALL {
        let labels = format!("reason=\"{}\"", reason.as_str());
        page.row("tulving_http_refused_total", &labels, counters.refusals(reason));
    }
    page.head("tulving_http_bytes_total", "counter", "bytes received and sent");
    page.row("tulving_http_bytes_total", "direction=\"in\"", received);
    page.row("tulving_http_bytes_total", "direction=\"out\"", sent);
    page.head("process_start_time_seconds", "gauge", "start time of the server, in seconds since 1970");
    page.row("process_start_time_seconds", "", app.shared.started.as_micros() / 1_000_000);
    page.head("tulving_build_info", "gauge", "the version, as a label");
    page.row("tulving_build_info", concat!("version=\"", env!("CARGO_PKG_VERSION"), "\""), 1);
    for gauge in gauges {
        page.head(gauge.name, "gauge", gauge.about);
        page.row(gauge.name, "", gauge.value);
    }
    page.0
}

/// The text that is being built. No label contains characters that must be escaped.
struct MetricsText(String);

impl MetricsText {
    fn head(&mut self, name: &str, kind: &str, about: &str) {
        let _ = writeln!(self.0, "# HELP {name} {about}\n# TYPE {name} {kind}");
    }

    fn row(&mut self, name: &str, labels: &str, value: impl std::fmt::Display) {
        let _ = match labels {
            "" => writeln!(self.0, "{name} {value}"),
            _ => writeln!(self.0, "{name}{{{labels}}} {value}"),
        };
    }
}
