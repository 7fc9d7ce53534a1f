import { parseAddress } from '#server/kernel/address.ts';
import { canonicalHost, isOwnHost, type UpstreamUrlRules } from '#server/kernel/upstream-url.ts';
import { isCredentialHeader, isFirstSegment, looksLikeCredential, MOST_COUNT, OBSERVED_METHODS } from './rules.shared.ts';

export type Observation = {
  host: string;
  first_segment: string;
  method: string;
  header_name: string;
  count: number;
  first_seen: Date;
  last_seen: Date;
};
export type DropReason =
  | 'invalid_host'
  | 'ip_literal'
  | 'platform_host'
  | 'invalid_first_segment'
  | 'invalid_method'
  | 'invalid_header_name'
  | 'invalid_count'
  | 'invalid_time'
  | 'capacity';
export type RedactReason = 'first_segment_looks_like_credential';
export type Judged = { ok: true; observation: Observation; redacted: RedactReason | null } | { ok: false; reason: DropReason };

const DAY = 24 * 3_600_000;
const OLDEST = 7 * DAY;
const SKEW = 5 * 60_000;

/** One reported entry: only the seven fields are read, whatever else it holds. Never throws. */
export function judgeObservation(entry: unknown, now: Date, ownHosts: UpstreamUrlRules['ownHosts']): Judged {
  const given = (typeof entry === 'object' && entry !== null ? entry : {}) as Record<string, unknown>;
  const drop = (reason: DropReason): Judged => ({ ok: false, reason });

  const named = hostOf(given.host);
  if (named === 'address') return drop('ip_literal');
  if (named === undefined) return drop('invalid_host');
  if (isOwnHost(named, 443, ownHosts)) return drop('platform_host');
  const { first_segment, method, header_name, count } = given;
  if (typeof first_segment !== 'string' || !isFirstSegment(first_segment)) return drop('invalid_first_segment');
  if (typeof method !== 'string' || !(OBSERVED_METHODS as readonly string[]).includes(method)) return drop('invalid_method');
  if (typeof header_name !== 'string' || !isCredentialHeader(header_name)) return drop('invalid_header_name');
  if (!Number.isInteger(count) || (count as number) < 1 || (count as number) > MOST_COUNT) return drop('invalid_count');
  const [first, last] = [timeOf(given.first_seen), timeOf(given.last_seen)];
  if (first === undefined || last === undefined || first > last || first < now.getTime() - OLDEST || last > now.getTime() + SKEW)
    return drop('invalid_time');

  const isCredential = looksLikeCredential(first_segment);
  return {
    ok: true,
    observation: {
      host: named,
      first_segment: isCredential ? '/' : first_segment,
      method,
      header_name,
      count: count as number,
      // A clock that is a little ahead is set right.
      first_seen: new Date(Math.min(first, now.getTime())),
      last_seen: new Date(Math.min(last, now.getTime())),
    },
    redacted: isCredential ? 'first_segment_looks_like_credential' : null,
  };
}

/** Lower case, without port, brackets and trailing dot. */
function hostOf(value: unknown): string | 'address' | undefined {
  if (typeof value !== 'string' || value.length > 300) return undefined;
  const text = value.trim();
  const [, bracketed] = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text) ?? [];
  const plain = (bracketed ?? text.replace(/:\d{1,5}$/, '')).replace(/\.$/, '');
  if (parseAddress(plain) || parseAddress(text) || bracketed !== undefined) return 'address';
  const ascii = URL.parse(`https://${plain}/`)?.hostname;
  if (ascii !== undefined && parseAddress(ascii.replace(/\.$/, ''))) return 'address';
  const host = canonicalHost(plain);
  return host?.includes('.') ? host : undefined;
}

const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;
function timeOf(value: unknown): number | undefined {
  const at = typeof value === 'string' && ISO.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}
