import type { IncomingMessage } from 'node:http';
import type { Verdict } from '#server/platform/counters.ts';
import type { Target } from '#server/platform/http-out/target-url.ts';
import type { TestRequest } from '../route/test-requests/test-request.ts';
import type { ApiKey, CallConfig, ClientMatch, Environment, Route, SpaceSnapshot } from '../snapshot/model.ts';
import type { GatewayResponse } from './gateway-response.ts';
import type { Refused } from './refusal.ts';

/** What a caller presented, judged but not yet answered (interface rule 12 §5.1). */
export type Credential =
  | { readonly state: 'none' | 'bad'; readonly key: null }
  | { readonly state: 'valid' | 'wrong_space'; readonly key: ApiKey };
export const NO_CREDENTIAL: Credential = { state: 'none', key: null };
export const BAD_CREDENTIAL: Credential = { state: 'bad', key: null };

export type Monthly = { readonly limit: number; readonly remaining: number };

/**
 * One call, filled in by the phases in their order. One literal makes every one of them, so that the engine sees a single shape; a
 * phase may rely on what earlier phases filled in and on nothing else.
 */
export type Call = ReturnType<typeof newCall>;

export type CallStart = {
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
  /** Made by a person in the dashboard to try the route. */
  trial?: TestRequest;
};

export function newCall(start: CallStart) {
  const { req, res, arrivedAt = performance.now(), requestId, snapshot, otherSpace, target, sourceAddress, host, trial = null } = start;
  return {
    req,
    res,
    requestId,
    snapshot,
    otherSpace,
    target,
    sourceAddress,
    host,
    trial: trial as TestRequest | null,
    method: req.method ?? '',
    receivedAt: Date.now(),
    began: arrivedAt,

    // inspect
    /** Lower-cased names of req.rawHeaders, one per pair. */
    names: [] as string[],
    routeHeader: '',
    environmentHeader: '',
    presentedKey: null as string | null,
    authorization: null as string | null,
    apiKeyHeader: null as string | null,
    agentPair: false,
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
    /** null: the path names no route. */
    reference: null as string | null,
    forwardPath: '',
    /** Without `?`; null when there is none. */
    query: null as string | null,

    // credential, route, client
    credential: NO_CREDENTIAL,
    stripAuthorization: false,
    stripApiKey: false,
    route: null as Route | null,
    environment: null as Environment | null,
    config: null as CallConfig | null,
    /** Why there is nothing to serve, told to authenticated callers only. */
    lookupFault: null as Refused | null,
    environmentName: '',
    client: null as ClientMatch | null,
    admitted: false,

    // limits
    tenantVerdict: null as Verdict | null,
    routeVerdict: null as Verdict | null,
    monthly: null as Monthly | null,
    inFlight: false,

    // rewrite and forward
    upstream: null as Target | null,
    echo: false,
    upstreamPath: '',
    injectedHeaders: null as string[] | null,
    body: null as Buffer | null,
    streamsBody: false,
    /** Bytes of bodies counted against what may be held (held-bodies.ts). */
    bufferedBytes: 0,
    /** Names of what was put in: `header:authorization`, `query:key`, `body`. */
    injected: null as string[] | null,
    secretsUsed: null as string[] | null,
    warnings: null as string[] | null,

    // outcome
    attempts: 0,
    upstreamMs: -1,
    upstreamStatus: 0,
    /** 0 until something was sent to the caller. */
    status: 0,
    origin: 'service' as 'service' | 'upstream',
    error: null as string | null,
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
