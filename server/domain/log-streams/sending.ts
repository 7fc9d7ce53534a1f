import { signAwsRequest } from '#server/crypto/upstream-auth/aws-sigv4.ts';
import { spaceOf } from '#server/kernel/context.ts';
import { processState } from '#server/kernel/process-state.ts';
import { type OutboundHttp, openHttp } from '#server/platform/connect/http.ts';
import { UpstreamFault } from '#server/platform/http-out/faults.ts';
import type { OutboundRequest } from '#server/platform/http-out/request-out.ts';
import type { StreamCredentials } from './credentials.ts';
import { bodyOf, type Origin, type StreamRecord } from './records.ts';
import type { StreamKind } from './schema.ts';
import type { StreamRow } from './service.ts';

const TIMEOUT_MS = 15_000;

const open = processState('log-stream-http', (): { http?: OutboundHttp | undefined } => ({}));
const http = () => (open.http ??= openHttp({ connections: 4, connectTimeoutMs: 5_000 }));

export type Sent = { ok: true; status: number; warning?: string } | { ok: false; status: number | null; error: string };

/** Sends one batch. Never rejects for what the destination does; its answer is not quoted, since it might repeat a credential. */
export async function sendBatch(
  stream: StreamRow,
  credentials: StreamCredentials,
  records: readonly StreamRecord[],
  { origin, now, signal }: { origin: Origin; now: Date; signal?: AbortSignal },
): Promise<Sent> {
  const request = requestOf(stream, credentials, records, origin, now);
  try {
    const { status, body } = await http().request({
      ...request,
      ...{
        tenant: stream.tenant_id,
        space: spaceOf(stream.sandbox),
        timeoutMs: TIMEOUT_MS,
        maxBytes: 64 * 1024,
        overflow: 'truncate',
        signal,
      },
    });
    if (status < 200 || status > 299) return { ok: false, status, error: `The destination answered with status ${status}.` };
    const rejected = stream.kind === 'otlp' ? rejectedRecords(body) : 0;
    return rejected === 0
      ? { ok: true, status }
      : { ok: true, status, warning: `The destination rejected some records of a batch: ${rejected}.` };
  } catch (error) {
    if (error instanceof UpstreamFault) return { ok: false, status: null, error: error.message };
    throw error;
  }
}

/** Logs and spans that OTLP took in part are not to be sent again (OTLP specification, partial success). */
function rejectedRecords(body: Buffer): number {
  try {
    type Partial = { partialSuccess?: { rejectedLogRecords?: string | number; rejectedSpans?: string | number } };
    const { partialSuccess } = JSON.parse(body.toString('utf8')) as Partial;
    return Number(partialSuccess?.rejectedLogRecords ?? partialSuccess?.rejectedSpans ?? 0) || 0;
  } catch {
    return 0; // an empty answer, or one in protobuf
  }
}

/** The paths that collectors listen on, for endpoints given without one. */
const PATHS: Partial<Record<StreamKind, string>> = { splunk: '/services/collector/event', datadog: '/api/v2/logs', otlp: '/v1/logs' };

export function requestOf(
  stream: Pick<StreamRow, 'kind' | 'source' | 'endpoint' | 'region' | 'prefix' | 'access_key_id'>,
  credentials: StreamCredentials,
  records: readonly StreamRecord[],
  origin: Origin,
  now: Date,
): Pick<OutboundRequest, 'url' | 'method' | 'headers' | 'body'> {
  const kind = stream.kind as StreamKind;
  const { type, text } = bodyOf(kind, records, origin);
  const body = Buffer.from(text, 'utf8');
  const url = new URL(stream.endpoint);
  if (kind === 's3') return putObject(stream, credentials, { url, body, records, now });
  const standard = kind === 'otlp' && stream.source === 'traces' ? '/v1/traces' : PATHS[kind];
  const path = url.pathname === '/' ? (standard ?? url.pathname) : url.pathname;
  const token: Record<string, string> =
    kind === 'splunk'
      ? { authorization: `Splunk ${credentials.token}` }
      : kind === 'datadog'
        ? { 'dd-api-key': credentials.token ?? '' }
        : {};
  return { url: url.origin + path, method: 'POST', headers: { 'content-type': type, ...credentials.headers, ...token }, body };
}

type Upload = { url: URL; body: Buffer; records: readonly StreamRecord[]; now: Date };

/** One object a batch, named by what it holds: a batch that is sent again after a crash replaces itself. */
function putObject(
  { source, region, prefix, access_key_id }: Pick<StreamRow, 'source' | 'region' | 'prefix' | 'access_key_id'>,
  { secret_access_key = '' }: StreamCredentials,
  { url, body, records, now }: Upload,
): Pick<OutboundRequest, 'url' | 'method' | 'headers' | 'body'> {
  const [first, last] = [records[0], records.at(-1)];
  const day = (first?.at ?? now).toISOString().slice(0, 10).replaceAll('-', '/');
  const key = [prefix, source, day, `${first?.position ?? 0}-${last?.position ?? 0}.ndjson`].filter(Boolean).join('/');
  const target = `${url.pathname.replace(/\/$/, '')}/${key}`;
  const headers = ['content-type', 'application/x-ndjson'];
  const signed = signAwsRequest(
    { method: 'PUT', target, host: url.host, headers, body },
    { region: region ?? '', service: 's3' },
    { access_key_id: access_key_id ?? '', secret_access_key },
    now,
  );
  const pairs = [...headers, ...signed.headers];
  const fields = Object.fromEntries(pairs.flatMap((name, i) => (i % 2 === 0 ? [[name, pairs[i + 1] as string]] : [])));
  return { url: url.origin + signed.target, method: 'PUT', headers: fields, body };
}
