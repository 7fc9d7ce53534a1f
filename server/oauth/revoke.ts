import type { Edge } from '#server/api/edge.ts';
import { isClientUrl } from '#server/domain/oauth-clients/client-url.shared.ts';
import { clientOfCredential } from '#server/domain/oauth-grants/cli-alias.ts';
import { revokeToken } from '#server/domain/oauth-grants/revocation.ts';
import type { Announce } from './announce.ts';
import { presentedClient } from './client-authentication.ts';
import { authenticatedClient, failClient } from './client-limits.ts';
import { type Form, required } from './form.ts';

/** POST /oauth/revoke (RFC 7009): the same answer whether or not there was something to end. */
export async function revoke(form: Form, headers: Headers, edge: Edge, now: Date, announce: Announce): Promise<object> {
  const presented = presentedClient(headers.get('authorization'), form);
  if (!presented) throw await failClient(null, edge, now);
  const id = presented.readings[0]?.id ?? '';
  const isUrl = presented.method === 'none' && isClientUrl(id);
  const client = isUrl ? await clientOfCredential(id, form, now) : await authenticatedClient(presented, edge, now);
  // The token of another client, or none: there is nothing to end.
  if (!client) return {};
  await revokeToken(client, required(form, 'token'), { request_id: edge.request_id, ip: edge.ip, user_agent: edge.user_agent }, now);
  announce(client);
  return {};
}
