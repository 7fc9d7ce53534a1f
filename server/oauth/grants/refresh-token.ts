import { classifyCredential } from '#server/crypto/tokens.ts';
import { refreshTokens } from '#server/domain/oauth-grants/refresh.ts';
import { parseScopes } from '#server/domain/oauth-grants/scopes.ts';
import { required } from '../form.ts';
import { OAuthProblem } from '../problem.ts';
import { ANOTHER_RESOURCE, askedResource, clientOf, type TokenAnswer, type TokenCall, UNUSABLE } from '../token-call.ts';

/** RFC 6749 §6, with rotation and detection of theft (RFC 9700 §4.14). */
export async function refreshToken(call: TokenCall): Promise<TokenAnswer> {
  const { form, edge, proof, now } = call;
  const text = required(form, 'refresh_token');
  const client = clientOf(call);
  const resource = askedResource(form, client);
  const { kind } = classifyCredential(text);
  if (kind !== 'refresh_token_live' && kind !== 'refresh_token_test') throw new OAuthProblem('invalid_grant', UNUSABLE);
  const scopes = parseScopes(form.get('scope'));
  const answer = await refreshTokens({ client, refresh_token: text, scopes, jkt: proof?.jkt ?? null, resource, caller: edge, now });
  if ('issued' in answer) return answer.issued;
  if (answer.problem === 'target') throw new OAuthProblem('invalid_target', ANOTHER_RESOURCE);
  throw answer.problem === 'scope' ? new OAuthProblem('invalid_scope', answer.message) : new OAuthProblem('invalid_grant', UNUSABLE);
}
