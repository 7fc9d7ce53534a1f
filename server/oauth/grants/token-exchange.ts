import { isApiResource } from '#server/domain/oauth-grants/addresses.ts';
import { parseScopes } from '#server/domain/oauth-grants/scopes.ts';
import { ExchangeRefused, exchangeToken } from '#server/domain/trust-bindings/service.ts';
import type { Space } from '#server/kernel/context.ts';
import { network, take } from '#server/platform/throttle.ts';
import { limitRequests } from '../client-limits.ts';
import { type Form, required } from '../form.ts';
import { OAuthProblem } from '../problem.ts';
import type { TokenAnswer, TokenCall } from '../token-call.ts';

const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
const SUBJECT_TYPES = ['urn:ietf:params:oauth:token-type:id_token', 'urn:ietf:params:oauth:token-type:jwt'];
/** Where the new token is used; what the subject token is for is its own audience. */
const AUDIENCE = 'service:api';
/** Refused exchanges of one network. Each may cost a signature and a few queries, and nobody has to prove anything first. */
const FAILURES = { limit: 60, window_sec: 300 };

/** RFC 8693 for workloads (interface rule 21 §4.6): the subject token is the credential, and there is no refresh token. */
export async function tokenExchange({ form, edge, now, proof }: TokenCall): Promise<TokenAnswer> {
  const subject_token = required(form, 'subject_token');
  assertForm(form);
  try {
    const issued = await exchangeToken({
      ...{ subject_token, tenant: form.get('tenant'), client_id: form.get('client_id'), scopes: parseScopes(form.get('scope')) },
      ...{ host_space: edge.space, space: spaceIn(form), jkt: proof?.jkt ?? null, now },
      ...{ request_id: edge.request_id, ip: edge.ip, user_agent: edge.user_agent },
      admit: (client) => limitRequests(client, now),
    });
    return { ...issued, issued_token_type: ACCESS_TOKEN };
  } catch (error) {
    if (!(error instanceof ExchangeRefused)) throw error;
    const { allowed, retry_after } = await take({ what: 'token-exchange', subject: network(edge.ip), ...FAILURES }, now);
    if (allowed) throw new OAuthProblem(error.error, error.message);
    throw new OAuthProblem('temporarily_unavailable', 'Too many exchanges were refused from this address. Try again later.', 429, {
      'retry-after': String(Math.max(1, retry_after)),
    });
  }
}

/** @throws OAuthProblem invalid_request, invalid_target */
function assertForm(form: Form): void {
  if (!SUBJECT_TYPES.includes(required(form, 'subject_token_type')))
    throw new OAuthProblem('invalid_request', `subject_token_type must be ${SUBJECT_TYPES.join(' or ')}.`);
  if (![ACCESS_TOKEN, undefined].includes(form.get('requested_token_type')))
    throw new OAuthProblem('invalid_request', `requested_token_type must be ${ACCESS_TOKEN}, or be left out.`);
  if (form.has('actor_token') || form.has('actor_token_type'))
    throw new OAuthProblem('invalid_request', 'actor_token is not supported: an exchanged token acts for the workload alone.');
  if (![AUDIENCE, undefined].includes(form.get('audience')))
    throw new OAuthProblem(
      'invalid_target',
      `audience must be ${AUDIENCE}, or be left out. The aud of the subject token is another matter.`,
    );
}

/** The space whose Management API `resource` names; undefined when it isn't sent. @throws OAuthProblem invalid_target */
function spaceIn(form: Form): Space | undefined {
  const resource = form.get('resource');
  if (resource === undefined) return undefined;
  const space = (['live', 'test'] as const).find((one) => isApiResource(resource, one));
  if (!space) throw new OAuthProblem('invalid_target', 'resource must be the base URL of the Management API, or be left out.');
  return space;
}
