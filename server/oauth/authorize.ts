import type { Edge } from '#server/api/edge.ts';
import { isClientId } from '#server/crypto/tokens.ts';
import { CLI_ALIAS, CLI_CLIENT } from '#server/domain/oauth-clients/cli-client.shared.ts';
import { isClientUrl, URL_CLIENT } from '#server/domain/oauth-clients/client-url.shared.ts';
import { isApiResource, issuerOf } from '#server/domain/oauth-grants/addresses.ts';
import { errorAddress, storeRequest } from '#server/domain/oauth-grants/authorize-requests.ts';
import {
  type AskingClient,
  type AuthorizeRequest,
  type Refusing,
  readAuthorize,
  redirectOf,
  stateOf,
} from '#server/domain/oauth-grants/authorize-rules.ts';
import { clientById, type OAuthClient } from '#server/domain/oauth-grants/client.ts';
import { type ClientDocument, DocumentFault, documentSource } from '#server/domain/oauth-grants/client-documents.ts';
import { isMcpResource } from '#server/domain/oauth-grants/mcp-resources.ts';
import { isApiMcpResource, mcpWorkspaceSlug } from '#server/domain/tenants/addresses-mcp.ts';
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
  const found = await askingClient(query, edge, now);
  if (!found) return errorPage('Unknown application', UNKNOWN_CLIENT);
  if ('problem' in found) return errorPage('Unknown application', `${found.problem} ${UNKNOWN_DOCUMENT}`);
  const { client, document, rules, space } = found;
  const redirect_uri = redirectOf(query, rules);
  if (redirect_uri === null) return errorPage('Unknown redirect address', UNKNOWN_REDIRECT);
  const issuer = issuerOf(edge.space);
  const resource = query.get('resource');
  const isServer = client !== null && resource !== null && (await isMcpResource(resource, client));
  const asked = document
    ? readUrlClient(query, rules, space)
    : readAuthorize(query, rules, (address) => isApiResource(address, space) || isServer);
  if ('error' in asked) return sendTo(errorAddress({ redirect_uri, state: stateOf(query), issuer }, asked.error, asked.description));
  const handle = await storeRequest(db(), { ...asked, client, document, issuer, sandbox: space === 'test', now });
  return sendTo(`${env.PUBLIC_ADMIN_URL}/oauth/consent/${handle}`);
}

/**
 * What a client asks that is known by the address of its document: always an MCP server. Whether the workspace has it only its members are told, on the page of
 * consent.
 */
function readUrlClient(query: URLSearchParams, rules: AskingClient, space: Space): AuthorizeRequest | Refusing {
  const asked = readAuthorize(query, rules, (address) => mcpWorkspaceSlug(address, space) !== null || isApiMcpResource(address, space));
  if ('error' in asked || asked.resource !== null) return asked;
  return { error: 'invalid_target', description: 'resource must be the address of an MCP server: this client is not registered.' };
}

/** The client that asks; unknown, ended and disabled ones are one case. `client` is null for the alias, whose workspace is chosen later. */
async function askingClient(query: URLSearchParams, { space, ip }: Edge, now: Date): Promise<Found | { problem: string } | null> {
  const [id = '', ...more] = query.getAll('client_id');
  if (more.length > 0) return null;
  if (id === CLI_ALIAS) return { client: null, document: null, rules: CLI_CLIENT, space };
  if (isClientUrl(id)) return describedClient(id, space, ip, now);
  const client = isClientId(id) ? await clientById(id, now) : null;
  return client?.active ? { client, document: null, rules: client, space: spaceOf(client.sandbox) } : null;
}

type Found = { client: OAuthClient | null; document: ClientDocument | null; rules: AskingClient; space: Space };

/** A client whose ID is the address of a document about it (interface rule 21 §12). Anybody can make us look one up, so one network can't do so often. */
async function describedClient(id: string, space: Space, ip: string | null, now: Date): Promise<Found | { problem: string }> {
  await throttled([{ what: 'oauth-client-document', subject: network(ip), limit: 30, window_sec: 60 }], now, 'rate_limited');
  try {
    const document = await documentSource().documentOf(id, now);
    return { client: null, document, rules: { ...URL_CLIENT, redirect_uris: document.redirect_uris }, space };
  } catch (error) {
    if (error instanceof DocumentFault) return { problem: error.message };
    throw error;
  }
}

const UNKNOWN_DOCUMENT =
  "The application names the address of its own description as its client ID, and that can't be used. Nothing was shared with it. If you develop it, correct the document at that address.";

const UNKNOWN_CLIENT =
  "The application that sent you here isn't known, or it was disabled. Nothing was shared with it. If it worked before, ask whoever runs it to check its client ID.";
const UNKNOWN_REDIRECT =
  "The application that sent you here asked to be answered at an address that it hasn't registered, so the request ends here. If you develop it, add the exact redirect URI to its OAuth client or, if its client ID is a URL, to the document there.";
