import { readCredential } from '#server/api/credentials/credential-reader.ts';
import { type ScimCaller, scimCredentials } from '#server/api/credentials/scim.ts';
import type { Edge } from '#server/api/edge.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { countBadToken } from './budget.ts';
import { notFound, ScimProblem } from './problem.ts';

/** The workspace that a host stands for; null on the admin host, where the credential names it. */
export type Host = { tenant_id: string | null };

/** SCIM is served on the admin host and the hosts of workspaces that exist. @throws ScimProblem 404 */
export async function hostOf(headers: Headers): Promise<Host> {
  const plane = headers.get('x-sallyport-plane');
  if (plane === 'admin') return { tenant_id: null };
  if (plane !== 'tenant' || headers.get('x-sallyport-space') !== 'live') throw notFound();
  const { rows } = await sql().query<{ id: string }>({
    name: 'scim-host',
    text: 'select id from tenants where slug = $1 and deleted_at is null',
    values: [headers.get('x-sallyport-tenant') ?? ''],
  });
  const [row] = rows;
  if (!row) throw notFound();
  return { tenant_id: row.id };
}

/**
 * The credential of a call. On the host of a workspace it must be of that workspace. One answer for every cause, so that nothing is said about other
 * workspaces. @throws ScimProblem 401, 429
 */
export async function authenticate(headers: Headers, host: Host, edge: Edge, now: Date): Promise<ScimCaller> {
  const [, token = ''] = /^Bearer +(\S+)$/i.exec(headers.get('authorization')?.trim() ?? '') ?? [];
  const caller = await readCredential([scimCredentials], token, { now });
  if (caller && (host.tenant_id === null || host.tenant_id === caller.tenant_id)) return caller;
  await countBadToken(edge.ip, now);
  throw new ScimProblem(401, 'The SCIM credential is missing, unknown, expired or revoked.', {
    headers: { 'www-authenticate': 'Bearer realm="scim"' },
  });
}

/** Works in the credential's space with no capability: what SCIM may do is decided by the plane alone. */
export const contextOf = (caller: ScimCaller, edge: Edge, now: Date): Ctx => ({
  db: db(),
  tenant_id: caller.tenant_id,
  sandbox: caller.space === 'test',
  actor: { type: 'scim', id: caller.id, prefix: caller.prefix, label: caller.name, capabilities: new Set() },
  plan: caller.plan,
  subscription_status: caller.subscription_status,
  request_id: edge.request_id,
  ip: edge.ip,
  user_agent: edge.user_agent,
  now,
  warnings: [],
});
