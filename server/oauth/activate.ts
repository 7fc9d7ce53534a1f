import type { Edge } from '#server/api/edge.ts';
import { bodyOf } from '#server/api/input.ts';
import { randomBase64url } from '#server/crypto/random.ts';
import { digest, hasDigest } from '#server/crypto/tokens.ts';
import { escapeHtml } from '#server/domain/mail/templates.ts';
import { issuerOf } from '#server/domain/oauth-grants/addresses.ts';
import { claimDevice, shownUserCode, userCodeOf } from '#server/domain/oauth-grants/device-codes.ts';
import { db } from '#server/platform/db.ts';
import { env } from '#server/platform/env.ts';
import { page } from '#server/platform/plain-page.ts';
import { network, throttled } from '#server/platform/throttle.ts';
import { sendTo } from './browser-page.ts';
import { parseForm } from './form.ts';

/** GET /oauth/activate: where a person enters the code that their device shows (RFC 8628 §3.3). A code in the address is filled in and never sent by itself. */
export function activatePage(req: Request, edge: Edge): Response {
  const typed = new URL(req.url).searchParams.get('user_code') ?? '';
  const letters = userCodeOf(typed);
  return codePage(browserOf(req, edge) ?? randomBase64url(32), edge, { value: letters ? shownUserCode(letters) : '' });
}

/** The form of that page: on to the approval page of the dashboard, or the same page again. */
export async function activate(req: Request, edge: Edge, now: Date): Promise<Response> {
  const form = parseForm(req.headers.get('content-type'), await bodyOf(req, 16 * 1024));
  const browser = browserOf(req, edge);
  const typed = form.get('user_code') ?? '';
  if (!browser || !isOwnForm(req.headers, edge) || !hasDigest(browser, Buffer.from(form.get('csrf_token') ?? '', 'base64url')))
    return codePage(browser ?? randomBase64url(32), edge, {
      value: typed,
      problem: 'This page was open for too long. Try again.',
      status: 403,
    });
  const forgive = await throttled(
    [network(edge.ip), browser].map((subject) => ({ what: 'oauth-activate', subject, limit: 10, window_sec: 900 })),
    now,
    'rate_limited',
  );
  const letters = userCodeOf(typed);
  const handle = letters && (await claimDevice(db(), letters, now));
  if (!handle)
    return codePage(browser, edge, {
      value: typed,
      problem: 'No device is waiting with this code. Check the code, or get a new one on your device.',
    });
  await forgive(); // only wrong codes count
  return sendTo(`${env.PUBLIC_ADMIN_URL}/oauth/device/${handle}?code=${shownUserCode(letters)}`);
}

function codePage(
  browser: string,
  { space }: Edge,
  { value, problem, status = 200 }: { value: string; problem?: string; status?: number },
): Response {
  const alert = problem ? `<p class="problem" id="problem" role="alert">${escapeHtml(problem)}</p>` : '';
  const described = problem ? 'problem hint' : 'hint';
  return page(
    'Connect a device',
    `<h1>Connect a device</h1><p>Enter the code that your device or terminal shows.</p>
<form method="post" action="/oauth/activate"><input type="hidden" name="csrf_token" value="${digest(browser).toString('base64url')}">
<label for="user_code">Code</label><input id="user_code" name="user_code" value="${escapeHtml(value.slice(0, 40))}" placeholder="ABCD-EFGH" autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="40" required${value ? '' : ' autofocus'} aria-describedby="${described}"${problem ? ' aria-invalid="true"' : ''}>
${alert}<p class="hint" id="hint">Continue only if you started a login on your own device. Nobody from Sallyport will ask you for this code.</p><button${value ? ' autofocus' : ''}>Continue</button></form>`,
    { status, leads_to: new URL(env.PUBLIC_ADMIN_URL).origin, headers: { 'set-cookie': cookieOf(space, browser) } },
  );
}

/** What ties the form to the browser that it was given to. */
const cookieName = (space: Edge['space']) => (isSecure(space) ? '__Host-svc_activate' : 'svc_activate');
const isSecure = (space: Edge['space']) => issuerOf(space).startsWith('https:');
const cookieOf = (space: Edge['space'], browser: string) =>
  `${cookieName(space)}=${browser}; Path=/; HttpOnly; SameSite=Strict; Max-Age=900${isSecure(space) ? '; Secure' : ''}`;

function browserOf({ headers }: Request, { space }: Edge): string | null {
  for (const part of (headers.get('cookie') ?? '').split(';')) {
    const [name, value = ''] = part.trim().split('=');
    if (name === cookieName(space) && /^[A-Za-z0-9_-]{43}$/.test(value)) return value;
  }
  return null;
}

/** Under the page's referrer policy browsers send `Origin: null`; what they say of the site is the truth then. */
function isOwnForm(headers: Headers, { space }: Edge): boolean {
  const site = headers.get('sec-fetch-site');
  const origin = headers.get('origin');
  return (site === null || site === 'same-origin') && (origin === null || origin === 'null' || origin === issuerOf(space));
}
