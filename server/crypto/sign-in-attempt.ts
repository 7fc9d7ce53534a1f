import { randomBase64url } from './random.ts';
import { digest } from './tokens.ts';

/**
 * What ties one sign-in at an identity provider to the browser that began it. The browser's secret lives in its cookie alone and the state in the address
 * alone; the database has digests of both. Nonce and PKCE verifier come from the two together, so a copy of the database can't complete a sign-in.
 */
export type AttemptSecrets = { browser: string; state: string };

export const newBrowserSecret = (): string => randomBase64url(32);
export const newState = (): string => randomBase64url(32);
export const isAttemptSecret = (text: string | null | undefined): text is string =>
  typeof text === 'string' && /^[A-Za-z0-9_-]{43}$/.test(text);

export const nonceOf = (secrets: AttemptSecrets): string => derived('nonce', secrets);
/** RFC 7636 §4.1: 43 characters. */
export const verifierOf = (secrets: AttemptSecrets): string => derived('pkce', secrets);
/** RFC 7636 §4.2, method S256. */
export const challengeOf = (secrets: AttemptSecrets): string => digest(verifierOf(secrets)).toString('base64url');

const derived = (use: string, { browser, state }: AttemptSecrets) => digest(`svc/sso/${use}/v1:${browser}:${state}`).toString('base64url');
