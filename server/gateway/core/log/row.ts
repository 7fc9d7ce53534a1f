import { scrub } from '#server/platform/log.ts';
import type { Call } from '../call.ts';
import { isoInstant } from '../iso-instant.ts';
import { loggedPath } from './logged-path.ts';
import type { LoggedPlane } from './logged-plane.ts';
import { type Trace, type TraceText, traceText } from './trace.ts';

/** A row of request_logs before the database gave it an id; names are the columns. */
export type LogRow = ReturnType<typeof logRow>;

const MAX_USER_AGENT = 256;
const IDENTIFIED = { api_key: 'api_key', oauth_client: 'oauth_token', wrap_token: 'gateway_token', agent: 'agent' } as const;
/** Names an environment can have. A caller may send anything, even a credential in the wrong header: other text is not kept. */
const ENVIRONMENT = /^[a-z0-9_-]{1,63}$/;

/** The row of a finished call: names, numbers and ids, never the value of a header, a body or a secret (interface rule 13 §2). */
export function logRow(call: Call, plane: LoggedPlane, nodeId: string) {
  const { snapshot, credential, client, test } = call;
  const { mode, route, environment, path, query, signatureValid = null, routeless = false, proxied } = plane.logSubject(call);
  // A credential in the headers of a test request is not what authenticated it.
  const caller = credential.state === 'valid' && !test ? credential.caller : null;
  // An unauthenticated caller must not be able to tell from our own records which routes exist either.
  const opaque = !call.admitted && credential.state !== 'valid' && !test;
  return {
    request_id: call.requestId,
    tenant_id: snapshot.tenant.id,
    route_id: opaque ? null : (route?.id ?? null),
    matched_client_id: test ? null : (client?.client.id ?? null),
    identification_method: test ? 'dashboard_user' : client ? client.method : caller ? IDENTIFIED[caller.kind] : null,
    method: call.method.slice(0, 32),
    status_code: call.status === 0 ? null : call.status,
    src_ip: call.sourceAddress || null,
    environment: opaque || !ENVIRONMENT.test(environment) ? null : environment,
    sandbox: snapshot.sandbox,
    ts: isoInstant(call.receivedAt),
    // Without a route there is no forward path to speak of: the path as it was called, with its first segment.
    path: loggedPath(opaque || !(route || routeless) ? calledPath(call.target) : path, query),
    latency_ms: call.latencyMs < 0 ? Math.round(performance.now() - call.began) : call.latencyMs,
    upstream_host: call.upstream?.authority ?? null,
    error: call.error,
    rate_limited: call.status === 429,
    proxy_mode: test ? 'test' : mode,
    client_origin: call.clientOrigin,
    origin: call.origin,
    upstream_status: call.upstreamStatus || null,
    upstream_ms: call.upstreamMs < 0 ? null : call.upstreamMs,
    attempts: call.attempts,
    // The caller's announcement may be any number of 64 bits, the column's is signed.
    request_bytes: call.requestBytes || Math.min(Math.max(0, call.contentLength), Number.MAX_SAFE_INTEGER),
    response_bytes: call.responseBytes,
    slug: opaque ? null : (route?.slug ?? null),
    route_name: opaque ? null : (route?.name ?? null),
    client_name: client?.client.name ?? null,
    user_agent: call.userAgent === null ? null : scrub(call.userAgent.slice(0, MAX_USER_AGENT)),
    signature_valid: signatureValid,
    api_key_id: caller?.apiKeyId ?? null,
    oauth_client_id: caller?.oauthClientId ?? null,
    user_id: test?.userId ?? caller?.userId ?? null,
    secrets_used: call.secretsUsed ?? [],
    warnings: call.warnings ?? [],
    error_detail: call.errorDetail,
    payload_flags: call.capture?.flags || null,
    node_id: nodeId,
    injected: call.injected ?? [],
    // As it is stored, for one that was read from the disk.
    trace: traceText(call, plane, proxied) as Trace | TraceText,
  };
}

/** A request target without its query. */
function calledPath(target: string): string {
  const mark = target.indexOf('?');
  return mark < 0 ? target : target.slice(0, mark);
}
