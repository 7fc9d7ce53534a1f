import { idsOf, type SpanFacts, type SpanSink } from '#server/platform/telemetry/spans.ts';
import type { Call } from './call.ts';
import { loggedPath } from './log/logged-path.ts';
import type { LoggedPlane } from './log/logged-plane.ts';

/** Tells the span of a call that has ended: with the names and numbers of its log row, and the path as the log shows it, without its query. */
export function tellSpan(sink: SpanSink, call: Call, plane: LoggedPlane & { readonly name: string; readonly logged?: boolean }): void {
  const { requestId, began, method, status, error, attempts, snapshot } = call;
  const { route, path, routeless = false } = plane.logSubject(call);
  const known = call.admitted || call.credential.state === 'valid';
  // The path of a plane without a log is a credential.
  const [target = ''] = plane.logged === false || (known && (route || routeless)) ? [path] : call.target.split('?');
  const header = call.traceparent ? call.req.headers.traceparent : undefined;
  sink({
    name: `${KNOWN_METHODS.has(method) ? method : 'HTTP'} ${plane.name}`,
    kind: 'server',
    began,
    ended: performance.now(),
    parent: typeof header === 'string' ? header : undefined,
    trusted: call.admitted,
    // The upstream was told these, unless the caller's own were passed on.
    ids: header === undefined ? idsOf(requestId) : undefined,
    attributes: {
      'http.request.method': KNOWN_METHODS.has(method) ? method : '_OTHER',
      'url.path': loggedPath(target, null),
      ...(status !== 0 && { 'http.response.status_code': status }),
      ...(known && route && { 'sallyport.route': route.slug ?? route.name }),
      'sallyport.plane': plane.name,
      'sallyport.request_id': requestId,
      'sallyport.tenant_id': snapshot.tenant.id,
      ...(attempts > 0 && { 'sallyport.attempts': attempts }),
    },
    error: error !== null && (status === 0 || status >= 500) ? error : undefined,
    inner: upstreamSpan(call),
  });
}

const KNOWN_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The time spent waiting for the upstream, all attempts together. */
function upstreamSpan({ began, phaseTimings, upstream, upstreamSpent, upstreamStatus, method, error }: Call): SpanFacts['inner'] {
  if (upstream === null || upstreamSpent === 0) return undefined;
  const sent = began + (phaseTimings[phaseTimings.length - 1] ?? 0);
  return {
    name: KNOWN_METHODS.has(method) ? method : 'HTTP',
    kind: 'client',
    began: sent,
    ended: sent + upstreamSpent,
    attributes: { 'server.address': upstream.host, ...(upstreamStatus !== 0 && { 'http.response.status_code': upstreamStatus }) },
    error: upstreamStatus === 0 ? (error ?? undefined) : undefined,
  };
}
