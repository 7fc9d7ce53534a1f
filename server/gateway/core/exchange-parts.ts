import { freeBytes } from '#server/platform/free-bytes.ts';
import { UpstreamFault } from '#server/platform/http-out/faults.ts';
import type { UpstreamCall, UpstreamHandler, UpstreamRequest } from '#server/platform/http-out/upstream-call.ts';
import type { Pool } from '#server/platform/http-out/upstream-pool.ts';
import { EVENTS_IDLE_MS } from './answer-head.ts';
import { BodyBroken } from './broken-body.ts';
import type { Call } from './call.ts';
import { trailersFor } from './grpc/trailers.ts';
import { type Refused, refused } from './refusal.ts';
import { BodyRefused, BodyRelay, BodyStalled, BodyTooLarge, LineRelay, PiecesSource, STREAMED_LIMIT } from './request-body.ts';
import type { Runtime } from './runtime.ts';
import type { Tunnel } from './websocket/tunnel.ts';

// What an exchange asks without being changed by it.

/** Called once, at the end: with a refusal to answer, or after the response was written. */
export type Outcome = {
  refuse(refusal: Refused): void;
  over(): void;
  /** The call became a WebSocket. The returned function is called when that is over, before `over`. */
  upgraded?(tunnel: Tunnel): () => void;
};

/** The connections that a call goes by. @throws UpstreamFault when the echo upstream isn't running */
export function poolOf(
  { snapshot, echo, upstreamTls, grpc, forwarding, upgrade }: Call,
  runtime: Runtime,
  { scheme, host, port }: NonNullable<Call['upstream']>,
): Pool {
  if (!echo)
    return runtime.pools.get({
      ...{ tenant: snapshot.tenant.id, space: snapshot.space, scheme, host, port },
      identity: upstreamTls?.identity,
      tls: upstreamTls?.tls,
      http2: grpc !== null || (forwarding?.http2 === true && upgrade === null),
    });
  if (!runtime.echo) throw new UpstreamFault('upstream_unreachable', 'The echo upstream is not running.', { phase: 'connect' });
  return runtime.echo;
}

/** What takes values out of an answer before `next` is told of it; undefined for most calls. */
export const scrubbedFor = (call: Call, runtime: Runtime, next: UpstreamHandler, sent: () => UpstreamCall | undefined) =>
  call.scrub?.(next, {
    pause: () => sent()?.pause(),
    resume: () => sent()?.resume(),
    abort: () => sent()?.abort(),
    mayHold: (bytes) => runtime.bodies.hold(call, call.bufferedBytes + bytes),
  });

/** The way of a body that streams; its lines are changed where the plane says so. */
export function relayOf(call: Call, runtime: Runtime, failed: (error: Error) => void): BodyRelay | LineRelay {
  const tap = call.keepsRequest ? call.capture : null;
  const idleMs = call.grpc === null ? undefined : EVENTS_IDLE_MS;
  if (call.lineEdit === null) return new BodyRelay(call.req, call.forwarding?.bodyLimit ?? STREAMED_LIMIT, failed, tap, idleMs);
  // What is kept of its lines is what may be shown of them.
  const lines = { edit: call.lineEdit, mayHold: (bytes: number) => runtime.bodies.hold(call, bytes), tap: call.capture };
  return new LineRelay(call.req, STREAMED_LIMIT, failed, lines);
}

/** Why a body that streamed ends the call; undefined where that is told elsewhere. */
export function refusalOf(error: Error): Refused | undefined {
  if (error instanceof BodyRefused) return error.refusal;
  if (error instanceof BodyTooLarge)
    return refused('payload_too_large', `The request body must not exceed ${error.limit / (1024 * 1024)} MiB.`);
  return error instanceof BodyStalled || error instanceof BodyBroken
    ? refused('invalid_request', "The request body wasn't fully received.")
    : undefined;
}

const inPieces = (pieces: readonly Buffer[]) => ({
  source: new PiecesSource(pieces),
  length: pieces.reduce((sum, piece) => sum + piece.length, 0),
});

/** Of several attempts one may have ended in the middle of sending it, and a test request shows it. */
export function freeBody({ body, attempts, test }: Call, sent: UpstreamCall | undefined): void {
  if (body && attempts === 1 && !test && sent?.bodySent) freeBytes(body);
}

/** What is sent to the upstream; a relay feeds the body from the caller. */
export function requestOf(call: Call, headers: string[], relay: BodyRelay | LineRelay | undefined): UpstreamRequest {
  const length = call.contentLength < 0 || call.lineEdit !== null ? null : call.contentLength;
  const body = relay ? { source: relay, length } : call.bodyPieces ? inPieces(call.bodyPieces) : call.body;
  const upgrade = call.upgrade === null ? undefined : 'websocket';
  const trailers = call.grpc === null ? undefined : () => trailersFor(call.req.rawTrailers);
  return { path: call.upstreamPath, method: call.method, headers, body, upgrade, trailers };
}

export function flush({ res }: Call): void {
  if (!res.writableEnded && !res.isHeld && !res.destroyed) res.flushHeaders();
}

/** The error's code for the log, e.g. ECONNREFUSED; addresses stay out of it. */
export function causeOf(fault: UpstreamFault): string {
  const cause = fault.cause as NodeJS.ErrnoException | undefined;
  return [fault.phase, cause?.code ?? cause?.name ?? fault.type].join(':');
}
