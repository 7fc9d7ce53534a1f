import { classifyCredential } from '#server/crypto/tokens.ts';
import { redeemCode } from '#server/domain/oauth-grants/codes.ts';
import { required } from '../form.ts';
import { OAuthProblem } from '../problem.ts';
import { ANOTHER_RESOURCE, askedResource, clientOf, type TokenAnswer, type TokenCall, UNUSABLE } from '../token-call.ts';

/** RFC 7636 §4.1 */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/** RFC 6749 §4.1.3 with PKCE for every client. */
export async function authorizationCode(call: TokenCall): Promise<TokenAnswer> {
  const { form, edge, proof, now } = call;
  const [code, code_verifier, redirect_uri] = [required(form, 'code'), required(form, 'code_verifier'), required(form, 'redirect_uri')];
  if (!VERIFIER.test(code_verifier))
    throw new OAuthProblem('invalid_request', 'code_verifier must be 43 to 128 characters of A-Z a-z 0-9 - . _ ~.');
  const client = clientOf(call);
  const resource = askedResource(form, client);
  if (classifyCredential(code).kind !== 'authorization_code') throw new OAuthProblem('invalid_grant', UNUSABLE);
  const issued = await redeemCode({ client, code, code_verifier, redirect_uri, jkt: proof?.jkt ?? null, resource, caller: edge, now });
  if (issued === 'target') throw new OAuthProblem('invalid_target', ANOTHER_RESOURCE);
  if (!issued) throw new OAuthProblem('invalid_grant', UNUSABLE);
  return issued;
}
