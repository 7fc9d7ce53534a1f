import { paced } from '#server/kernel/slices.ts';
import { acceptBody } from '../../core/listener.ts';
import { type Refused, refused } from '../../core/refusal.ts';
import { readBody as readBytes } from '../../core/request-body.ts';
import type { Runtime } from '../../core/runtime.ts';
import type { EphemeralCall } from '../ephemeral-call.ts';
import { isRefused, type Scanned, scan } from '../templates/scan.ts';
import { forwardedHeaders } from '../upstream-request.ts';

const MOST = 10 * 1024 * 1024;
const JSON_TYPE = 'application/json';

/** Step 6. In transparent mode nothing is read: the body streams, whatever it is. */
export function readBody(call: EphemeralCall, runtime: Runtime): Refused | undefined | Promise<Refused | undefined> {
  const { state } = call;
  if (call.contentLength > MOST) return TOO_LARGE;
  if (state.mode === 'transparent') {
    call.streamsBody = call.contentLength !== 0;
    return undefined;
  }
  if (call.contentLength === 0) return scanCall(call, runtime);
  acceptBody(call.req, call.res);
  return readBytes(call.req, MOST, (bytes) => runtime.bodies.hold(call, bytes)).then((read) => {
    if (read.state === 'crowded')
      return refused('concurrency_limit_exceeded', 'Too many request bodies are held in memory. Try again shortly.');
    if (read.body === null) return refused('invalid_request', "The request body wasn't fully received.");
    call.requestBytes = read.body.length;
    if (read.state === 'longer') return TOO_LARGE;
    call.body = read.body;
    return scanCall(call, runtime);
  });
}

const TOO_LARGE = refused('payload_too_large', 'The request body must not exceed 10 MiB.');

function scanCall(call: EphemeralCall, runtime: Runtime): Refused | undefined | Promise<Refused | undefined> {
  const { state, body } = call;
  const steps = scan({
    query: queryOf(call),
    body: body && body.length > 0 ? body : null,
    contentType: call.contentType || JSON_TYPE,
    encoded: call.contentEncoding !== '' && call.contentEncoding !== 'identity',
    headers: [...forwardedHeaders(call, runtime)],
  });
  const finish = (scanned: Scanned | null | Refused) => {
    if (isRefused(scanned)) return scanned;
    state.scanned = scanned;
    return undefined;
  };
  const scanned = paced(steps, body?.length ?? 0);
  return scanned instanceof Promise ? scanned.then(finish) : finish(scanned);
}

/** The URL's own query, then that of the call. */
export function queryOf({ state: { url, calledQuery } }: EphemeralCall): string | null {
  if (url?.query == null) return calledQuery;
  return calledQuery === null || calledQuery === '' ? url.query : `${url.query}&${calledQuery}`;
}
