import { ACCESS_COLUMNS, ACCESS_VALUES, accessToken } from '#server/domain/oauth-grants/issue.ts';
import { machineScopes, parseScopes } from '#server/domain/oauth-grants/scopes.ts';
import { ownSql } from '#server/platform/sql.ts';
import { OAuthProblem } from '../problem.ts';
import { assertOwnResource, clientOf, type TokenAnswer, type TokenCall } from '../token-call.ts';

/** RFC 6749 §4.4: a token of the client itself, without a refresh token. Never loads Prisma, so that the gateway can serve it. */
export async function clientCredentials(call: TokenCall): Promise<TokenAnswer> {
  const { form, now, proof } = call;
  const client = clientOf(call);
  assertOwnResource(form, client);
  const answer = machineScopes(parseScopes(form.get('scope')), client);
  if ('problem' in answer) throw new OAuthProblem('invalid_scope', answer.problem);
  const { values, issued } = accessToken(
    { client, subject: { kind: 'client' }, scopes: answer.scopes, jkt: proof?.jkt ?? null, now },
    null,
  );
  await ownSql().query({ name: 'oauth-issue', text: ISSUE, values });
  return issued;
}

/** Under row-level security in one statement: the row comes from the context that it is checked against. */
const ISSUE = `with own as materialized (
    select set_config('app.tenant_id', $1::uuid::text, true) as tenant, set_config('app.sandbox', $2::boolean::text, true) as sandbox)
  insert into oauth_access (${ACCESS_COLUMNS}) select ${ACCESS_VALUES} from own where own.tenant is not null and own.sandbox is not null`;
