import { getDomainWithoutSuffix } from 'tldts';
import { looksLikeCredential } from '#server/domain/routes/config/literal-credential.shared.ts';
import type { ProposedSecret } from './schema.ts';

/** Names the importer must not propose, lower-cased: they exist in the space. */
export type Taken = { secrets: ReadonlySet<string>; routes: ReadonlySet<string> };
export const nothingTaken: Taken = { secrets: new Set(), routes: new Set() };

const HEADER =
  /^(?:authorization|cookie|x-auth|.*(?:^|[-_])(?:api[-_]?key|apikey|access[-_]?key|auth[-_]?key|key|token|secret|password|signature|credentials?)(?:[-_](?:id))?)$/i;
const PARAMETER =
  /^(?:key|appid|app_?key|api[-_]?key|apikey|access[-_]?(?:key|token)|auth(?:[-_]?(?:key|token))?|token|secret|password|client[-_]?secret|sig(?:nature)?|subscription[-_]key)$/i;

/** By its name, or by what it holds: an imported call must not leave a credential in a configuration, which would warn of it. */
export const isCredentialHeader = (name: string, value: string) => HEADER.test(name) || looksLikeCredential(name, value) !== undefined;
export const isCredentialParameter = (name: string, value: string) =>
  PARAMETER.test(name) || looksLikeCredential(name, value) !== undefined;

/** `Stripe` for api.stripe.com; null for an address. */
export function vendorOf(host: string): string | null {
  const label = getDomainWithoutSuffix(host, { allowPrivateDomains: true }) ?? (/^[a-z-]+$/i.test(host) ? host : null);
  return label === null || label === '' ? null : label[0]?.toUpperCase() + label.slice(1);
}

/** `STRIPE_API_KEY` for X-Api-Key of Stripe. */
export const secretNameFor = (vendor: string | null, what: string) =>
  `${vendor ?? 'upstream'}_${what.replace(/^x[-_]/i, '')}`
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
    .slice(0, 100);

/** The first of name, name + suffix(2), name + suffix(3), … that nobody has. */
export function freeName(wanted: string, taken: (name: string) => boolean, suffix: (n: number) => string): string {
  for (let n = 1; ; n++) {
    const name = n === 1 ? wanted : `${wanted}${suffix(n)}`;
    if (!taken(name)) return name;
  }
}

/** Collects the secrets of one proposal. `add` answers the template to put in the credential's place. A paste may hold thousands: each costs one look-up. */
export function secretList(taken: Taken) {
  const secrets: ProposedSecret[] = [];
  const used = new Set<string>();
  const byValue = new Map<string, string>();
  const tried = new Map<string, number>();
  const free = (wanted: string): string => {
    const folded = wanted.toLowerCase();
    for (let n = tried.get(folded) ?? 1; ; n++) {
      const name = n === 1 ? wanted : `${wanted}_${n}`;
      if (taken.secrets.has(name.toLowerCase()) || used.has(name.toLowerCase())) continue;
      tried.set(folded, n + 1);
      return name;
    }
  };
  const add = (wanted: string, value: string | undefined, note: string): string => {
    const same = value === undefined ? undefined : byValue.get(value);
    const name = same ?? free(wanted);
    if (same === undefined) {
      secrets.push({ name, ...(value === undefined ? {} : { value }), note });
      used.add(name.toLowerCase());
      if (value !== undefined) byValue.set(value, name);
    }
    return `{{secret:${name}}}`;
  };
  return { secrets, add };
}

/** A stand-in instead of a value: `$TOKEN`, `${TOKEN}`, `{{token}}`, `<your key>`, `YOUR_API_KEY`; answers the name it suggests, '' for none. */
export function standIn(value: string): string | undefined {
  const named = /^(?:\$\{?(\w+)\}?|\{\{\s*([\w-]+)\s*\}\}|%(\w+)%)$/.exec(value);
  if (named) return (named[1] ?? named[2] ?? named[3] ?? '').toUpperCase().replace(/-/g, '_');
  return /^<.*>$|^\[.*\]$|^(?:your|my|insert)[-_ ]|^x{3,}$|^\.{3}$|^…$/i.test(value) ? '' : undefined;
}
