import { ANSWERED, type PhaseResult } from '../../core/plane.ts';
import type { Runtime } from '../../core/runtime.ts';
import { upstreamHeaders } from '../../core/upstream-headers.ts';
import type { RouteCall } from '../route-call.ts';
import type { TestRequest } from './test-request.ts';

/** Keeps what a test request sends, for the person who made it. A dry one ends here: everything was done but sending it. */
export function showSent(call: RouteCall, test: TestRequest, runtime: Runtime): PhaseResult {
  const { shown } = test;
  const masked = shown ? { ...call, injectedHeaders: shown.headers, upstreamPath: shown.path, body: shown.body } : call;
  test.sent = {
    url: `${call.upstream?.scheme}://${call.upstream?.authority}${masked.upstreamPath}`,
    headers: upstreamHeaders(masked, runtime.privateHeaders),
    body: masked.body,
    masked: shown !== null,
  };
  if (!test.dry) return undefined;
  call.latencyMs = Math.round(performance.now() - call.began);
  call.res.writeHead(204).end();
  return ANSWERED;
}
