import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type PolicyCallers, UNNAMED } from '#server/kernel/policy-callers.ts';
import type { Verdict } from '#server/platform/counters.ts';
import type { TlsMaterial } from '#server/platform/http-out/connector.ts';
import type { FaultType } from '#server/platform/http-out/faults.ts';
import type { Target } from '#server/platform/http-out/target-url.ts';
import type { Caller, ClientMatch } from '../snapshot/model.ts';
import type { SpaceSnapshot } from '../snapshot/slices.ts';
import type { AnswerEdit, AnswerScrub, LineEdit } from './answer-edit.ts';
import type { Capture } from './capture.ts';
import type { GatewayResponse } from './gateway-response.ts';
import type { Grpc } from './grpc/grpc-call.ts';
import type { Refused } from './refusal.ts';

/** The caller's credential, verified; the admission decides what follows from it (interface rule 12 §5.1). */
export type Credential =
  /** `fault` is told instead of the opaque refusal: what is wrong with the proof of a token that is good. */
  | { readonly state: 'none' | 'bad'; readonly caller: null; readonly fault: Refused | null }
  | { readonly state: 'valid' | 'wrong_space'; readonly caller: Caller; readonly fault: null };
export const NO_CREDENTIAL: Credential = { state: 'none', caller: null, fault: null };
export const BAD_CREDENTIAL: Credential = { state: 'bad', caller: null, fault: null };

export type Monthly = { readonly limit: number; readonly remaining: number };

/** A handshake of a caller who wants a WebSocket: its socket, and what came on it behind the head. */
export type Upgrade = { readonly socket: Duplex; readonly first: Buffer };

/** How a call is forwarded, as its plane's configuration says. */
export type Forwarding = {
  readonly timeoutMs: number;
  readonly retryAttempts: number;
  /** Headers that are not accepted from the caller, in lower case and hyphenated. */
  readonly droppedHeaders: ReadonlySet<string>;
  /** Neither is any X-Amz-*: they belong to a signature that is made here. */
  readonly dropsAmazon?: boolean;
  readonly forwardClientIp: boolean;
  /** The upstream is spoken to in HTTP/2; a handshake of a WebSocket is not. */
  readonly http2?: boolean;
  /** Whatever happens, the upstream gets the call at most once. */
  readonly sendsOnce?: boolean;
  /** How long an answer may be silent once its head is there; the usual time of its kind without it. */
  readonly idleMs?: number;
  /** The longest body that streams, in bytes; the usual one without it. */
  readonly bodyLimit?: number;
};

/** An access token that was put into the call, by what names its connection. */
export type UsedConnection = { readonly secretId: string; readonly environment: string; readonly generation: number };

/** What separates the connections of a call from others to the same upstream. */
export type UpstreamTls = { readonly identity: string; readonly tls: TlsMaterial };

/** A test request: made by a person in the dashboard, who is shown the exchange. It isn't counted against the plan, and a dry one isn't sent. */
export type Test = {
  /** Null when a machine credential made it. */
  readonly userId: string | null;
  readonly dry: boolean;
  /** What tenant policies see of whoever makes it. */
  readonly subjects: PolicyCallers;
};

/** Everybody whom a call is made for, as tenant policies see them: who tests, and whose credential it brings. All decisions by policies ask with them. */
export function subjectsOf({ test, credential: { caller } }: { test: Test | null; credential: Credential }): PolicyCallers {
  if (test !== null) return caller ? [...test.subjects, ...caller.subjects] : test.subjects;
  return caller?.subjects ?? UNNAMED;
}

/**
 * One call, filled in by the phases in their order; a phase relies on what earlier phases filled in and on nothing else. One literal makes the
 * calls of all planes, so that the engine sees a single shape; what only one plane knows is in `state`.
 */
export type Call<State = unknown> = ReturnType<typeof newCall<State>>;

export type CallStart<State> = {
  planeName: string;
  state: State;
  req: IncomingMessage;
  res: GatewayResponse;
  /** When it was read, on performance.now()'s clock; now without it. */
  arrivedAt?: number;
  requestId: string;
  snapshot: SpaceSnapshot;
  /** Sibling space of the same workspace: tells a key of the wrong space from an unknown one. */
  otherSpace: SpaceSnapshot;
  /** Path and query as sent, after the path mount was cut off. */
  target: string;
  sourceAddress: string;
  host: string;
  test?: Test;
  upgrade?: Upgrade | undefined;
  /** It came by HTTP/2, in which trailers can be sent. */
  http2?: boolean;
  /** Of a call that another plane makes for its own caller; it brings no credential. */
  caller?: Caller;
  /** Of a call that came to a receiver of webhooks, with a signature that holds. */
  verified?: boolean | undefined;
  hidesSecrets?: boolean | undefined;
  encodesSegments?: boolean | undefined;
};

export function newCall<State>(start: CallStart<State>) {
  const { req, res, arrivedAt = performance.now(), requestId, snapshot, otherSpace, target, sourceAddress, host } = start;
  const {
    planeName,
    state,
    test = null,
    caller = null,
    verified = false,
    hidesSecrets = false,
    encodesSegments = false,
    upgrade = null,
    http2 = false,
  } = start;
  return {
    planeName,
    /** What only its plane knows. */
    state,
    req,
    res,
    requestId,
    snapshot,
    otherSpace,
    target,
    sourceAddress,
    host,
    test: test as Test | null,
    /** Who was authenticated by the plane that makes this call; null for calls from outside. */
    caller: caller as Caller | null,
    /** The upstream is told that a receiver of webhooks verified it. */
    verified,
    /** Its answer shows no value of a secret that it used, also where the upstream repeats it. */
    hidesSecrets,
    /** Values of the target are encoded as one segment each. */
    encodesSegments,
    /** Null for most calls. */
    upgrade: upgrade as Upgrade | null,
    http2,
    /** What a call of gRPC says of itself; null for most calls. */
    grpc: null as Grpc | null,
    method: req.method ?? '',
    receivedAt: Date.now(),
    began: arrivedAt,

    // head
    /** Lower-cased names of req.rawHeaders, one per pair. */
    names: [] as string[],
    presentedKey: null as string | null,
    authorization: null as string | null,
    apiKeyHeader: null as string | null,
    /** The DPoP header; several are joined, and then none. */
    proof: null as string | null,
    /** What an on-host agent presents; the token alone, or a broken one, is a bad credential. */
    agentId: null as string | null,
    agentToken: null as string | null,
    connection: null as string | null,
    via: null as string | null,
    contentType: '',
    contentEncoding: '',
    /** Bytes announced, 0 without a body, -1 when chunked. */
    contentLength: 0,
    traceparent: false,
    idempotencyKey: false,
    userAgent: null as string | null,
    clientOrigin: 'direct' as 'direct' | 'sdk_intercept',

    // who calls
    credential: NO_CREDENTIAL,
    stripAuthorization: false,
    stripApiKey: false,
    stripProof: false,
    /** For the DPoP-Nonce header, when a proof came for us. */
    nonce: null as string | null,
    client: null as ClientMatch | null,
    admitted: false,

    // limits
    tenantVerdict: null as Verdict | null,
    routeVerdict: null as Verdict | null,
    monthly: null as Monthly | null,
    inFlight: false,

    // forward
    forwarding: null as Forwarding | null,
    upstream: null as Target | null,
    /** Answered by the built-in echo upstream. */
    echo: false,
    /** Certificates of the connection to it; null for most calls. */
    upstreamTls: null as UpstreamTls | null,
    upstreamPath: '',
    injectedHeaders: null as string[] | null,
    /** All headers of the upstream's request, of a plane that puts them together itself. */
    ownHeaders: null as string[] | null,
    body: null as Buffer | null,
    /** A long body that was put together anew, in place of `body`. */
    bodyPieces: null as readonly Buffer[] | null,
    streamsBody: false,
    /** Changes the lines of a body that streams; null for most calls, as is the next. */
    lineEdit: null as LineEdit | null,
    answerEdit: null as AnswerEdit | null,
    /** Takes values out of the answer before anything else sees it; null for most calls. */
    scrub: null as AnswerScrub | null,
    /** No part of an answer is asked for, whatever the caller or the route says. */
    wholeAnswer: test !== null,
    /** Bytes of bodies counted against what may be held (body-memory.ts). */
    bufferedBytes: 0,
    /** Where values were injected: `header:authorization`, `query:key`, `body`. */
    injected: null as string[] | null,
    /** Whose tokens the call carries; null for most calls. */
    connections: null as readonly UsedConnection[] | null,
    /** Puts a new access token into the call; false when there is none. Null for calls without. */
    renew: null as (() => Promise<boolean>) | null,
    secretsUsed: null as string[] | null,
    warnings: null as string[] | null,
    /** Whether its body may be kept as it came. */
    keepsRequest: true,
    /** What is kept of its payloads; null for most calls. */
    capture: null as Capture | null,

    // outcome
    attempts: 0,
    upstreamMs: -1,
    /** The same unrounded; 0 when the core didn't measure it. */
    upstreamSpent: 0,
    upstreamStatus: 0,
    /** Why the last attempt brought no whole answer; null when it did, or none was made. */
    upstreamFault: null as FaultType | null,
    /** Slug of a route that covers the call, for the response block. */
    promotedRoute: null as string | null,
    /** 0 until something was sent to the caller. */
    status: 0,
    origin: 'service' as 'service' | 'upstream',
    error: null as string | null,
    refusal: null as Refused<string> | null,
    errorDetail: null as string | null,
    latencyMs: -1,
    phase: 'complete' as 'complete' | 'first-byte',
    requestBytes: 0,
    responseBytes: 0,
    responseHeaders: null as string[] | null,
    /** Milliseconds since `began` at which each phase ended. */
    phaseTimings: [] as number[],
    finished: false,
  };
}

/** The caller went away, whatever the upstream answered. */
export function noteClosed(call: Call, received: number): void {
  call.error = 'client_closed';
  call.status = 0;
  call.responseBytes = received;
}
