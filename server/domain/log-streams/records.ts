import type { StreamKind, StreamSource } from './schema.ts';

/** A row of a feed on its way out; `position` is its place there. */
export type StreamRecord = { position: bigint; at: Date; data: Readonly<Record<string, unknown>> };

export type Origin = { tenant_id: string; workspace: string; space: 'live' | 'test'; source: StreamSource };

/** A batch in the form that a kind of destination takes. Bodies are UTF-8. */
export function bodyOf(kind: StreamKind, records: readonly StreamRecord[], origin: Origin): { type: string; text: string } {
  switch (kind) {
    case 'https':
    case 's3':
      return { type: 'application/x-ndjson', text: records.map(({ data }) => `${JSON.stringify(data)}\n`).join('') };
    case 'splunk':
      return { type: 'application/json', text: records.map((record) => JSON.stringify(splunkEvent(record, origin))).join('\n') };
    case 'datadog':
      return { type: 'application/json', text: JSON.stringify(records.map((record) => datadogLog(record, origin))) };
    case 'otlp':
      return {
        type: 'application/json',
        text: JSON.stringify(origin.source === 'traces' ? otlpTraces(records, origin) : otlpLogs(records, origin)),
      };
  }
}

/** An event of Splunk's HTTP Event Collector; events follow each other without a comma. */
const splunkEvent = ({ at, data }: StreamRecord, { workspace, space, source }: Origin) => ({
  time: at.getTime() / 1000,
  source: 'sallyport',
  sourcetype: `sallyport:${source}`,
  fields: { workspace, space },
  event: data,
});

const datadogLog = ({ at, data }: StreamRecord, { workspace, space, source }: Origin) => ({
  ddsource: 'sallyport',
  service: 'sallyport',
  ddtags: `workspace:${workspace},space:${space},source:${source}`,
  timestamp: at.getTime(),
  status: severityOf(data, source).text.toLowerCase(),
  message: summaryOf(data, source),
  ...data,
});

/** An export request of OTLP/HTTP in JSON (opentelemetry-proto, LogsData). 64-bit numbers are text there. */
const otlpLogs = (records: readonly StreamRecord[], origin: Origin) => ({
  resourceLogs: [
    {
      resource: resourceOf(origin),
      scopeLogs: [{ scope: { name: 'sallyport' }, logRecords: records.map((record) => otlpRecord(record, origin)) }],
    },
  ],
});

/** The same as TracesData: one span for each call, on the side of the server. */
const otlpTraces = (records: readonly StreamRecord[], origin: Origin) => ({
  resourceSpans: [
    {
      resource: resourceOf(origin),
      scopeSpans: [{ scope: { name: 'sallyport' }, spans: records.map(otlpSpan) }],
    },
  ],
});

const resourceOf = ({ tenant_id, space }: Origin) => ({
  attributes: attributes({ 'service.name': 'sallyport', 'svc.tenant_id': tenant_id, 'svc.space': space }),
});

/** Of the trace that the gateway names to the upstream of a call that came without one: its ID is that of the call. */
function otlpSpan({ at, data }: StreamRecord) {
  const id = String(data.request_id ?? data.id ?? '').replaceAll('-', '');
  const latency = typeof data.latency_ms === 'number' ? data.latency_ms : 0;
  const severity = severityOf(data, 'requests');
  return {
    traceId: id,
    spanId: id.slice(-16),
    name: [data.method, data.route_name].filter(Boolean).join(' ') || 'call',
    kind: SERVER,
    startTimeUnixNano: `${at.getTime()}000000`,
    endTimeUnixNano: `${at.getTime() + latency}000000`,
    attributes: attributes(callAttributes(data)),
    status: severity.text === 'ERROR' ? { code: FAILED } : {},
  };
}
/** Numbers of opentelemetry-proto: SPAN_KIND_SERVER and STATUS_CODE_ERROR. */
const SERVER = 2;
const FAILED = 2;

function otlpRecord({ at, data }: StreamRecord, { source }: Origin) {
  const severity = severityOf(data, source);
  const nanoseconds = `${at.getTime()}000000`;
  return {
    timeUnixNano: nanoseconds,
    observedTimeUnixNano: nanoseconds,
    severityNumber: severity.number,
    severityText: severity.text,
    eventName: EVENT_NAMES[source],
    body: { stringValue: summaryOf(data, source) },
    attributes: attributes(ATTRIBUTES[source](data)),
  };
}

const auditAttributes = (data: StreamRecord['data']) => ({
  'svc.audit.id': data.id,
  'svc.audit.action': data.action,
  'svc.audit.resource_type': data.resource_type,
  'svc.audit.resource_id': data.resource_id,
  'svc.audit.details': JSON.stringify(data.details ?? {}),
  'client.address': data.ip_address,
});

/** The names of interface rule 61 §7. */
const callAttributes = (data: StreamRecord['data']) => ({
  'http.request.method': data.method,
  'url.path': data.path,
  'http.response.status_code': data.status_code,
  'server.address': data.upstream_host,
  'client.address': data.src_ip,
  'svc.request_id': data.request_id,
  'svc.tenant_id': data.tenant_id,
  'svc.route_name': data.route_name,
  'svc.environment': data.environment,
  'svc.latency_ms': data.latency_ms,
  'svc.error': data.error,
});

/** Interface rule 61 §7. */
const deliveryAttributes = (data: StreamRecord['data']) => ({
  'http.request.method': data.http_method,
  'http.response.status_code': data.response_status,
  'svc.webhook.id': data.webhook_id,
  'svc.webhook.name': data.webhook_name,
  'svc.webhook.event_id': data.event_id,
  'svc.webhook.event_type': data.event_type,
  'svc.webhook.success': data.success,
  'svc.webhook.retry_count': data.retry_count,
  'svc.latency_ms': data.response_time_ms,
  'svc.error': data.error_code,
});

const EVENT_NAMES: Record<StreamSource, string> = {
  audit: 'svc.audit',
  requests: 'svc.proxy.request',
  traces: 'svc.proxy.request',
  deliveries: 'svc.webhook.delivery',
};
const ATTRIBUTES: Record<StreamSource, (data: StreamRecord['data']) => Readonly<Record<string, unknown>>> = {
  audit: auditAttributes,
  requests: callAttributes,
  traces: callAttributes,
  deliveries: deliveryAttributes,
};

type Attribute = { key: string; value: { stringValue: string } | { intValue: string } | { boolValue: boolean } };

const attributes = (values: Readonly<Record<string, unknown>>): Attribute[] =>
  Object.entries(values).flatMap(([key, value]): Attribute[] => {
    if (typeof value === 'string') return [{ key, value: { stringValue: value } }];
    if (typeof value === 'boolean') return [{ key, value: { boolValue: value } }];
    if (typeof value === 'number') return [{ key, value: { intValue: String(Math.round(value)) } }];
    return [];
  });

/** Calls and deliveries: 2xx and 3xx INFO, 4xx WARN, 5xx and no answer ERROR. Entries of the audit log are INFO. */
function severityOf(data: StreamRecord['data'], source: StreamSource): { number: number; text: 'INFO' | 'WARN' | 'ERROR' } {
  const given = source === 'deliveries' ? data.response_status : data.status_code;
  const status = typeof given === 'number' ? given : 0;
  if (source === 'audit' || (status >= 200 && status < 400)) return { number: 9, text: 'INFO' };
  return status >= 400 && status < 500 ? { number: 13, text: 'WARN' } : { number: 17, text: 'ERROR' };
}

function summaryOf(data: StreamRecord['data'], source: StreamSource): string {
  if (source === 'deliveries')
    return [data.event_type, data.webhook_name, data.response_status ?? data.error_code].filter(Boolean).join(' ');
  const parts = source === 'audit' ? [data.action, data.resource_type, data.resource_id] : [data.method, data.path, data.status_code];
  return parts.filter((part) => part !== null && part !== undefined).join(' ');
}
