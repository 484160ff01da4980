//! The JSON form of the OpenTelemetry protocol: times are nanoseconds in strings, ids are
//! hexadecimal, enumerations are numbers.

use serde_json::{Value, json};

use onloop_syntax::time::Timestamp;

/// The version of the semantic conventions that the names follow.
const SCHEMA_URL: &str = "https://opentelemetry.io/schemas/1.41.0";

/// `SPAN_KIND_INTERNAL`.
const INTERNAL: u32 = 1;
/// `SPAN_KIND_CLIENT`.
const CLIENT: u32 = 3;
/// `STATUS_CODE_ERROR`.
const ERROR: u32 = 2;
/// `AGGREGATION_TEMPORALITY_CUMULATIVE`.
const CUMULATIVE: u32 = 2;

/// Names and values of what is known about a span or a number, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Attributes(Vec<Value>);

impl Attributes {
    fn put(&mut self, key: &str, value: Value) {
        self.0.push(json!({ "key": key, "value": value }));
    }

    pub(super) fn text(&mut self, key: &str, value: &str) {
        self.put(key, json!({ "stringValue": value }));
    }

    pub(super) fn texts(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.text(key, value);
        }
    }

    pub(super) fn int(&mut self, key: &str, value: impl Into<i128>) {
        let value: i128 = value.into();
        self.put(key, json!({ "intValue": value.to_string() }));
    }

    pub(super) fn double(&mut self, key: &str, value: f64) {
        self.put(key, json!({ "doubleValue": value }));
    }

    pub(super) fn flag(&mut self, key: &str, value: bool) {
        self.put(key, json!({ "boolValue": value }));
    }
}

/// Something that took time.
#[derive(Clone, Debug)]
pub(super) struct Span {
    /// 16 hexadecimal characters, unique in the trace.
    pub id: String,
    /// The span that it is a part of; `None`: it is the whole run.
    pub parent: Option<String>,
    pub name: String,
    /// Whether it waits for a service outside, such as the provider of an agent.
    pub is_client: bool,
    pub start: Timestamp,
    /// Not before `start`.
    pub end: Timestamp,
    pub attributes: Attributes,
    /// The class of the error that it ended with.
    pub error: Option<&'static str>,
    /// What happened meanwhile.
    pub events: Vec<(Timestamp, &'static str, Attributes)>,
}

impl Span {
    /// Makes the span last until `at` at least.
    pub(super) fn extend_to(&mut self, at: Timestamp) {
        self.end = self.end.max(at);
    }

    fn document(&self, trace_id: &str) -> Value {
        let mut attributes = self.attributes.clone();
        attributes.texts("error.type", self.error);
        let event = |(at, name, attributes): &(Timestamp, &str, Attributes)| json!({ "timeUnixNano": nanos(*at), "name": name, "attributes": attributes.0 });
        let mut span = json!({
            "traceId": trace_id,
            "spanId": self.id,
            "parentSpanId": self.parent,
            "name": self.name,
            "kind": if self.is_client { CLIENT } else { INTERNAL },
            "startTimeUnixNano": nanos(self.start),
            "endTimeUnixNano": nanos(self.end),
            "attributes": attributes.0,
            "events": self.events.iter().map(event).collect::<Vec<_>>(),
            "status": {},
        });
        if self.parent.is_none() {
            span.as_object_mut().expect("an object").shift_remove("parentSpanId");
        }
        if self.error.is_some() {
            span["status"] = json!({ "code": ERROR });
        }
        span
    }
}

/// Nanoseconds since 1970, never negative.
fn nanos(at: Timestamp) -> String {
    (i128::from(at.as_millis()).max(0) * 1_000_000).to_string()
}

/// A number of times that something took or counted so much.
#[derive(Clone, Debug)]
pub(super) struct Histogram {
    pub attributes: Attributes,
    pub bounds: &'static [f64],
    /// The measured values, at least one.
    pub values: Vec<f64>,
}

/// The time over which numbers were summed up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Period {
    pub start: Timestamp,
    pub end: Timestamp,
}

/// A metric with its numbers.
pub(super) fn histogram(name: &str, unit: &str, over: Period, points: &[Histogram]) -> Value {
    let points: Vec<Value> = points.iter().map(|point| histogram_point(over, point)).collect();
    json!({
        "name": name,
        "unit": unit,
        "histogram": { "dataPoints": points, "aggregationTemporality": CUMULATIVE },
    })
}

fn histogram_point(over: Period, point: &Histogram) -> Value {
    let mut counts = vec![0_u64; point.bounds.len() + 1];
    for value in &point.values {
        counts[point.bounds.partition_point(|bound| bound < value)] += 1;
    }
    let (min, max) = (f64::INFINITY, f64::NEG_INFINITY);
    json!({
        "attributes": point.attributes.0,
        "startTimeUnixNano": nanos(over.start),
        "timeUnixNano": nanos(over.end),
        "count": point.values.len().to_string(),
        "sum": point.values.iter().sum::<f64>(),
        "bucketCounts": counts.iter().map(u64::to_string).collect::<Vec<_>>(),
        "explicitBounds": point.bounds,
        "min": point.values.iter().copied().fold(min, f64::min),
        "max": point.values.iter().copied().fold(max, f64::max),
    })
}

/// A number that only grows.
#[derive(Clone, Copy, Debug)]
pub(super) enum Amount {
    Count(u64),
    Measure(f64),
}

/// A metric whose numbers only grow.
pub(super) fn sum(name: &str, unit: &str, over: Period, points: &[(Attributes, Amount)]) -> Value {
    let point = |(attributes, amount): &(Attributes, Amount)| {
        let mut point = json!({
            "attributes": attributes.0,
            "startTimeUnixNano": nanos(over.start),
            "timeUnixNano": nanos(over.end),
        });
        match amount {
            Amount::Count(count) => point["asInt"] = count.to_string().into(),
            Amount::Measure(measure) => point["asDouble"] = (*measure).into(),
        }
        point
    };
    json!({
        "name": name,
        "unit": unit,
        "sum": {
            "dataPoints": points.iter().map(point).collect::<Vec<_>>(),
            "aggregationTemporality": CUMULATIVE,
            "isMonotonic": true,
        },
    })
}

/// The body of a request with the spans of one trace.
pub(super) fn traces(run_id: &str, trace_id: &str, spans: &[Span]) -> Value {
    let spans: Vec<Value> = spans.iter().map(|span| span.document(trace_id)).collect();
    json!({ "resourceSpans": [{
        "resource": resource(run_id),
        "scopeSpans": [{ "scope": scope(), "spans": spans, "schemaUrl": SCHEMA_URL }],
        "schemaUrl": SCHEMA_URL,
    }] })
}

/// The body of a request with metrics.
pub(super) fn metrics(run_id: &str, metrics: Vec<Value>) -> Value {
    json!({ "resourceMetrics": [{
        "resource": resource(run_id),
        "scopeMetrics": [{ "scope": scope(), "metrics": metrics, "schemaUrl": SCHEMA_URL }],
        "schemaUrl": SCHEMA_URL,
    }] })
}

/// Each run counts for itself, so it is an instance of the service.
fn resource(run_id: &str) -> Value {
    let mut attributes = Attributes::default();
    attributes.text("service.name", "onloop");
    attributes.text("service.version", env!("CARGO_PKG_VERSION"));
    attributes.text("service.instance.id", run_id);
    json!({ "attributes": attributes.0 })
}

fn scope() -> Value {
    json!({ "name": "onloop", "version": env!("CARGO_PKG_VERSION") })
}
