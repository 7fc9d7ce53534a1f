import { redeemDevice } from '#server/domain/oauth-grants/device-redemption.ts';
import { required } from '../form.ts';
import { OAuthProblem } from '../problem.ts';
import { type TokenAnswer, type TokenCall, UNUSABLE } from '../token-call.ts';

/** RFC 8628 §3.4: a device asks whether its person has decided. */
export async function deviceCode({ form, client, alias, edge, now, proof }: TokenCall): Promise<TokenAnswer> {
  const code = required(form, 'device_code');
  const answer = await redeemDevice({
    client,
    alias,
    code,
    jkt: proof?.jkt ?? null,
    caller: { ip: edge.ip, user_agent: edge.user_agent },
    now,
  });
  if ('issued' in answer) return answer.issued;
  switch (answer.state) {
    case 'pending':
      throw new OAuthProblem('authorization_pending', 'The person has not decided yet. Ask again after the interval.');
    case 'too_early':
      throw new OAuthProblem('slow_down', 'Asked too early. Wait 5 seconds longer between requests from now on.');
    case 'expired':
      throw new OAuthProblem('expired_token', 'The device code has expired. Start again with a new one.');
    case 'denied':
      throw new OAuthProblem('access_denied', 'The person denied the request.');
    default:
      throw new OAuthProblem('invalid_grant', UNUSABLE);
  }
}
