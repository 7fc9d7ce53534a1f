import { clientByRow } from '#server/domain/oauth-grants/client.ts';
import { pollDevice } from '#server/domain/oauth-grants/device-codes.ts';
import { issueTokens } from '#server/domain/oauth-grants/issue.ts';
import { db } from '#server/platform/db.ts';
import { required } from '../form.ts';
import { OAuthProblem } from '../problem.ts';
import { type TokenAnswer, type TokenCall, UNUSABLE } from '../token-call.ts';

/** RFC 8628 §3.4: a device asks whether its person has decided. Of any number of polls after the approval, one gets the tokens. */
export async function deviceCode({ form, client, alias, edge, now, proof }: TokenCall): Promise<TokenAnswer> {
  const code = required(form, 'device_code');
  const { poll, issued } = await db().$transaction(async (tx) => {
    const found = await pollDevice(tx, code, (row) => isAsked(row), now);
    if (found.state !== 'approved') return { poll: found, issued: null };
    const { row } = found;
    const owner = await clientByRow(row.client_row_id, now);
    if (!owner?.active) throw gone();
    const { user_id, scopes, resource, step_up_at } = row;
    if (!(await isMember(row.tenant_id, user_id))) throw gone();
    const tokens = await issueTokens(tx, {
      client: owner,
      subject: { kind: 'user', user_id },
      scopes,
      jkt: proof?.jkt ?? null,
      family: 'new',
      grant: { id: row.family_id, flow: 'device', scopes, ip: edge.ip, user_agent: edge.user_agent },
      resource,
      step_up_at,
      now,
    });
    return { poll: found, issued: tokens };
  });
  if (issued) return issued;
  throw answerTo(poll.state);
}
