import { digest, hasDigest } from '#server/crypto/tokens.ts';
import { Refusal } from '#server/kernel/errors.ts';
import type { LiveSession } from '#server/kernel/person.ts';
import { env } from '#server/platform/env.ts';

/**
 * The rule for changes made with a cookie: Origin (or Referer) is the dashboard's, and X-CSRF-Token is the session's (interface rule 22 §3.4).
 * A Bearer token is sent by nobody unasked, so it skips both. @throws Refusal csrf_failed
 */
export function assertSameOrigin(headers: Headers, session: Pick<LiveSession, 'csrf_token'>): void {
  if (headers.has('authorization')) return;
  if (originOf(headers) !== dashboardOrigin()) throw failed(`Changes must be made from a page of ${dashboardOrigin()}.`);
  const token = headers.get('x-csrf-token') ?? '';
  if (!hasDigest(token, digest(session.csrf_token))) throw failed("X-CSRF-Token doesn't match this session. Reload the page.");
}

/**
 * For calls that need no session but may begin one: a foreign page must not sign a visitor in to an account of its choosing. Callers that are no
 * browsers send none of these headers and pass. @throws Refusal csrf_failed
 */
export function assertNotForeign(headers: Headers): void {
  const site = headers.get('sec-fetch-site');
  // Our own form pages send `Origin: null` under their referrer policy; only the browser itself can say same-origin here.
  if (site === 'same-origin') return;
  const origin = headers.get('origin');
  const foreign = origin === null ? site === 'cross-site' || site === 'same-site' : origin !== dashboardOrigin();
  if (foreign) throw failed(`Open the dashboard at ${dashboardOrigin()}.`);
}

const dashboardOrigin = () => new URL(env.PUBLIC_ADMIN_URL).origin;
const originOf = (headers: Headers) => headers.get('origin') ?? URL.parse(headers.get('referer') ?? '')?.origin ?? null;
const failed = (message: string) => new Refusal('csrf_failed', message);
