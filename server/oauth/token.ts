import type { Edge } from '#server/api/edge.ts';
import { CLI_ALIAS } from '#server/domain/oauth-clients/cli-client.shared.ts';
import { clientOfCredential, isSharedId } from '#server/domain/oauth-grants/cli-alias.ts';
import { GRANTS, type OAuthClient } from '#server/domain/oauth-grants/client.ts';
import { stampUse } from '#server/platform/credential-usage.ts';
import { presentedClient } from './client-authentication.ts';
import { authenticatedClient, failClient, limitRequests } from './client-limits.ts';
import { type Form, required } from './form.ts';
import { authorizationCode } from './grants/authorization-code.ts';
import { clientCredentials } from './grants/client-credentials.ts';
import { deviceCode } from './grants/device-code.ts';
import { refreshToken } from './grants/refresh-token.ts';
import { tokenExchange } from './grants/token-exchange.ts';
import { OAuthProblem } from './problem.ts';
import { verifiedProof } from './proof.ts';
import type { Grant, TokenAnswer } from './token-call.ts';
import { assertMayUse } from './token-rules.ts';

/** The grants that are served, by `grant_type`. `anonymous`: the credential is in the form, and there is no client authentication. */
const TABLE: Readonly<Record<string, { run: Grant; anonymous?: true }>> = {
  [GRANTS.authorization_code]: { run: authorizationCode },
  [GRANTS.client_credentials]: { run: clientCredentials },
  [GRANTS.device_code]: { run: deviceCode },
  [GRANTS.refresh_token]: { run: refreshToken },
  [GRANTS.token_exchange]: { run: tokenExchange, anonymous: true },
};

/** POST /oauth/token (interface rule 21 §4). @throws OAuthProblem */
export async function token(form: Form, headers: Headers, edge: Edge, now: Date): Promise<TokenAnswer> {
  const grantType = required(form, 'grant_type');
  const grant = Object.hasOwn(TABLE, grantType) ? TABLE[grantType] : undefined;
  if (!grant) throw new OAuthProblem('unsupported_grant_type', `Unknown grant_type. Supported: ${Object.keys(TABLE).join(', ')}.`);
  const { client, alias } = grant.anonymous ? NOBODY : await callingClient(form, headers, edge, now);
  if (client) assertMayUse(client, grantType);
  if (client) await limitRequests(client, now);
  const proof = await verifiedProof(headers, '/oauth/token', client, now);
  const answer = await grant.run({ form, edge, client, alias, now, proof });
  if (client) void stampUse(client, [client.id, client.source_api_key_id], edge.ip, now);
  return answer;
}
const NOBODY = { client: null, alias: false };

/** The client of a request, proven or public; with an ID that many workspaces have, the one that its code or token was made for. @throws OAuthProblem */
async function callingClient(form: Form, headers: Headers, edge: Edge, now: Date): Promise<{ client: OAuthClient | null; alias: boolean }> {
  const presented = presentedClient(headers.get('authorization'), form);
  if (!presented) throw await failClient(null, edge, now);
  const id = presented.readings[0]?.id ?? '';
  if (presented.method === 'none' && isSharedId(id)) return { client: await clientOfCredential(id, form, now), alias: id === CLI_ALIAS };
  return { client: await authenticatedClient(presented, edge, now), alias: false };
}
