import { type Edge, edgeOf } from '#server/api/edge.ts';
import { bodyOf } from '#server/api/input.ts';
import { json, respond } from '#server/api/respond.ts';
import { AiExchangeRefused, exchangeForCapability } from '#server/domain/ai-trust/service.ts';
import { parseBounded } from '#server/kernel/bounded-text.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { logFailure } from '#server/platform/log-failure.ts';
import { network, take } from '#server/platform/throttle.ts';
import { type Form, parseForm, required } from './form.ts';
import { asOAuthProblem, OAuthProblem, problemWire } from './problem.ts';

// POST /v1/oauth/token on the host of a workspace (interface rule 50 §6.9): a job's identity token for a capability token. Not the token endpoint of the
// authorization server, which issues access tokens of the Management API.

const MAX_BODY = 64 * 1024;
const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ID_TOKEN = 'urn:ietf:params:oauth:token-type:id_token';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
const AUDIENCE = 'service:gateway';
/** Refused exchanges of one network: each may cost a signature and a few queries, and nobody has to prove anything first. */
const FAILURES = { limit: 60, window_sec: 300 };

/** Answers for the host of the workspace `tenant`. Errors are bodies of RFC 6749 §5.2. */
export async function exchangeEndpoint(req: Request, tenant: string, edge: Edge | null = edgeOf(req.headers)): Promise<Response> {
  if (!edge) return new Response(null, { status: 404 });
  try {
    if (req.method !== 'POST')
      throw new OAuthProblem('invalid_request', 'Method not allowed. This path supports POST.', 405, { allow: 'POST' });
    if (edge.fault) throw new OAuthProblem('invalid_request', 'The request is too large.', edge.fault === 'payload_too_large' ? 413 : 431);
    const parameters = parametersOf(req.headers.get('content-type'), await bodyOf(req, MAX_BODY));
    return await respond(json(200, await exchanged(parameters, tenant, edge), { pragma: 'no-cache' }), edge.request_id, 'uncompressed');
  } catch (error) {
    const problem = asOAuthProblem(error);
    if (!(error instanceof OAuthProblem)) logFailure(error, edge.request_id, 'a token exchange failed');
    return respond(problemWire(problem), edge.request_id, 'uncompressed');
  }
}

async function exchanged(form: Form, tenant_slug: string, edge: Edge): Promise<object> {
  if (required(form, 'grant_type') !== TOKEN_EXCHANGE)
    throw new OAuthProblem('unsupported_grant_type', `grant_type must be ${TOKEN_EXCHANGE}.`);
  const subject_token = required(form, 'subject_token');
  if (required(form, 'subject_token_type') !== ID_TOKEN)
    throw new OAuthProblem('invalid_request', `subject_token_type must be ${ID_TOKEN}.`);
  if (![AUDIENCE, undefined].includes(form.get('audience')))
    throw new OAuthProblem(
      'invalid_target',
      `audience must be ${AUDIENCE}, or be left out. The aud of the subject token must contain it too.`,
    );
  const resource = form.get('resource') ?? null;
  if (resource === '') throw new OAuthProblem('invalid_target', 'resource must not be empty. Leave it out for a token of an agent.');
  const now = new Date();
  try {
    const { space, request_id, ip, user_agent } = edge;
    const { access_token, expires_in, scope } = await exchangeForCapability({
      ...{ tenant_slug, space, subject_token, resource, request_id, ip, user_agent, now },
    });
    return { access_token, issued_token_type: ACCESS_TOKEN, token_type: 'Bearer', expires_in, scope };
  } catch (error) {
    if (!(error instanceof AiExchangeRefused)) throw error;
    const { allowed, retry_after } = await take({ what: 'ai-token-exchange', subject: network(edge.ip), ...FAILURES }, now);
    if (allowed) throw new OAuthProblem(error.error, error.message);
    throw new OAuthProblem('temporarily_unavailable', 'Too many exchanges were refused from this address. Try again later.', 429, {
      'retry-after': String(Math.max(1, retry_after)),
    });
  }
}

/** A form, or an object of JSON with texts. @throws OAuthProblem invalid_request */
function parametersOf(contentType: string | null, body: Uint8Array): Form {
  if (contentType?.split(';')[0]?.trim().toLowerCase() !== 'application/json') return parseForm(contentType, body);
  let given: unknown;
  try {
    given = parseBounded(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (error) {
    throw new OAuthProblem('invalid_request', error instanceof Refusal ? error.message : 'The body is not valid JSON.');
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new OAuthProblem('invalid_request', 'The body must be a JSON object.');
  const entries = Object.entries(given).filter(([, value]) => value !== null);
  const wrong = entries.find(([, value]) => typeof value !== 'string' || value.includes('\0'));
  if (wrong) throw new OAuthProblem('invalid_request', 'Every parameter must be a text.');
  return new Map((entries as [string, string][]).filter(([name, value]) => value !== '' || name === 'resource' || name === 'audience'));
}
