import { type Edge, edgeOf } from '#server/api/edge.ts';
import { bodyOf } from '#server/api/input.ts';
import { json, respond } from '#server/api/respond.ts';
import { freshNonce } from '#server/domain/oauth-grants/dpop.ts';
import { announced } from '#server/kernel/context.ts';
import { logFailure } from '#server/platform/log-failure.ts';
import type { Announce } from './announce.ts';
import { answerBrowser } from './browser.ts';
import { deviceAuthorization } from './device-authorization.ts';
import { type Form, parseForm } from './form.ts';
import { introspect } from './introspect.ts';
import { asOAuthProblem, OAuthProblem, problemWire } from './problem.ts';
import { revoke } from './revoke.ts';
import { token } from './token.ts';

const MAX_BODY = 64 * 1024;

/** An endpoint that takes a form from a client and answers JSON. */
type FormEndpoint = (form: Form, headers: Headers, edge: Edge, now: Date, announce: Announce) => Promise<object>;

/** Spelled as the `http` of an operation row. */
const FORMS: Readonly<Record<string, FormEndpoint>> = {
  'POST /oauth/token': token,
  'POST /oauth/device_authorization': deviceAuthorization,
  'POST /oauth/introspect': introspect,
  'POST /oauth/revoke': revoke,
};

/** The authorization server as one function (interface rule 21 §1). Errors are bodies of RFC 6749 §5.2. */
export async function handle(req: Request, edge: Edge | null = edgeOf(req.headers)): Promise<Response> {
  if (!edge) return new Response(null, { status: 404 });
  const response = await answer(req, edge).catch((error: unknown) => {
    const problem = asOAuthProblem(error);
    if (!(error instanceof OAuthProblem)) logFailure(error, edge.request_id, 'authorization server request failed');
    return respond(problemWire(problem), edge.request_id, 'uncompressed');
  });
  if (req.headers.has('dpop')) response.headers.set('dpop-nonce', freshNonce(new Date()));
  return response;
}

async function answer(req: Request, edge: Edge): Promise<Response> {
  const page = await answerBrowser(req, edge);
  if (page) return page;
  const { pathname } = new URL(req.url);
  const form = FORMS[`POST ${pathname}`];
  if (!form) throw new OAuthProblem('invalid_request', 'No such path.', 404);
  assertMethod(req, 'POST');
  if (edge.fault) throw new OAuthProblem('invalid_request', 'The request is too large.', edge.fault === 'payload_too_large' ? 413 : 431);
  const parameters = parseForm(req.headers.get('content-type'), await bodyOf(req, MAX_BODY));
  // Beside a token there is nothing to guess by its size, but its answer must not be stored anywhere (RFC 6749 §5.1).
  const changes: string[] = [];
  const body = await form(parameters, req.headers, edge, new Date(), (changed) => changes.push(...announced(changed)));
  const response = await respond(json(200, body, NO_CACHE), edge.request_id, 'uncompressed');
  if (changes.length > 0) response.headers.set('x-sallyport-changed', changes.join(','));
  return response;
}

/** @throws OAuthProblem 405 */
function assertMethod(req: Request, ...methods: string[]): void {
  if (!methods.includes(req.method))
    throw new OAuthProblem('invalid_request', `Method not allowed. This path supports ${methods.join(', ')}.`, 405, {
      allow: methods.join(', '),
    });
}

/** For the caches of HTTP/1.0 that RFC 6749 §5.1 still thinks of; Cache-Control is on every answer. */
const NO_CACHE = { pragma: 'no-cache' };
