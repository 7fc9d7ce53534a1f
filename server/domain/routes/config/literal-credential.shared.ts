// Pages warn by the rule that the server warns by.
export { looksLikeCredential, splitScheme } from '#server/kernel/literal-credential.ts';

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
