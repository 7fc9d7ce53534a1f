import {
  type IssuerKeys,
  issuerKeys,
  readWorkloadToken,
  TokenRefused,
  verifyWorkloadToken,
  type WorkloadClaims,
} from '#server/crypto/workload-token.ts';
import { processState } from '#server/kernel/process-state.ts';
import { egress } from '../egress.ts';
import { UpstreamFault } from '../http-out/faults.ts';
import type { Resolver } from '../http-out/resolver.ts';
import { openHttp } from './http.ts';
import { documentIn } from './json-document.ts';
import { isKeyList, MOST_KEYS } from './key-list.ts';

// The signing keys of issuers whose workload tokens somebody trusts (interface rules 21 §4.6.3, 50 §6.9): OpenID Connect Discovery through the guarded
// transport. Only issuers of a binding are ever asked, and no issuer more often than the times below say, whoever presents tokens.

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 512 * 1024;
const FRESH_MS = 10 * 60_000;
const STALE_MS = 24 * 3_600_000;
const REFETCH_MS = 30_000;
/** An issuer that failed is left alone this long. */
const FAILED_MS = 10_000;
const MOST_ISSUERS = 1_000;

/** Why an issuer's keys can't be had. The message is ours: what an issuer answers may hold anything. */
export class IssuerFault extends Error {
  readonly reason: 'issuer_unreachable' | 'issuer_blocked' | 'issuer_misconfigured';
  constructor(reason: IssuerFault['reason'], message: string) {
    super(message);
    this.name = 'IssuerFault';
    this.reason = reason;
  }
}

export type KeySource = {
  /** Keys of an issuer, ten minutes old at most, or a day while it is down. `newer` asks again for a key that they lack. @throws IssuerFault */
  keysOf(issuer: string, now: Date, options?: { newer?: boolean }): Promise<IssuerKeys>;
};

type Entry = {
  keys?: IssuerKeys;
  fetched: number;
  refetched: number;
  failure?: { at: number; fault: unknown };
  pending?: Promise<IssuerKeys>;
};

/** The source of this process. */
export function keySource(): KeySource {
  held.source ??= createKeySource(egress());
  return held.source;
}
const held = processState('issuer-keys', (): { source?: KeySource } => ({}));

export function createKeySource(resolver: Resolver): KeySource {
  const entries = new Map<string, Entry>();

  return {
    async keysOf(issuer, now, { newer = false } = {}) {
      const entry = entryOf(issuer);
      const time = now.getTime();
      const { keys } = entry;
      if (keys && (newer ? time - entry.refetched < REFETCH_MS : time - entry.fetched < FRESH_MS)) return keys;
      if (keys && newer) entry.refetched = time;
      const usable = keys && time - entry.fetched < STALE_MS ? keys : undefined;
      try {
        if (entry.failure && time - entry.failure.at < FAILED_MS) throw entry.failure.fault;
        return await fetched(entry, issuer, time);
      } catch (fault) {
        if (usable && fault instanceof IssuerFault && fault.reason === 'issuer_unreachable') return usable;
        throw fault;
      }
    },
  };

  function entryOf(issuer: string): Entry {
    const entry = entries.get(issuer) ?? { fetched: Number.NEGATIVE_INFINITY, refetched: Number.NEGATIVE_INFINITY };
    // The one that was used longest ago goes first.
    entries.delete(issuer);
    if (entries.size >= MOST_ISSUERS) entries.delete(entries.keys().next().value as string);
    entries.set(issuer, entry);
    return entry;
  }

  /** Whoever asks meanwhile shares the answer. */
  function fetched(entry: Entry, issuer: string, time: number): Promise<IssuerKeys> {
    entry.pending ??= fetchKeys(resolver, issuer)
      .then(
        (keys) => {
          Object.assign(entry, { keys, fetched: time, failure: undefined });
          return keys;
        },
        (fault: unknown) => {
          entry.failure = { at: time, fault };
          throw fault;
        },
      )
      .finally(() => {
        delete entry.pending;
      });
    return entry.pending;
  }
}

/** The claims of a workload token, verified with its issuer's keys; a key that they lack is looked for once more. @throws TokenRefused, IssuerFault */
export async function verifiedWorkload(source: KeySource, token: string, now: Date): Promise<WorkloadClaims> {
  const { issuer } = readWorkloadToken(token);
  try {
    return await verifyWorkloadToken(token, issuer, await source.keysOf(issuer, now), now);
  } catch (error) {
    if (!(error instanceof TokenRefused) || error.reason !== 'unknown_key') throw error;
    return verifyWorkloadToken(token, issuer, await source.keysOf(issuer, now, { newer: true }), now);
  }
}

/** Connections are opened for one look and closed after it: keys are fetched rarely, and what is idle need not be kept. */
async function fetchKeys(resolver: Resolver, issuer: string): Promise<IssuerKeys> {
  const http = openHttp({ resolver, connections: 2, connectTimeoutMs: TIMEOUT_MS });
  const deadline = AbortSignal.timeout(TIMEOUT_MS);
  const host = hostOf(issuer);
  const json = async (url: string): Promise<Record<string, unknown>> => {
    await assertCallable(resolver, url);
    const { status, body } = await http.request({
      ...{ url, tenant: 'issuers', space: '-', headers: { accept: 'application/json' } },
      ...{ timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, signal: deadline },
    });
    if (status >= 500 || status === 429) throw new IssuerFault('issuer_unreachable', `${host} didn't answer.`);
    const document = status === 200 ? documentIn(body) : undefined;
    if (!document) throw new IssuerFault('issuer_misconfigured', `${host} has no OpenID Connect documents at this issuer.`);
    return document;
  };
  try {
    const metadata = await json(`${issuer.endsWith('/') ? issuer.slice(0, -1) : issuer}/.well-known/openid-configuration`);
    if (metadata.issuer !== issuer)
      throw new IssuerFault('issuer_misconfigured', `The discovery document of ${host} names another issuer.`);
    if (typeof metadata.jwks_uri !== 'string')
      throw new IssuerFault('issuer_misconfigured', `The discovery document of ${host} names no keys.`);
    const { keys } = await json(metadata.jwks_uri);
    if (!isKeyList(keys))
      throw new IssuerFault('issuer_misconfigured', `The key set of ${host} must be a list of at most ${MOST_KEYS} keys.`);
    return issuerKeys(keys);
  } catch (error) {
    if (error instanceof IssuerFault) throw error;
    if (error instanceof UpstreamFault && error.type === 'upstream_not_allowed') throw blocked(host);
    if (error instanceof UpstreamFault) throw new IssuerFault('issuer_unreachable', `${host} didn't answer.`);
    throw new IssuerFault('issuer_misconfigured', `The key set of ${host} is malformed.`);
  } finally {
    await http.close();
  }
}

/** Keys travel encrypted. The guard alone would let a deployment that permits http upstreams fetch them in the clear; only hosts that the operator opened are excepted. */
async function assertCallable(resolver: Resolver, address: string): Promise<void> {
  const url = URL.parse(address);
  if (url?.protocol === 'https:') return;
  const host = url?.hostname.replace(/^\[|\]$/g, '') ?? '';
  const lookup = url?.protocol === 'http:' ? await resolver.lookup(host, Number(url.port) || 80) : undefined;
  if (!lookup?.ok || !lookup.exempt) throw blocked(url?.host ?? 'the issuer');
}

const blocked = (host: string) =>
  new IssuerFault('issuer_blocked', `${host} can't be called from here: issuers must have a public address and use https.`);

const hostOf = (issuer: string): string => URL.parse(issuer)?.host ?? issuer;
