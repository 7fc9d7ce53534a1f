import { type CredentialKind, credentialKind } from './credential-patterns.ts';

const WORDS: Partial<Record<CredentialKind, string>> = {
  stripe: 'a Stripe key',
  github: 'a GitHub token',
  aws: 'an AWS access key',
  slack: 'a Slack token',
  google: 'a Google API key',
  model_provider: 'an API key',
  jwt: 'a signed token (JWT)',
  private_key: 'a private key',
};
/** Names that carry nothing but credentials, and names that mostly do: `apiKey`, `X-Auth-Token`, `sig`. */
const CERTAIN = /^(?:proxy-)?authorization$|^cookie$|(?:^|-)(?:password|passwd|passphrase|secret)$/;
const TELLING = /(?:^|-)(?:auth|token|apikey|appkey|appid|key|signature|sig|credentials?|pwd)$/;
const SCHEMES = new Set(['bearer', 'basic', 'token', 'apikey', 'digest']);

/** What a literal value looks like, e.g. "a Stripe key"; undefined when it looks harmless or is already a placeholder. */
export function looksLikeCredential(name: string, value: string): string | undefined {
  const literal = value.replace(/\{\{[^{}]*\}\}/g, '').trim();
  const known = credentialKind(literal);
  if (known) return WORDS[known] ?? 'a credential';
  const { scheme, credential: bare } = splitScheme(literal);
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
  const end = value.search(/\s/);
  const word = end === -1 ? value : value.slice(0, end);
  if (!SCHEMES.has(word.toLowerCase())) return { scheme: '', credential: value };
  const credential = value.slice(word.length).trimStart();
  return { scheme: value.slice(0, value.length - credential.length), credential };
}
