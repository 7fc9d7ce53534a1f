import { redactCredentials } from './credential-patterns.ts';
import { looksLikeCredential } from './literal-credential.ts';
import { LosslessNumber } from './lossless-json.ts';

/**
 * Audit details are sanitised when they are written (interface rule 61 §2): members named like credentials are dropped, values shaped like
 * credentials are replaced, URLs lose userinfo and query. No reader can undo it.
 */
const DROPPED = /^(?:value|pin)$|(?:password|passwd|passphrase|secret|token|privatekey|authorization|apikey|cvv)$/;

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

export function sanitiseDetails(details: Record<string, unknown>): { [key: string]: Json } {
  return clean(details, 0) as { [key: string]: Json };
}

/** What stands in place of a secret in a call that is shown or copied. */
export const MASK = '…';

/**
 * A call's input as it may be shown and copied: what its operation marks as secret (`marked`: names of fields) or is named like a credential becomes
 * a mark, and text shaped like a credential loses that part. Everything else stays as it is, uncut, so that the call can be made again: a placeholder
 * that stands for a secret is none.
 */
export function masked(value: unknown, marked: ReadonlySet<string>, injected = false): unknown {
  if (typeof value === 'string') return redactCredentials(value);
  if (Array.isArray(value)) return value.map((one) => masked(one, marked, injected));
  if (typeof value !== 'object' || value === null || value instanceof LosslessNumber) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      (isSaying(member) && (marked.has(name) || (name !== 'value' && isNamedLikeCredential(name) && !isPlaceholder(member)))) ||
      (injected && isLiteralCredential(name, member))
        ? MASK
        : masked(member, marked, injected || INJECTED.test(name)),
    ]),
  );
}

/** `Bearer {{secret:STRIPE_KEY}}` and the like, with nothing else in it. */
const isPlaceholder = (value: unknown) => typeof value === 'string' && /^(?:[A-Za-z]{1,12} )?(?:\{\{[^{}]{1,200}\}\}:?)+$/.test(value);

/** What routes put into calls: their headers and parameters are called many things, and carry credentials more often than not. */
const INJECTED = /^inject_(?:headers|query|body)_json$/;
const isLiteralCredential = (name: string, value: unknown) => typeof value === 'string' && looksLikeCredential(name, value) !== undefined;

/** Nothing and a flag give no secret away; a number may be a PIN. */
const isSaying = (value: unknown) => value !== null && value !== undefined && typeof value !== 'boolean';
const isNamedLikeCredential = (name: string) => DROPPED.test(name.toLowerCase().replace(/[^a-z]/g, ''));

function clean(value: unknown, depth: number, injected = false): Json {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return cleanText(value);
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Date) return value.toISOString();
  if (value instanceof LosslessNumber) return value.value; // as a bigint: details hold doubles
  if (depth > 8) return '[too deep]';
  if (Array.isArray(value)) return value.slice(0, 200).map((v) => clean(v, depth + 1, injected));
  const out: { [key: string]: Json } = {};
  for (const [key, v] of Object.entries(value as object)) {
    if ((isNamedLikeCredential(key) && isSaying(v)) || (injected && isLiteralCredential(key, v))) continue;
    out[key] = clean(v, depth + 1, injected || INJECTED.test(key));
  }
  return out;
}

function cleanText(text: string): string {
  const out = redactCredentials(text.replace(/[^\s"'<>]+/g, withoutUrlSecrets));
  // Half of a surrogate pair at the cut would be no text any more, and jsonb would refuse the whole entry.
  return out.length > 512 ? `${out.slice(0, 511).replace(/[\ud800-\udbff]$/, '')}…` : out;
}

/** A word without the userinfo and the query of the URLs in it. One pass over its parts: no word makes it slow. */
function withoutUrlSecrets(word: string): string {
  if (!word.includes('://')) return word;
  const [scheme = '', ...rest] = word.split('://');
  const bare = rest.map((part) => {
    const end = part.search(/[/?#]/);
    const authority = end === -1 ? part : part.slice(0, end);
    return part.slice(authority.lastIndexOf('@') + 1);
  });
  const joined = [scheme, ...bare].join('://');
  const query = joined.indexOf('?', scheme.length);
  if (query === -1) return joined;
  const fragment = joined.indexOf('#', query);
  return joined.slice(0, query) + (fragment === -1 ? '' : joined.slice(fragment));
}
