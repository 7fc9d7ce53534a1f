import { decode, encode, type JWT, type JWTDecodeParams } from 'next-auth/jwt';
import { nextAuthSecret } from '#server/crypto/derive.ts';
import { DASHBOARD_COOKIES } from '#server/kernel/dashboard-cookies.ts';
import { env } from '#server/platform/env.ts';
import { rootKeys } from '#server/platform/keys.ts';

/**
 * The dashboard's cookies. The session cookie is next-auth's encrypted JWT, and the only thing read from it is the session token, which is looked
 * up on every request: a cookie without a live row is nothing (interface rule 22 §3.1).
 */
const secure = (): boolean => env.PUBLIC_ADMIN_URL.startsWith('https:');
/** The prefix makes browsers refuse the cookie from anywhere but this host over TLS. */
const cookieName = (name: string): string => (secure() ? `__Host-${name}` : name);
export const sessionCookieName = (): string => cookieName(DASHBOARD_COOKIES.session);
const signupCookieName = () => cookieName(DASHBOARD_COOKIES.signup);

export const authSecret = (): string => env.NEXTAUTH_SECRET ?? nextAuthSecret(rootKeys().current);

/** The previous root key's cookies stay good while a rotation runs: it is no reason to sign everybody out. */
const acceptedSecrets = (): string[] => {
  const { previous } = rootKeys();
  return env.NEXTAUTH_SECRET || !previous ? [authSecret()] : [authSecret(), nextAuthSecret(previous)];
};

/** next-auth's decoder over every accepted secret; what the last one throws is thrown. */
export async function decodeCookie({ token }: Pick<JWTDecodeParams, 'token'>): Promise<JWT | null> {
  let failure: unknown;
  for (const secret of acceptedSecrets()) {
    try {
      return await decode({ ...(token === undefined ? {} : { token }), secret });
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/** Attributes of all of them, as next-auth takes them. */
export const cookieOptions = () => ({ httpOnly: true, sameSite: 'lax', path: '/', secure: secure() }) as const;

/** The session token a request presents: a Bearer token when there is one, else the cookie's. Null when there is none or it is not readable. */
export async function presentedToken(headers: Headers): Promise<{ token: string; by: 'bearer' | 'cookie' } | null> {
  const authorization = headers.get('authorization');
  // Whoever sends the header means it: a bad one never falls back to a cookie, or the CSRF rule could be stepped around.
  if (authorization !== null) {
    const token = /^Bearer +(\S+)$/i.exec(authorization.trim())?.[1];
    return token ? { token, by: 'bearer' } : null;
  }
  const token = await sealedToken(cookieOf(headers, sessionCookieName()));
  return token === null ? null : { token, by: 'cookie' };
}

/** The session token inside a cookie value, or null. */
async function sealedToken(value: string | undefined): Promise<string | null> {
  if (!value || value.length > 4096) return null;
  try {
    const payload = await decodeCookie({ token: value });
    return typeof payload?.ses === 'string' ? payload.ses : null;
  } catch {
    return null; // of another root key, expired, or never ours: all the same to the caller
  }
}

/** A Set-Cookie line that ends with the session. */
export async function sessionCookie(session: { token: string; expires_at: Date }, now: Date): Promise<string> {
  const maxAge = Math.max(1, Math.floor((session.expires_at.getTime() - now.getTime()) / 1000));
  return setCookie(sessionCookieName(), await encode({ token: { ses: session.token }, secret: authSecret(), maxAge }), maxAge);
}

export const clearSessionCookie = (): string => setCookie(sessionCookieName(), '', 0);

/** The claim handle of a sign-up started here: it tells this browser from a stranger's when the mailed link is used. */
export const signupHandleOf = (headers: Headers): string | null => cookieOf(headers, signupCookieName()) ?? null;
export const signupCookie = (signup: { handle: string; expires_at: Date }, now: Date): string =>
  setCookie(signupCookieName(), signup.handle, Math.floor((signup.expires_at.getTime() - now.getTime()) / 1000));
export const clearSignupCookie = (): string => setCookie(signupCookieName(), '', 0);

/** Tells a browser that signed in before from a new one; it opens nothing. */
const deviceCookieName = () => cookieName(DASHBOARD_COOKIES.device);
export const deviceOf = (headers: Headers): string | null => cookieOf(headers, deviceCookieName()) ?? null;
export const deviceCookie = (device: { token: string; expires_at: Date }, now: Date): string =>
  setCookie(deviceCookieName(), device.token, Math.floor((device.expires_at.getTime() - now.getTime()) / 1000));

/** The token of a sign-in that lacks its second factor: pages that no script wrote, such as that of a mailed link, go on with it. */
const mfaCookieName = () => cookieName(DASHBOARD_COOKIES.mfa);
export const mfaTokenOf = (headers: Headers): string | null => cookieOf(headers, mfaCookieName()) ?? null;
export const mfaCookie = (mfa: { token: string; expires_at: Date }, now: Date): string =>
  setCookie(mfaCookieName(), mfa.token, Math.floor((mfa.expires_at.getTime() - now.getTime()) / 1000));
export const clearMfaCookie = (): string => setCookie(mfaCookieName(), '', 0);
/** Ties sign-ins at identity providers to this browser; it opens nothing by itself. SameSite=Lax: it comes with the redirect back, never with a foreign POST. */
const ssoCookieName = () => cookieName(DASHBOARD_COOKIES.sso);
export const ssoBrowserOf = (headers: Headers): string | null => cookieOf(headers, ssoCookieName()) ?? null;
export const ssoCookie = (secret: string): string => setCookie(ssoCookieName(), secret, 3600);

const setCookie = (name: string, value: string, maxAge: number) =>
  `${name}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAge}${secure() ? '; Secure' : ''}`;

function cookieOf(headers: Headers, name: string): string | undefined {
  for (const part of (headers.get('cookie') ?? '').split(';')) {
    const at = part.indexOf('=');
    if (at !== -1 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
  }
  return undefined;
}
