/**
 * Audit details are sanitised when they are written (interface rule 61 §2): members named like credentials are dropped, values shaped like
 * credentials are replaced, URLs lose userinfo and query. No reader can undo it.
 */
const DROPPED = new Set(['password', 'secret', 'token', 'value', 'privatekey', 'authorization', 'apikey', 'clientsecret', 'pin', 'cvv']);

const CREDENTIAL =
  /tk_(?:live|test)_[0-9A-Za-z]{12}_[0-9A-Za-z]{51}|AKE[A-Z2-7]{16}:[0-9A-Za-z]{40}|svc[rcds]?_(?:live_|test_)?[0-9A-Za-z]{49}|svcp_(?:live|test)_[arto]_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}|(?:ses|scim)_[0-9A-Za-z]{49}|(?:stp|sck|shc|kct|svc_as|svc_a[is]t|whsec)_[0-9A-Za-z_-]{20,}|wkt_[a-z2-7]{52}|sk_(?:live|test)_[0-9A-Za-z]{8,}|gh[opsur]_[0-9A-Za-z]{20,}|AKIA[0-9A-Z]{12,}|xox[abprs]-[0-9A-Za-z-]{10,}|AIza[0-9A-Za-z_-]{30,}|(?<![0-9A-Za-z_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

export function sanitiseDetails(details: Record<string, unknown>): { [key: string]: Json } {
  return clean(details, 0) as { [key: string]: Json };
}

function clean(value: unknown, depth: number): Json {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return cleanText(value);
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Date) return value.toISOString();
  if (depth > 8) return '[too deep]';
  if (Array.isArray(value)) return value.slice(0, 200).map((v) => clean(v, depth + 1));
  const out: { [key: string]: Json } = {};
  for (const [key, v] of Object.entries(value as object)) {
    const droppable = DROPPED.has(key.toLowerCase().replace(/[^a-z]/g, ''));
    if (droppable && typeof v !== 'boolean' && v !== null) continue;
    out[key] = clean(v, depth + 1);
  }
  return out;
}

function cleanText(text: string): string {
  let out = text.replace(CREDENTIAL, '[redacted]');
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(out)) out = out.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#@]*@/i, '$1').replace(/\?[^#]*/, '');
  // Half of a surrogate pair at the cut would be no text any more, and jsonb would refuse the whole entry.
  return out.length > 512 ? `${out.slice(0, 511).replace(/[\ud800-\udbff]$/, '')}…` : out;
}
