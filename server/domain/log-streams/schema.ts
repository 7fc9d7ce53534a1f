import { z } from 'zod';
import { atLeastOne, label, pathId, secret, time } from '#server/kernel/fields.ts';

/** What is sent: entries of the audit log, calls of the gateway without their bodies, the same as spans of traces, or what was sent to webhooks. */
export const STREAM_SOURCES = ['audit', 'requests', 'traces', 'deliveries'] as const;
export type StreamSource = (typeof STREAM_SOURCES)[number];

export const STREAM_KINDS = ['https', 'splunk', 'datadog', 'otlp', 's3'] as const;
export type StreamKind = (typeof STREAM_KINDS)[number];

/** `waiting`: nothing was sent yet. `paused`: turned off by the service after seven days of failures; `off`: by a person. */
export const STREAM_STATES = ['waiting', 'active', 'failing', 'paused', 'off'] as const;
export type StreamState = (typeof STREAM_STATES)[number];

/** A destination for logs (interface rule 61 §7). Its credentials are never among the fields. */
export const LogStream = z
  .object({
    id: z.uuid(),
    name: z.string(),
    source: z.enum(STREAM_SOURCES),
    kind: z.enum(STREAM_KINDS),
    endpoint: z.string(),
    region: z.string().nullable(),
    prefix: z.string().nullable(),
    access_key_id: z.string().nullable(),
    /** Headers that are sent; their values are not shown. */
    header_names: z.array(z.string()),
    enabled: z.boolean(),
    state: z.enum(STREAM_STATES),
    /** Rows that arrived. */
    sent_count: z.number().int(),
    last_sent_at: time().nullable(),
    failing_since: time().nullable(),
    last_error: z.string().nullable(),
    created_at: time(),
    updated_at: time(),
  })
  .meta({ id: 'LogStream' });

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
const VISIBLE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Names of HTTP fields to their values. */
const headers = () =>
  secret(
    z
      .record(z.string(), z.string().max(4096).regex(VISIBLE, 'must be one line of text'))
      .refine((all) => Object.keys(all).every((name) => TOKEN.test(name)), 'must have names of HTTP headers')
      .refine((all) => Object.keys(all).length <= 20, 'must have at most 20 headers'),
  );

/** What of a stream may change. Which of the credentials belong to which kind is for the service to say. */
const settings = {
  name: label(100),
  /** https: where NDJSON is posted. splunk, otlp: the collector, with or without its path. datadog: the intake. s3: the bucket. */
  endpoint: z.string().trim().max(2048),
  headers: headers(),
  /** splunk: the token of the HTTP Event Collector. datadog: the API key. */
  token: secret(z.string().min(1).max(1000).regex(VISIBLE, 'must be one line of text')),
  region: z.string().regex(/^[a-z0-9-]{1,40}$/, 'must be a region such as eu-west-1'),
  /** Folders of the bucket's objects, without a slash at either end. */
  prefix: z
    .string()
    .regex(/^$|^[A-Za-z0-9_][A-Za-z0-9_.=-]{0,99}(?:\/[A-Za-z0-9_][A-Za-z0-9_.=-]{0,99}){0,7}$/, 'must be folders such as logs/gateway'),
  access_key_id: z.string().regex(/^[A-Za-z0-9]{16,128}$/, 'must be an access key ID'),
  secret_access_key: secret(z.string().min(16).max(200).regex(VISIBLE, 'must be one line of text')),
  enabled: z.boolean(),
};

const { name, endpoint, enabled, ...credentials } = settings;
export const CreateLogStream = z.object({
  name,
  source: z.enum(STREAM_SOURCES).default('audit'),
  kind: z.enum(STREAM_KINDS),
  endpoint,
  ...z.object(credentials).partial().shape,
  enabled: enabled.default(true),
});
export const UpdateLogStream = atLeastOne(z.object({ id: pathId(), ...z.object(settings).partial().shape }));
export const LogStreamRef = z.object({ id: pathId() });

/** How the destination answered a record that says it is a test. */
export const LogStreamTest = z
  .object({ ok: z.boolean(), status: z.number().int().nullable(), latency_ms: z.number().int(), error: z.string().nullable() })
  .meta({ id: 'LogStreamTest' });
