import type { Edge } from '#server/api/edge.ts';
import { CLI_ALIAS, CLI_CLIENT } from '#server/domain/oauth-clients/cli-client.shared.ts';
import { isApiResource, issuerOf } from '#server/domain/oauth-grants/addresses.ts';
import { asksToConfirm, readScopes } from '#server/domain/oauth-grants/authorize-rules.ts';
import { GRANTS, type OAuthClient } from '#server/domain/oauth-grants/client.ts';
import { startDevice } from '#server/domain/oauth-grants/device-codes.ts';
import { spaceOf } from '#server/kernel/context.ts';
import { db } from '#server/platform/db.ts';
import { network, throttled } from '#server/platform/throttle.ts';
import { presentedClient } from './client-authentication.ts';
import { authenticatedClient, failClient } from './client-limits.ts';
import type { Form } from './form.ts';
import { OAuthProblem } from './problem.ts';

/** POST /oauth/device_authorization (RFC 8628 §3.1). @throws OAuthProblem */
export async function deviceAuthorization(form: Form, headers: Headers, edge: Edge, now: Date): Promise<object> {
  await throttled([{ what: 'oauth-device', subject: network(edge.ip), limit: 30, window_sec: 60 }], now, 'rate_limited');
  const client = await askingClient(form, headers, edge, now);
  const space = client ? spaceOf(client.sandbox) : edge.space;
  const resource = form.get('resource') ?? null;
  if (resource !== null && !isApiResource(resource, space))
    throw new OAuthProblem('invalid_target', 'resource must be the base URL of the Management API, or be left out.');
  const scopes = readScopes(form.get('scope') ?? null, client ?? CLI_CLIENT);
  if ('error' in scopes) throw new OAuthProblem('invalid_scope', scopes.description);
  const { user_agent, ip } = edge;
  const confirm = asksToConfirm(form.get('acr_values') ?? null);
  const started = await startDevice(db(), { ...scopes, confirm, client, sandbox: space === 'test', resource, ip, user_agent, now });
  const verification_uri = `${issuerOf(edge.space)}/oauth/activate`;
  return { ...started, verification_uri, verification_uri_complete: `${verification_uri}?user_code=${started.user_code}` };
}

/** The client, authenticated or public; null for the alias. @throws OAuthProblem invalid_client, unauthorized_client */
async function askingClient(form: Form, headers: Headers, edge: Edge, now: Date): Promise<OAuthClient | null> {
  const presented = presentedClient(headers.get('authorization'), form);
  if (!presented) throw await failClient(null, edge, now);
  if (presented.method === 'none' && presented.readings[0]?.id === CLI_ALIAS) return null;
  const client = await authenticatedClient(presented, edge, now);
  if (!client.grant_types.includes(GRANTS.device_code))
    throw new OAuthProblem('unauthorized_client', 'This client may not use the device code grant.');
  return client;
}
