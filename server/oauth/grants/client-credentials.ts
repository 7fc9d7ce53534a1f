import { storeAccess } from '#server/domain/oauth-grants/access-batch.ts';
import { accessToken } from '#server/domain/oauth-grants/issue.ts';
import { machineScopes, parseScopes } from '#server/domain/oauth-grants/scopes.ts';
import { OAuthProblem } from '../problem.ts';
import { assertOwnResource, clientOf, type TokenAnswer, type TokenCall } from '../token-call.ts';

/** RFC 6749 §4.4: a token of the client itself, without a refresh token. Never loads Prisma, so that the gateway can serve it. */
export async function clientCredentials(call: TokenCall): Promise<TokenAnswer> {
  const { form, now, proof } = call;
  const client = clientOf(call);
  assertOwnResource(form, client);
  const answer = machineScopes(parseScopes(form.get('scope')), client);
  if ('problem' in answer) throw new OAuthProblem('invalid_scope', answer.problem);
  const { row, issued } = accessToken({ client, subject: { kind: 'client' }, scopes: answer.scopes, jkt: proof?.jkt ?? null, now }, null);
  await storeAccess(row);
  return issued;
}
