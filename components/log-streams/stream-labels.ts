import type { z } from 'zod';
import type { State } from '#components/ui/badge.tsx';
import type { LogStream, StreamKind, StreamSource, StreamState } from '#server/domain/log-streams/schema.ts';

export type StreamRow = z.output<typeof LogStream>;

export const KIND_LABELS: Record<StreamKind, string> = {
  https: 'HTTPS (NDJSON)',
  splunk: 'Splunk HEC',
  datadog: 'Datadog',
  otlp: 'OpenTelemetry',
  s3: 'S3 bucket',
};

export const SOURCE_LABELS: Record<StreamSource, string> = {
  audit: 'Audit log',
  requests: 'Calls',
  traces: 'Calls as traces (OpenTelemetry)',
  deliveries: 'Webhook deliveries',
};

export const ENDPOINT_HINTS: Record<StreamKind, { placeholder: string; hint: string }> = {
  https: { placeholder: 'https://logs.example.com/in', hint: 'Receives a POST with one JSON object per line.' },
  splunk: { placeholder: 'https://splunk.example.com:8088', hint: 'The HTTP Event Collector. /services/collector/event is added.' },
  datadog: { placeholder: 'https://http-intake.logs.datadoghq.com', hint: 'The intake of your site. /api/v2/logs is added.' },
  otlp: {
    placeholder: 'https://collector.example.com:4318',
    hint: 'An OTLP/HTTP receiver that takes JSON. /v1/logs, or /v1/traces for traces, is added.',
  },
  s3: {
    placeholder: 'https://my-logs.s3.eu-west-1.amazonaws.com',
    hint: 'The address of the bucket at Amazon S3 or a compatible store. Each batch is one object.',
  },
};

export const STATE_LABELS: Record<StreamState, { label: string; state: State }> = {
  waiting: { label: 'Waiting for rows', state: 'pending' },
  active: { label: 'Active', state: 'ok' },
  failing: { label: 'Failing', state: 'failing' },
  paused: { label: 'Paused: failing', state: 'blocked' },
  off: { label: 'Off', state: 'off' },
};
