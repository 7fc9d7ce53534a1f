const SHAPES: readonly [name: string, shape: RegExp][] = [
  ['a Stripe key', /\b[rs]k_(?:live|test)_[A-Za-z0-9]{10,}/],
  ['a GitHub token', /\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}/],
  ['an AWS access key', /\bA(?:KIA|SIA)[A-Z0-9]{16}\b/],
  ['a Slack token', /\bxox[abposr]-[\w-]{10,}/],
  ['a Google API key', /\bAIza[\w-]{30,}/],
  ['an API key', /\bsk-[\w-]{20,}/],
  ['a signed token (JWT)', /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/],
  ['a private key', /-----BEGIN [A-Z ]*PRIVATE KEY-----/],
];
const TELLING_NAME = /(?:^|[-_])(?:authorization|auth|token|secret|password|passwd|api[-_]?key|key|signature)$/i;

/** What a literal value looks like, e.g. "a Stripe key"; undefined when it looks harmless or is already a placeholder. */
export function looksLikeCredential(name: string, value: string): string | undefined {
  const literal = value.replace(/\{\{[^}]*\}\}/g, '').trim();
  const known = SHAPES.find(([, shape]) => shape.test(literal));
  if (known) return known[0];
  const bare = literal.replace(/^(?:bearer|basic|token)\b\s*/i, '');
  return TELLING_NAME.test(name) && bare.length >= 8 ? 'a credential' : undefined;
}

/** `Bearer abc` is the word a server wants and the part that is secret. */
export function splitScheme(value: string): { scheme: string; credential: string } {
  const match = /^((?:bearer|basic|token)\s+)(.+)$/is.exec(value);
  return match ? { scheme: match[1] ?? '', credential: match[2] ?? '' } : { scheme: '', credential: value };
}

/** A name for the secret behind a header of a route: `stripe` and `Authorization` give `STRIPE_AUTHORIZATION`. */
export const suggestedSecretName = (...parts: readonly string[]): string =>
  parts
    .join('_')
    .toUpperCase()
    .replace(/^X-/, '')
    .replace(/[^A-Z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, 100) || 'UPSTREAM_KEY';

const PLACEHOLDER = /\{\{\s*(secret|secret_id)\s*:\s*([A-Za-z0-9_.-]{1,128})\s*\}\}/g;

/** The secrets a template names, in order: by name or by id. */
export const secretsIn = (template: string): { by: 'name' | 'id'; value: string }[] =>
  [...template.matchAll(PLACEHOLDER)].map((match) => ({ by: match[1] === 'secret' ? 'name' : 'id', value: match[2] ?? '' }));
