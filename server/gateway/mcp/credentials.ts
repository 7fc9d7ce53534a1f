import { GrantUnavailable, grantOf, grantToken } from '#server/custody/mcp/grants.ts';
import { listReferences } from '#server/domain/templates/grammar.ts';
import { fault, isFault, type RpcFault } from '#server/mcp/errors.ts';
import { env } from '#server/platform/env.ts';
import { parseTarget } from '#server/platform/http-out/target-url.ts';
import { type IdentitySigner, identitySigner } from '#server/platform/svc-identity.ts';
import type { Runtime } from '../core/runtime.ts';
import type { McpServer } from '../snapshot/mcp-servers.ts';
import { renderHeader } from '../templates/render.ts';
import { newResolution } from '../templates/resolution.ts';
import { resolve } from '../templates/resolve.ts';
import type { McpCall } from './mcp-call.ts';

/** Headers for an upstream, with the grant that one of them is of, and what signs for whom its requests are. */
export type Credentials = {
  readonly headers: readonly string[];
  readonly grantId: string | null;
  readonly token: string | null;
  readonly sign: IdentitySigner | null;
  /** Whom `sign` names. */
  readonly signedFor: string | null;
};

/**
 * What an upstream is shown: secrets by reference, opened here, or the token of the person that the caller's token names. A header of the caller's never chooses
 * the person.
 */
export async function credentialsFor(
  call: McpCall,
  runtime: Runtime,
  server: McpServer,
  refused?: string,
): Promise<Credentials | RpcFault> {
  const headers = await secretHeaders(call, runtime, server);
  if (isFault(headers)) return headers;
  const signedFor = server.signedIdentity ? subjectOf(call) : null;
  const sign = signedFor === null ? null : await signerFor(call, server, signedFor);
  if (sign !== null && isFault(sign)) return sign;
  if (!server.perUser) return { headers, grantId: null, token: null, sign, signedFor };
  const space = { tenant_id: call.snapshot.tenant.id, sandbox: call.snapshot.sandbox };
  const grantId = await grantFor(call, server, space);
  if (grantId === null) return grantRequired(server);
  try {
    const token = await grantToken(space, grantId, { refused });
    if (token === null) return grantRequired(server);
    return { headers: [...headers, 'Authorization', `Bearer ${token.reveal()}`], grantId, token: token.reveal(), sign, signedFor };
  } catch (error) {
    if (!(error instanceof GrantUnavailable)) throw error;
    return fault('credential_unavailable', "The person's access to the MCP server can't be used right now. Try again shortly.", {
      cause: error,
    });
  }
}

type Space = { tenant_id: string; sandbox: boolean };

/** Only what is signed counts: the name in the token's scope, or the person of an access token. */
async function grantFor({ state: { principal, person } }: McpCall, server: McpServer, space: Space): Promise<string | null> {
  if (person !== null) return grantOf(space, server.id, { userId: person });
  const name = principal?.token.scope.user;
  return name === undefined ? null : grantOf(space, server.id, { name });
}

function subjectOf({ state: { person, principal } }: McpCall): string {
  const name = principal?.token.scope.user;
  return person !== null ? `user:${person}` : name !== undefined ? `attributed_user:${name}` : `token:${principal?.token.id}`;
}

/** Without its key nothing is sent: the upstream would refuse it, or have to trust it. */
async function signerFor({ snapshot }: McpCall, server: McpServer, sub: string): Promise<IdentitySigner | RpcFault> {
  return identitySigner({ sub, tenant: snapshot.tenant.id, server: server.id }).catch((cause: unknown) =>
    fault('credential_unavailable', 'The identity of the call can’t be signed right now. Try again shortly.', { cause }),
  );
}

const grantRequired = (server: McpServer): RpcFault =>
  fault('grant_required', 'A person must connect this MCP server to their own account first.', {
    data: { connect_url: `${env.PUBLIC_ADMIN_URL}/admin/ai-gateway/mcp-servers/${server.id}/connect` },
  });

/** Names and values in turn. */
async function secretHeaders(call: McpCall, runtime: Runtime, server: McpServer): Promise<string[] | RpcFault> {
  if (server.headers.length === 0) return [];
  const mark = server.upstreamUrl?.indexOf('?') ?? -1;
  const base = mark < 0 ? (server.upstreamUrl ?? '') : (server.upstreamUrl ?? '').slice(0, mark);
  const target = parseTarget(base, runtime.resolver.settings);
  if (!target.ok) return fault('upstream_blocked', "The MCP server's address may not be called.");
  const state = { route: null, environmentName: server.secretsEnvironment, config: null, query: null, test: null };
  // Secrets may be pinned to hosts: they are held against where this request goes.
  const view = { ...call, state, upstream: target.target };
  const resolution = newResolution(false);
  const headers: string[] = [];
  for (const { name, template } of server.headers) {
    const refusal = await resolve(view, runtime, listReferences(template), 'configuration', resolution);
    if (refusal) return unavailable(refusal.code);
    // An agent reads whatever an MCP server says, and the value may not reach one (interface rule 30 §14.5, rule 2).
    if (resolution.useOnly.size > 0) return unavailable('share_use_only');
    const rule = { name, lower: name, template: { parts: template, constant: null, malformed: null } };
    const value = renderHeader(rule, resolution.configuration);
    if (typeof value !== 'string') return unavailable(value.code);
    headers.push(name, value);
  }
  return headers;
}

/** The caller learns that it is not its fault; the reason is in the log. */
const unavailable = (reason: string): RpcFault =>
  fault('credential_unavailable', "The credential for the MCP server can't be used. An administrator can see why in the request log.", {
    cause: reason,
  });
