import type { Entry, KindName } from './document.ts';

/** Credentials that stand in a route as they are. The service warns of them; a file, which is copied and committed, must not hold them. */

const NAMES =
  /^(?:proxy-)?authorization$|^cookie$|(?:^|-)(?:auth|token|api-?key|app-?key|key|secret|password|passphrase|pwd|signature|sig|credentials?)$/;
const KNOWN =
  /\b(?:[sr]k_(?:live|test)_\w{8,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|AKIA[0-9A-Z]{16}|xox[abeprs]-[\w-]{10,}|AIza[\w-]{30,}|sk-[\w-]{16,}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)|-----BEGIN [A-Z ]*PRIVATE KEY-----/;
const SCHEME = /^(?:bearer|basic|token|apikey|digest)\s+/i;

/** Whether a header or parameter would carry a credential that isn't a placeholder. */
export function isLiteralCredential(name: string, value: unknown): boolean {
  if (typeof value !== 'string') return false;
  const literal = value.replace(/\{\{[^{}]*\}\}/g, '').trim();
  if (KNOWN.test(literal)) return true;
  const plain = name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/[_.\s]/g, '-')
    .toLowerCase();
  const bare = literal.replace(SCHEME, '').replace(/^(?:bearer|basic|token|apikey|digest)$/i, '');
  return bare.length >= 8 && (NAMES.test(plain) || (SCHEME.test(literal) && !/\s/.test(bare)));
}

/** Paths of the members of an entry that hold one. */
export function literalCredentials(kind: KindName, entry: Entry): string[] {
  if (kind !== 'routes') return [];
  const found: string[] = [];
  const visit = (value: unknown, name: string, path: string) => {
    if (isLiteralCredential(name, value)) found.push(path);
    if (typeof value === 'object' && value !== null)
      for (const [key, one] of Object.entries(value)) visit(one, Array.isArray(value) ? name : key, `${path}.${key}`);
  };
  const settings = (from: Record<string, unknown>, path: string) => {
    for (const field of ['inject_headers_json', 'inject_query_json', 'inject_body_json', 'method_configs'])
      visit(from[field], '', `${path}${field}`);
  };
  settings(entry, '');
  for (const [name, one] of Object.entries((entry.environments as Record<string, Record<string, unknown>> | undefined) ?? {}))
    settings(one, `environments.${name}.`);
  return found;
}
