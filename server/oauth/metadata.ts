import { type Edge, edgeOf } from '#server/api/edge.ts';
import { json, respond, type Wire } from '#server/api/respond.ts';
import { DPOP_ALGORITHMS } from '#server/crypto/dpop.ts';
import { clientDocument } from '#server/domain/mcp-servers/client-document.ts';
import { apiResource, issuerOf } from '#server/domain/oauth-grants/addresses.ts';
import { STEP_UP_ACR } from '#server/domain/oauth-grants/authorize-rules.ts';
import { GRANTS } from '#server/domain/oauth-grants/client.ts';
import { metadataDocument } from '#server/domain/tenants/addresses-mcp.ts';
import type { Space } from '#server/kernel/context.ts';
import { SCOPE_NAMES } from '#server/kernel/scopes.ts';
import { env } from '#server/platform/env.ts';
import { identityKeySet } from '#server/platform/svc-identity.ts';
import { ISSUER_PATH, workloadConfiguration, workloadKeySet } from '#server/platform/workload-identity.ts';

/**
 * The metadata documents below /.well-known (RFC 8414, RFC 9728). Public, the same for everybody, and readable by scripts of any page. Workspace hosts
 * have documents for MCP servers only.
 */
export async function handleMetadata(req: Request, edge: Edge | null = edgeOf(req.headers)): Promise<Response> {
  if (!edge) return new Response(null, { status: 404 });
  const reader = req.method === 'HEAD' ? null : { accept: req.headers.get('accept-encoding') };
  return respond(await answer(req, edge), edge.request_id, reader);
}

async function answer(req: Request, { space, request_id }: Edge): Promise<Wire> {
  const path = new URL(req.url).pathname;
  const onApi = (req.headers.get('x-sallyport-plane') ?? 'api') === 'api';
  const slug = slugIn(path);
  const key = `GET ${slug === undefined ? path : `${MCP_DOCUMENT}/{serverSlug}`}`;
  const document = onApi ? (DOCUMENTS[key] ?? (space === 'live' ? OWN[key] : undefined)) : undefined;
  if (!document) return missing(path, request_id);
  if (req.method === 'OPTIONS') return { status: 204, body: '', headers: { ...ANYWHERE, 'access-control-max-age': '86400' } };
  if (req.method !== 'GET' && req.method !== 'HEAD')
    return failed(405, 'method_not_allowed', 'Method not allowed. This path supports GET, HEAD.', request_id, { allow: 'GET, HEAD' });
  return json(200, await document(space, slug), { ...ANYWHERE, 'cache-control': 'public, max-age=3600' });
}

/** `slug`: of the MCP server that the path names. */
type Document = (space: Space, slug?: string) => object | Promise<object>;

const ANYWHERE = { 'access-control-allow-origin': '*', 'access-control-allow-methods': 'GET', 'access-control-allow-headers': '*' };

/** A workspace host has these of its own; this one is for a host that knows neither workspaces nor their servers (interface rule 21 §12). */
function missing(path: string, requestId: string): Wire {
  return path.startsWith(`${MCP_DOCUMENT}/`) || path === MCP_DOCUMENT
    ? failed(404, 'tenant_not_found', 'No workspace found at this address.', requestId)
    : failed(404, 'not_found', 'No such path.', requestId);
}

const MCP_DOCUMENT = '/.well-known/oauth-protected-resource/v1/mcp';
const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

const slugIn = (path: string): string | undefined => {
  const slug = path.startsWith(`${MCP_DOCUMENT}/`) ? path.slice(MCP_DOCUMENT.length + 1) : '';
  return SLUG.test(slug) ? slug : undefined;
};

/**
 * The metadata of an MCP server on the API host, where only a token names the workspace. The same for every slug: whether some workspace has such a server is
 * nobody's business who has no token.
 */
const mcpServer: Document = (space, slug) =>
  metadataDocument(`${apiResource(space)}/mcp${slug === undefined ? '' : `/${slug}`}`, issuerOf(space), slug ?? 'MCP servers');

/**
 * What others read of us: as a client of their authorization servers, as a workload that their clouds trust, and as who signs for callers of MCP servers. Each
 * names its own address, so no other host serves it.
 */
const OWN: Readonly<Record<string, Document>> = {
  'GET /.well-known/mcp-client.json': clientDocument,
  'GET /.well-known/svc-identity-jwks.json': identityKeySet,
  [`GET ${ISSUER_PATH}/.well-known/openid-configuration`]: workloadConfiguration,
  [`GET ${ISSUER_PATH}/jwks.json`]: workloadKeySet,
};

const failed = (status: number, type: string, message: string, request_id: string, headers: Record<string, string> = {}): Wire =>
  json(status, { error: { type, message, request_id } }, { 'access-control-allow-origin': '*', ...headers });

const CONFIDENTIAL = ['client_secret_basic', 'client_secret_post'];
const docs = (page: string) => new URL(page, env.PUBLIC_ADMIN_URL).href;

/** RFC 8414 §2. The issuer is the origin of the host that was asked. */
function authorizationServer(space: Space): object {
  const issuer = issuerOf(space);
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    device_authorization_endpoint: `${issuer}/oauth/device_authorization`,
    introspection_endpoint: `${issuer}/oauth/introspect`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    scopes_supported: SCOPE_NAMES,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: Object.values(GRANTS),
    token_endpoint_auth_methods_supported: [...CONFIDENTIAL, 'none'],
    introspection_endpoint_auth_methods_supported: CONFIDENTIAL,
    revocation_endpoint_auth_methods_supported: [...CONFIDENTIAL, 'none'],
    code_challenge_methods_supported: ['S256'],
    dpop_signing_alg_values_supported: DPOP_ALGORITHMS,
    acr_values_supported: [STEP_UP_ACR],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    service_documentation: docs('/docs/oauth'),
    ui_locales_supported: ['en'],
  };
}

/** RFC 9728 §2: the Management API of the space. */
const protectedResource = (space: Space): object => ({
  resource: apiResource(space),
  authorization_servers: [issuerOf(space)],
  scopes_supported: SCOPE_NAMES,
  bearer_methods_supported: ['header'],
  dpop_signing_alg_values_supported: DPOP_ALGORITHMS,
  resource_name: space === 'test' ? 'Sallyport Management API (Test)' : 'Sallyport Management API',
  resource_documentation: docs('/docs'),
  tls_client_certificate_bound_access_tokens: false,
});

/** Spelled as the `http` of an operation row. */
const DOCUMENTS: Readonly<Record<string, Document>> = {
  'GET /.well-known/oauth-authorization-server': authorizationServer,
  'GET /.well-known/oauth-protected-resource': protectedResource,
  'GET /.well-known/oauth-protected-resource/v1': protectedResource,
  'GET /.well-known/oauth-protected-resource/v1/mcp': mcpServer,
  'GET /.well-known/oauth-protected-resource/v1/mcp/{serverSlug}': mcpServer,
};
