import { type Edge, edgeOf } from '#server/api/edge.ts';
import { sessionFailure } from '#server/api/envelope.ts';
import { bodyOf, formOf, parseJsonObject } from '#server/api/input.ts';
import { matchPerson } from '#server/api/operations.ts';
import { firstProblem, unstorable, unstorableField } from '#server/api/parse.ts';
import { refusalHeaders, respondJson, secured } from '#server/api/respond.ts';
import { confirmed, stepUpDigest } from '#server/api/step-up.ts';
import { families } from '#server/domain/families.ts';
import { beyondReach, reachOf } from '#server/domain/people/service.ts';
import { isKnownTag } from '#server/kernel/entity-tag.ts';
import { asRefusal, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { type AnyPersonOperation, type RawAnswer, statusOf } from '#server/kernel/operation.ts';
import type { PersonCtx, SignedInCtx } from '#server/kernel/person.ts';
import { db } from '#server/platform/db.ts';
import { env } from '#server/platform/env.ts';
import { logFailure } from '#server/platform/log-failure.ts';
import { CONNECTION_CALLBACK, connectionCallback } from './connection-callback.ts';
import { consentForm, isConsentForm } from './consent-forms.ts';
import { emailPage, useEmailForm } from './email-page.ts';
import { magicPage, useMagicForm } from './magic-page.ts';
import { personOf } from './person.ts';
import { assertNotForeign, assertSameOrigin } from './same-origin.ts';
import {
  clearMfaCookie,
  clearSessionCookie,
  clearSignupCookie,
  deviceCookie,
  deviceOf,
  mfaCookie,
  mfaTokenOf,
  sessionCookie,
  sessionCookieName,
  signupCookie,
  signupHandleOf,
  ssoBrowserOf,
  ssoCookie,
} from './session-cookie.ts';
import { limitSessionRate } from './session-rate-limit.ts';

const BODY_LIMIT = 256 * 1024;
/** A SAML response in base64, percent-encoded. */
const FORM_LIMIT = 512 * 1024;

/** The session plane as one function: sign-in, the account, sessions, sign-up (interface rule 22 §4). */
export async function handle(req: Request): Promise<Response> {
  const ctx = callerOf(req.headers, edgeOf(req.headers));
  let response: Response;
  try {
    response = await answer(req, ctx);
  } catch (error) {
    const refusal = asRefusal(error);
    response = refused(refusal, ctx, req.headers);
    if (isBrowserRedirect(req)) response = toSignIn(refusal, response);
  }
  if (req.method === 'HEAD') response = new Response(null, response);
  await addCookies(response.headers, ctx);
  if (ctx.changes.length > 0) response.headers.set('x-sallyport-changed', ctx.changes.join(','));
  return secured(response, ctx.request_id);
}

/** A person looking at the address bar, on one of the paths between this service and an identity provider. */
function isBrowserRedirect({ method, url, headers }: Request): boolean {
  const match = matchPerson(method, new URL(url).pathname);
  return (
    match !== undefined &&
    match !== null &&
    'op' in match &&
    match.op.redirects === true &&
    (headers.get('accept') ?? '').includes('text/html')
  );
}

/** The sign-in page says what happened; the address carries a code, never a text. */
function toSignIn(refusal: Refusal, { headers }: Response): Response {
  const page = new URL('/signin', env.PUBLIC_ADMIN_URL);
  page.searchParams.set('sso', String(refusal.extra?.reason ?? refusal.type));
  page.searchParams.set('request', headers.get('x-request-id') ?? '');
  return new Response(null, { status: 303, headers: { location: page.href } });
}

/** The facts of a call before anybody is recognised. Without the front door there is no address, and throttles count it as unknown. */
export const callerOf = (headers: Headers, edge: Edge | null): PersonCtx => ({
  db: db(),
  session: null,
  user: null,
  request_id: edge?.request_id ?? newId(),
  ip: edge?.ip ?? null,
  relayed: headers.has('x-sallyport-relayed'),
  user_agent: headers.get('user-agent'),
  host: headers.get('host'),
  signup_handle: signupHandleOf(headers),
  device: deviceOf(headers),
  mfa_token: mfaTokenOf(headers),
  sso_browser: ssoBrowserOf(headers),
  step_up_digest: stepUpDigest(headers),
  now: new Date(),
  changes: [],
  cookies: {},
});

async function answer(req: Request, ctx: PersonCtx): Promise<Response> {
  const url = new URL(req.url);
  const reads = req.method === 'GET' || req.method === 'HEAD';
  const page = reads && PAGES.get(`GET ${url.pathname}`);
  if (page) return page(ctx, url.searchParams.get('token') ?? '');
  if (url.pathname === '/auth/email') return emailButton(req, ctx);
  if (url.pathname.startsWith(CONNECTION_CALLBACK)) return connectionCallback(req, ctx);
  if (isConsentForm(url.pathname)) return consentForm(req, ctx);
  const match = matchPerson(req.method, url.pathname);
  if (!match) throw new Refusal('not_found', 'No such path.');
  if ('allow' in match)
    throw new Refusal('method_not_allowed', `Method not allowed. This path supports ${match.allow.join(', ')}.`, {
      headers: { allow: match.allow.join(', ') },
    });
  const { op, params } = match;
  if (op.needs === 'session') {
    await recognise(req.headers, ctx, reads);
    assertWithinReach(op, ctx as SignedInCtx);
  } else if (!reads && !op.foreignForm) assertNotForeign(req.headers);
  if (isForm(req) && url.pathname === '/auth/magic') return useMagicForm(ctx, await formOf(req, BODY_LIMIT));
  const input = op.input.safeParse({ ...(reads ? Object.fromEntries(url.searchParams) : await inputOf(req, op, ctx)), ...params });
  if (!input.success) throw new Refusal('invalid', firstProblem(input.error));
  const field = unstorableField(input.data);
  if (field !== null) throw new Refusal('invalid', unstorable(field));
  // A row that needs a session runs after `recognise` has put the person into the context.
  const output = op.output.parse(await confirmed(op, ctx, input.data, () => op.run(ctx as SignedInCtx, input.data, families)));
  if (op.raw) return rawAnswer(req.headers, output);
  if (op.redirects) return new Response(null, { status: 303, headers: { location: output.location } });
  return Response.json(output, { status: statusOf(op, output) });
}

/** What mailed links open: pages without script. */
const PAGES: ReadonlyMap<string, (ctx: PersonCtx, token: string) => Promise<Response>> = new Map([
  ['GET /auth/magic', magicPage],
  ['GET /auth/email', emailPage],
]);

/** The button of the page about a new address. @throws Refusal csrf_failed, method_not_allowed */
async function emailButton(req: Request, ctx: PersonCtx): Promise<Response> {
  if (req.method !== 'POST')
    throw new Refusal('method_not_allowed', 'Method not allowed. This path supports GET, HEAD, POST.', {
      headers: { allow: 'GET, HEAD, POST' },
    });
  assertNotForeign(req.headers);
  return useEmailForm(ctx, await formOf(req, BODY_LIMIT));
}

/** @throws Refusal not_authenticated, csrf_failed */
async function recognise(headers: Headers, ctx: PersonCtx, reads: boolean): Promise<void> {
  const person = await personOf(headers, ctx.now);
  if (!person) throw new Refusal('not_authenticated', 'Sign in to continue.');
  if (!reads) assertSameOrigin(headers, person.session);
  await limitSessionRate(person, ctx.now);
  Object.assign(ctx, person);
}

/** @throws Refusal session_scope_mismatch: an identity provider vouches for nobody beyond its workspace */
function assertWithinReach({ vouched }: AnyPersonOperation, { session }: SignedInCtx): void {
  if (vouched === undefined && reachOf(session) !== null) throw beyondReach();
}

const isForm = (req: Request) =>
  req.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() === 'application/x-www-form-urlencoded';

async function inputOf(req: Request, { takes, foreignForm }: AnyPersonOperation, ctx: PersonCtx): Promise<Record<string, unknown>> {
  if (foreignForm && isForm(req)) return Object.fromEntries(await formOf(req, FORM_LIMIT));
  if (!takes) return jsonOf(req);
  await takes.admit(ctx as SignedInCtx); // only rows that require a session take bytes
  return { bytes: await bodyOf(req, takes.bytes) };
}

/** Who has it already is told so (RFC 9110 §13.1.2). */
function rawAnswer(asked: Headers, { headers, body }: RawAnswer): Response {
  return isKnownTag(asked.get('if-none-match'), headers.etag)
    ? new Response(null, { status: 304, headers })
    : new Response(new Uint8Array(body), { headers });
}

async function jsonOf(req: Request): Promise<Record<string, unknown>> {
  const body = await bodyOf(req, BODY_LIMIT);
  if (body.byteLength === 0) return {};
  if (req.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() !== 'application/json')
    throw new Refusal('unsupported_media_type', 'Send the body as application/json.');
  return parseJsonObject(body);
}

function refused(refusal: Refusal, ctx: PersonCtx, headers: Headers): Response {
  logFailure(refusal, ctx.request_id, 'sign-in API request failed');
  // A cookie whose session is gone is taken away, so that pages stop sending it.
  if (refusal.type === 'not_authenticated' && headers.get('cookie')?.includes(`${sessionCookieName()}=`))
    ctx.cookies = { session: 'clear' };
  else ctx.cookies = {};
  ctx.changes = [];
  return respondJson(refusal.status, sessionFailure(refusal, ctx.request_id), ctx.request_id, refusalHeaders(refusal));
}

async function addCookies(headers: Headers, { cookies: { session, signup, device, mfa, sso }, now }: PersonCtx): Promise<void> {
  if (session) headers.append('set-cookie', session === 'clear' ? clearSessionCookie() : await sessionCookie(session, now));
  if (mfa) headers.append('set-cookie', mfa === 'clear' ? clearMfaCookie() : mfaCookie(mfa, now));
  if (sso) headers.append('set-cookie', ssoCookie(sso));
  if (device) headers.append('set-cookie', deviceCookie(device, now));
  if (signup) headers.append('set-cookie', signup === 'clear' ? clearSignupCookie() : signupCookie(signup, now));
}
