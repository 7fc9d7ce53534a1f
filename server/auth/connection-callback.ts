import { formOf } from '#server/api/input.ts';
import { digest } from '#server/crypto/tokens.ts';
import { type CallbackOutcome, consentReturned, fragmentReturned } from '#server/domain/secrets/service.ts';
import { Refusal } from '#server/kernel/errors.ts';
import type { PersonCtx } from '#server/kernel/person.ts';
import { env } from '#server/platform/env.ts';
import { page } from '#server/platform/plain-page.ts';

// Where providers send browsers back to (interface rule 30 §10.2), on the API's host. Nothing that a provider wrote is ever shown.

export const CONNECTION_CALLBACK = '/auth/oauth2/callback/';
const FORM_LIMIT = 64 * 1024;
const HEADERS = { 'referrer-policy': 'no-referrer', 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

type Return = (req: Request, ctx: PersonCtx, id: string) => Promise<CallbackOutcome>;

/** Spelled as the `http` of an operation row. The page that an implicit grant comes back to posts what it finds in its fragment. */
const RETURNS: Readonly<Record<string, Return>> = {
  'GET /auth/oauth2/callback/{secret_id}': (req, ctx, id) => consentReturned(ctx, id, single(new URL(req.url).searchParams)),
  'POST /auth/oauth2/callback/{secret_id}/fragment': async (req, ctx, id) =>
    fragmentReturned(ctx, id, single(await formOf(req, FORM_LIMIT))),
};

export async function connectionCallback(req: Request, ctx: PersonCtx): Promise<Response> {
  const [id = '', ...rest] = new URL(req.url).pathname.slice(CONNECTION_CALLBACK.length).split('/');
  const path = [`${CONNECTION_CALLBACK}{secret_id}`, ...rest].join('/');
  const method = ['GET', 'POST'].find((one) => RETURNS[`${one} ${path}`]);
  if (method === undefined) throw new Refusal('not_found', 'No such path.');
  const returned = RETURNS[`${req.method === 'HEAD' ? 'GET' : req.method} ${path}`];
  if (!returned)
    throw new Refusal('method_not_allowed', `Method not allowed. This path supports ${method}.`, { headers: { allow: method } });
  return shown(await returned(req, ctx, id));
}

/** A parameter that came twice is none. */
const single = (parameters: URLSearchParams): Record<string, string> =>
  Object.fromEntries([...parameters].filter(([name]) => parameters.getAll(name).length === 1));

function shown(outcome: CallbackOutcome): Response {
  if (outcome.kind === 'redirect') return new Response(null, { status: 302, headers: { ...HEADERS, location: outcome.location } });
  if (outcome.kind === 'fragment') return fragmentPage();
  const [title, text] = FAILURES[outcome.code];
  const body = `<h1>${title}</h1><p>${text}</p><p class="hint">Code: ${outcome.code}</p><p><a class="button" href="${env.PUBLIC_ADMIN_URL}/">Open the dashboard</a></p>`;
  return page(title, body, { status: 400, headers: HEADERS });
}

type FailureCode = Extract<CallbackOutcome, { kind: 'failed' }>['code'];
const FAILURES: Readonly<Record<FailureCode, readonly [string, string]>> = {
  state_unknown: ['This link no longer works', 'The consent has expired or was used already. Start it again on the page of the secret.'],
  access_denied: ['Access was not granted', 'The provider says that the access was refused. Start again if that was a mistake.'],
  provider_error: [
    'The provider refused',
    'The provider reported a problem. Check the client ID, the scopes and the redirect URI, then start again.',
  ],
  exchange_failed: [
    'Could not connect',
    'The provider did not exchange the consent for a token. Check the client secret and the token URL, then start again.',
  ],
  token_missing: ['Could not connect', 'The provider sent no access token. Start again.'],
};

/** The only script on these pages: the fragment never reaches a server, so the page posts it. */
const SCRIPT = `const p=new URLSearchParams(location.hash.slice(1));history.replaceState(null,'',location.pathname);const f=document.forms[0];f.action=location.pathname+'/fragment';for(const n of ['access_token','token_type','expires_in','error'])f.elements[n].value=p.get(n)||'';f.elements.state.value=p.get('state')||new URLSearchParams(location.search).get('state')||'';f.submit()`;
const SCRIPT_HASH = `sha256-${digest(SCRIPT).toString('base64')}`;

function fragmentPage(): Response {
  const fields = ['state', 'access_token', 'token_type', 'expires_in', 'error']
    .map((name) => `<input type="hidden" name="${name}">`)
    .join('');
  const body = `<h1>Connecting</h1><p>Handing the token over.</p><form method="post">${fields}<noscript><p>This grant needs JavaScript.</p></noscript></form><script>${SCRIPT}</script>`;
  const response = page('Connecting', body, { headers: HEADERS });
  const policy = response.headers.get('content-security-policy') ?? '';
  response.headers.set('content-security-policy', `${policy}; script-src '${SCRIPT_HASH}'`);
  return response;
}
