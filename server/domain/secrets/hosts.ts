import { getPublicSuffix } from 'tldts';
import { canonicalHost } from '#server/kernel/upstream-url.ts';

/** The stored form of a host pin (interface rule 30 §13), or what is wrong with it. `*.example.com` pins one label below example.com. */
export function canonicalHostPin(text: string): { ok: true; value: string } | { ok: false; problem: string } {
  const wildcard = text.startsWith('*.');
  const host = canonicalHost(wildcard ? text.slice(2) : text);
  if (host === undefined)
    return { ok: false, problem: 'must be a hostname such as api.example.com or *.example.com, without scheme, port or path' };
  if (!wildcard) return { ok: true, value: host };
  if (getPublicSuffix(host, { allowPrivateDomains: true }) === host)
    return { ok: false, problem: `*.${host} would match everyone's hosts under a public suffix` };
  return { ok: true, value: `*.${host}` };
}

/** Whether a value pinned to `pins` may go to this host; null pins nothing. Names that are no host names are never allowed. */
export function hostAllowed(pins: readonly string[] | null, host: string): boolean {
  if (pins === null) return true;
  const name = canonicalHost(host);
  if (name === undefined) return false;
  const parent = name.slice(name.indexOf('.') + 1);
  return pins.some((pin) => (pin.startsWith('*.') ? name !== parent && pin.slice(2) === parent : pin === name));
}

/** Whether a value that was pinned to `before` could go to more hosts under `after`. A first pin narrows whatever it names. */
export function widensPins(before: readonly string[] | null, after: readonly string[] | null): boolean {
  if (before === null) return false;
  return after === null || !after.every((pin) => before.includes(pin) || hostAllowed(before, pin));
}
