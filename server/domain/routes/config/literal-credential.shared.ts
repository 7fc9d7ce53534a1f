import { containsCredential } from '#server/kernel/credential-patterns.ts';

const SHAPES: readonly [name: string, shape: RegExp][] = [
  ['a Stripe key', /\b[rs]k_(?:live|test)_[A-Za-z0-9]{10,}/],
  ['a GitHub token', /\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}/],
  ['an AWS access key', /\bA(?:KIA|SIA)[A-Z0-9]{16}\b/],
  ['a Slack token', /\bxox[abeoprs]-[\w-]{10,}/],
  ['a Google API key', /\bAIza[\w-]{30,}/],
  ['an API key', /\bsk-[\w-]{20,}/],
  ['a signed token (JWT)', /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/],
  ['a private key', /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/],
];
/** Names that carry nothing but credentials, and names that mostly do: `apiKey`, `X-Auth-Token`, `sig`. */
const CERTAIN = /^(?:proxy-)?authorization$|^cookie$|(?:^|-)(?:password|passwd|passphrase|secret)$/;
const TELLING = /(?:^|-)(?:auth|token|apikey|appkey|appid|key|signature|sig|credentials?|pwd)$/;
const SCHEME = /^(?:bearer|basic|token|apikey|digest)(?:\s+|$)/i;

/** What a literal value looks like, e.g. "a Stripe key"; undefined when it looks harmless or is already a placeholder. */
export function looksLikeCredential(name: string, value: string): string | undefined {
  const literal = value.replace(/\{\{[^{}]*\}\}/g, '').trim();
  const known = SHAPES.find(([, shape]) => shape.test(literal));
  if (known) return known[0];
  if (containsCredential(literal)) return 'a credential';
  const [scheme = ''] = SCHEME.exec(literal) ?? [];
  const bare = literal.slice(scheme.length);
  const plain = kebab(name);
  const shortest = CERTAIN.test(plain) ? 4 : TELLING.test(plain) || (scheme !== '' && !/\s/.test(bare)) ? 8 : Number.POSITIVE_INFINITY;
  return bare.length >= shortest ? 'a credential' : undefined;
}

/** `clientSecret`, `client_secret` and `Client-Secret` are one name. */
const kebab = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/[_.\s]/g, '-')
    .toLowerCase();

/** `Bearer abc` is the word a server wants and the part that is secret. */
export function splitScheme(value: string): { scheme: string; credential: string } {
  const [scheme = ''] = SCHEME.exec(value) ?? [];
  return scheme.length < value.length ? { scheme, credential: value.slice(scheme.length) } : { scheme: '', credential: value };
}

/** A name for the secret behind a header of a route: `stripe` and `Authorization` give `STRIPE_AUTHORIZATION`. */
export const suggestedSecretName = (...parts: readonly string[]): string =>
  parts
    .join('_')
    .toUpperCase()
    .replace(/^X-/, '')
    .replace(/[^A-Z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
    .slice(0, 100) || 'UPSTREAM_KEY';

const PLACEHOLDER = /\{\{\s{0,9}(secret|secret_id)\s{0,9}:\s{0,9}([A-Za-z0-9_.-]{1,128})\s{0,9}\}\}/g;

/** The secrets a template names, in order: by name or by id. */
export const secretsIn = (template: string): { by: 'name' | 'id'; value: string }[] =>
  [...template.matchAll(PLACEHOLDER)].map((match) => ({ by: match[1] === 'secret' ? 'name' : 'id', value: match[2] ?? '' }));
