import type { Edge } from '#server/api/edge.ts';
import { isClientId } from '#server/crypto/tokens.ts';
import { CLI_ALIAS, CLI_CLIENT } from '#server/domain/oauth-clients/cli-client.shared.ts';
import { isApiResource, issuerOf } from '#server/domain/oauth-grants/addresses.ts';
import { errorAddress, storeRequest } from '#server/domain/oauth-grants/authorize-requests.ts';
import { type AskingClient, readAuthorize, redirectOf, stateOf } from '#server/domain/oauth-grants/authorize-rules.ts';
import { clientById, type OAuthClient } from '#server/domain/oauth-grants/client.ts';
import { isMcpResource } from '#server/domain/oauth-grants/mcp-resources.ts';
import { type Space, spaceOf } from '#server/kernel/context.ts';
import { db } from '#server/platform/db.ts';
import { env } from '#server/platform/env.ts';
import { network, throttled } from '#server/platform/throttle.ts';
import { errorPage, sendTo } from './browser-page.ts';

/**
 * GET /oauth/authorize (interface rule 21 §7): a valid request waits under a handle for the consent page of the dashboard, which knows who is signed in. An
 * unknown client or redirect URI is answered with a page, everything else by going back to the client.
 */
export async function authorize(req: Request, edge: Edge, now: Date): Promise<Response> {
  await throttled([{ what: 'oauth-authorize', subject: network(edge.ip), limit: 120, window_sec: 60 }], now, 'rate_limited');
  const query = new URL(req.url).searchParams;
  const found = await askingClient(query, edge.space, now);
  if (!found) return errorPage('Unknown application', UNKNOWN_CLIENT);
  const { client, rules, space } = found;
  const redirect_uri = redirectOf(query, rules);
  if (redirect_uri === null) return errorPage('Unknown redirect address', UNKNOWN_REDIRECT);
  const issuer = issuerOf(edge.space);
  const resource = query.get('resource');
  const isServer = client !== null && resource !== null && (await isMcpResource(resource, client));
  const asked = readAuthorize(query, rules, (address) => isApiResource(address, space) || isServer);
  if ('error' in asked) return sendTo(errorAddress({ redirect_uri, state: stateOf(query), issuer }, asked.error, asked.description));
  const handle = await storeRequest(db(), { ...asked, client, issuer, sandbox: space === 'test', now });
  return sendTo(`${env.PUBLIC_ADMIN_URL}/oauth/consent/${handle}`);
}

/** The client that asks; unknown, ended and disabled ones are one case. `client` is null for the alias, whose workspace is chosen later. */
async function askingClient(
  query: URLSearchParams,
  space: Space,
  now: Date,
): Promise<{ client: OAuthClient | null; rules: AskingClient; space: Space } | null> {
  const [id = '', ...more] = query.getAll('client_id');
  if (more.length > 0) return null;
  if (id === CLI_ALIAS) return { client: null, rules: CLI_CLIENT, space };
  // A client ID that is a URL (interface rule 21 §12) is that of an unknown client: such documents aren't read yet.
  const client = isClientId(id) ? await clientById(id, now) : null;
  return client?.active ? { client, rules: client, space: spaceOf(client.sandbox) } : null;
}

const UNKNOWN_CLIENT =
  "The application that sent you here isn't known, or it was disabled. Nothing was shared with it. If it worked before, ask whoever runs it to check its client ID.";
const UNKNOWN_REDIRECT =
  "The application that sent you here asked to be answered at an address that it hasn't registered, so the request ends here. If you develop it, register the exact redirect URI with its OAuth client.";
