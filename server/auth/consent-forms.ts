import { formOf } from '#server/api/input.ts';
import { digest, hasDigest } from '#server/crypto/tokens.ts';
import { decideConsent, releaseConsent, resumeConsent } from '#server/domain/oauth-grants/consent.ts';
import { decideDevice, releaseDevice } from '#server/domain/oauth-grants/device-approval.ts';
import { signOut } from '#server/domain/people/service.ts';
import { asRefusal, Refusal } from '#server/kernel/errors.ts';
import type { LiveSession, PersonCtx, SignedInCtx } from '#server/kernel/person.ts';
import { env } from '#server/platform/env.ts';
import { logFailure } from '#server/platform/log-failure.ts';
import { personOf } from './person.ts';
import { limitSessionRate } from './session-rate-limit.ts';

const FORM_LIMIT = 16 * 1024;
const PATH = /^\/auth\/oauth\/(consent|device)\/([A-Za-z0-9_-]{1,64})$/;

/** Whether a path of the session plane is one of these forms; the front door sends the POSTs of both pages here. */
export const isConsentForm = (pathname: string): boolean => PATH.test(pathname);

/**
 * The decision on the login of an application or a device (interface rule 21 §6, §7): POST is the form of the page, GET the way past it for what was consented
 * to before. The browser goes to the client, or back to the page, which says what is missing.
 */
export async function consentForm(req: Request, ctx: PersonCtx): Promise<Response> {
  const [, page, handle = ''] = PATH.exec(new URL(req.url).pathname) ?? [];
  const person = await personOf(req.headers, ctx.now);
  if (person) Object.assign(ctx, person);
  if (req.method === 'GET' && page === 'consent') return sendTo((await resumeConsent(ctx, handle)).location);
  if (req.method !== 'POST')
    throw new Refusal('method_not_allowed', 'Method not allowed. This path supports GET, POST.', { headers: { allow: 'GET, POST' } });
  const here = `/oauth/${page}/${handle}`;
  if (!person) return sendTo(`/signin?next=${encodeURIComponent(here)}`);
  const form = await formOf(req, FORM_LIMIT);
  try {
    assertOwnForm(req.headers, form, person.session);
    await limitSessionRate(person, ctx.now);
    return sendTo(await decided(ctx as SignedInCtx, page === 'device' ? 'device' : 'consent', handle, form));
  } catch (error) {
    const refusal = asRefusal(error);
    logFailure(refusal, ctx.request_id, 'a login could not be decided');
    ctx.cookies = {};
    return sendTo(`${here}?${kept(form, { problem: refusal.type })}`);
  }
}

/** @returns where the browser goes */
async function decided(ctx: SignedInCtx, page: 'consent' | 'device', handle: string, form: URLSearchParams): Promise<string> {
  const decision = form.get('decision');
  const workspace = form.get('workspace') || null;
  if (decision === 'switch') {
    await (page === 'device' ? releaseDevice : releaseConsent)(ctx, handle);
    await signOut(ctx);
    return `/signin?next=${encodeURIComponent(`/oauth/${page}/${handle}?${kept(form, {})}`)}`;
  }
  if (decision !== 'allow' && decision !== 'deny') throw new Refusal('invalid', 'decision: must be allow, deny or switch');
  if (page === 'device') return `/oauth/device/${await decideDevice(ctx, { handle, decision, workspace })}`;
  return (await decideConsent(ctx, { handle, decision, workspace })).location;
}

/** What the page is asked with again. */
function kept(form: URLSearchParams, query: Record<string, string>): URLSearchParams {
  const again = new URLSearchParams(query);
  for (const name of ['workspace', 'code']) if (form.get(name)) again.set(name, (form.get(name) as string).slice(0, 100));
  return again;
}

/** The rule for changes made with a cookie, as a form keeps it: the page is ours, and its field names the session (interface rule 22 §3.4). @throws Refusal csrf_failed */
function assertOwnForm(headers: Headers, form: URLSearchParams, { csrf_token }: Pick<LiveSession, 'csrf_token'>): void {
  const origin = headers.get('origin') ?? URL.parse(headers.get('referer') ?? '')?.origin;
  if (origin === new URL(env.PUBLIC_ADMIN_URL).origin && hasDigest(form.get('csrf_token') ?? '', digest(csrf_token))) return;
  throw new Refusal('csrf_failed', 'Send the form from its own page.');
}

const sendTo = (location: string) => new Response(null, { status: 303, headers: { location } });
