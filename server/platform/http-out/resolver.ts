import { Resolver as DnsResolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { checkAddress, checkHost, isOperatorOrigin } from './guard.ts';
import { canonicalAddress } from './networks.ts';
import type { EgressSettings } from './settings.ts';

// Names are resolved by this module and nobody else: what was judged is what gets connected to. The system's hosts file and
// search domains are not consulted, since they could turn a public-looking name into an inside one.

export type Answer = { address: string; ttl: number };
/** All A (4) or AAAA (6) records of a name, TTL in seconds; rejects with a DNS error code when there are none or nobody answers. */
export type ResolveFamily = (host: string, family: 4 | 6, signal: AbortSignal) => Promise<readonly Answer[]>;

export type PinnedAddress = { address: string; port: number };
export type Lookup =
  | {
      ok: true;
      addresses: readonly PinnedAddress[];
      /** Every address is on the private allow-list or the origin is the operator's: http is permitted. */
      exempt: boolean;
      /** False for test hosts and operator origins, whose addresses are inside on purpose. */
      judged: boolean;
    }
  | { ok: false; reason: 'blocked' | 'unresolvable'; message: string };

export type Resolver = {
  readonly settings: EgressSettings;
  /** Judges the host, resolves it and judges every address; one refused address refuses the host. Never rejects. */
  lookup(host: string, port: number): Promise<Lookup>;
};

export type ResolverOptions = {
  settings: EgressSettings;
  resolve?: ResolveFamily | undefined;
  /** Milliseconds for the whole lookup; 5 s (interface rule 12 §9.1). */
  timeoutMs?: number | undefined;
  now?: (() => number) | undefined;
};

const MAX_CACHE_MS = 60_000;
const NEGATIVE_CACHE_MS = 2_000;
const MAX_CACHED_NAMES = 10_000;

/** Names to addresses, each asked once for those who ask together, kept for at most a minute and forgotten soon when it failed. */
export function createResolver({ settings, resolve = askDns, timeoutMs = 5_000, now = Date.now }: ResolverOptions): Resolver {
  const cache = new Map<string, { until: number; answer: Promise<readonly string[]> }>();

  function addressesOf(name: string): Promise<readonly string[]> {
    const hit = cache.get(name);
    if (hit && hit.until > now()) return hit.answer;
    if (cache.size >= MAX_CACHED_NAMES) cache.delete(cache.keys().next().value as string);
    const answer = resolveAll(name, resolve, timeoutMs);
    // While the question is open every caller shares it; then the answer lives as long as its shortest TTL.
    const entry = { until: now() + MAX_CACHE_MS, answer: answer.then((all) => all.map((one) => one.address)) };
    cache.delete(name);
    cache.set(name, entry);
    answer.then(
      (all) => {
        entry.until = now() + Math.min(MAX_CACHE_MS, ...all.map((one) => one.ttl * 1000));
      },
      () => {
        entry.until = now() + NEGATIVE_CACHE_MS;
      },
    );
    return entry.answer;
  }

  async function lookup(host: string, port: number): Promise<Lookup> {
    const verdict = checkHost(host, port, settings);
    if (!verdict.ok) return blocked(host);
    const name = verdict.host;
    const mapped = settings.testHosts.get(`${name}:${port}`);
    if (mapped) return { ok: true, addresses: [mapped], exempt: false, judged: false };
    const operator = isOperatorOrigin(name, port, settings);
    let found: readonly string[];
    if (verdict.kind === 'address') found = [name];
    else if (name === 'localhost' || name.endsWith('.localhost')) {
      // RFC 6761 §6.3: never asked of DNS. Each of the two loopback addresses counts only if it was allowed by the operator.
      found = ['127.0.0.1', '::1'].filter((address) => operator || checkAddress(address, port, settings).ok);
      if (found.length === 0) return blocked(host);
    } else {
      try {
        found = await addressesOf(name);
      } catch {
        return { ok: false, reason: 'unresolvable', message: `The host ${name} could not be resolved.` };
      }
    }
    const verdicts = found.map((address) => checkAddress(address, port, settings));
    const exempt = verdicts.every((one) => one.ok && one.exempt);
    if (!operator && (verdicts.some((one) => !one.ok) || (verdict.onlyPrivate && !exempt))) return blocked(host);
    return { ok: true, addresses: found.map((address) => ({ address, port })), exempt: exempt || operator, judged: !operator };
  }

  return { settings, lookup };
}

/** The same words for every cause: which range a name points into is inside knowledge. */
function blocked(host: string): Lookup {
  return { ok: false, reason: 'blocked', message: `The host ${host} is not allowed as an upstream.` };
}

/** Both families, A first. One family without an answer is normal; with neither the name does not resolve. */
async function resolveAll(name: string, resolve: ResolveFamily, timeoutMs: number): Promise<readonly Answer[]> {
  const abort = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      abort.abort();
      reject(new Error('DNS timeout'));
    }, timeoutMs);
  });
  try {
    const both = Promise.allSettled([resolve(name, 4, abort.signal), resolve(name, 6, abort.signal)]);
    const results = await Promise.race([both, late]);
    const all = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
    if (all.length === 0) throw new Error('no address');
    return all.map(({ address, ttl }) => ({ address: canonicalAddress(address) ?? address, ttl }));
  } finally {
    clearTimeout(timer);
  }
}

/** A resolver object of its own per question, so that giving up on one does not cancel the others. */
const askDns: ResolveFamily = async (host, family, signal) => {
  if (isIP(host)) throw new Error('an address is not a name');
  const dns = new DnsResolver({ timeout: 1_500, tries: 2 });
  signal.addEventListener('abort', () => dns.cancel(), { once: true });
  return family === 4 ? dns.resolve4(host, { ttl: true }) : dns.resolve6(host, { ttl: true });
};
