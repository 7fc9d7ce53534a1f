import { URL_CLIENT } from '#server/domain/oauth-clients/client-url.shared.ts';
import type { WorkspaceRow } from '#server/domain/people/service.ts';
import { mcpWorkspaceSlug } from '#server/domain/tenants/addresses-mcp.ts';
import { settingsOf } from '#server/domain/tenants/schema.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { type Space, spaceOf } from '#server/kernel/context.ts';
import type { Db, Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import type { AuditEntry } from '#server/kernel/mutate.ts';
import { grouped } from '#server/kernel/numbers.ts';
import type { ClientDocument } from './client-documents.ts';
import { isMcpResource } from './mcp-resources.ts';

// The workspace's side of a client that is known by the address of its document (interface rule 21 §12).

/** Clients by address that one space of a workspace keeps. */
const MOST_URL_CLIENTS = 100;

type Asking = { document: ClientDocument | null; resource: string | null; sandbox: boolean };

/** The workspace that the MCP server's own address names; null when the address is below the API, where the person chooses. */
export const namedWorkspace = ({ document, resource, sandbox }: Asking): string | null =>
  document === null || resource === null ? null : mcpWorkspaceSlug(resource, spaceOf(sandbox) as Space);

/**
 * Whether the workspace takes such a client for what it asks. Only members learn that, so a stranger can't find out which servers there are.
 * @throws Refusal role_denied, not_found
 */
export async function assertTakesUrlClient(
  tx: Db | Tx,
  { document, resource, sandbox }: Asking,
  { id, slug, name }: WorkspaceRow,
): Promise<void> {
  if (document === null) return;
  const tenant = await tx.tenants.findUniqueOrThrow({ where: { id }, select: { settings: true } });
  if (!settingsOf(tenant.settings).allow_client_id_documents)
    throw new Refusal(
      'role_denied',
      `${name} only takes applications that it has registered. Ask an Owner or Admin to register this one, or to allow others in Settings.`,
    );
  if (resource === null || !(await isMcpResource(resource, { tenant_id: id, sandbox, tenant_slug: slug })))
    throw new Refusal(
      'not_found',
      `${name} has no MCP server at the address that the application asked for. Check the address in the application.`,
    );
  const row = await tx.oauth_clients.findFirst({
    where: { tenant_id: id, sandbox, client_id: document.client_id },
    select: { active: true },
  });
  if (row && !row.active)
    throw new Refusal(
      'role_denied',
      `An Owner or Admin of ${name} has turned this application off. Ask them to turn it on under OAuth clients.`,
    );
}

/**
 * The row of the client in a workspace and space, made at the first consent there, with the audit entry of what was written. Two first consents at once make
 * one. @throws Refusal conflict
 */
export async function urlClientOf(
  tx: Tx,
  document: ClientDocument,
  place: { tenant_id: string; sandbox: boolean; now: Date },
): Promise<{ id: string; entry: AuditEntry | null }> {
  const { tenant_id, sandbox, now } = place;
  const { client_id, name, redirect_uris } = document;
  const where = { tenant_id, sandbox, client_id };
  const about = { resource_type: 'oauth_client', name };
  const before = await tx.oauth_clients.findFirst({ where });
  if (before) {
    const changes = changesOf(before, { ...before, name, redirect_uris }, ['name', 'redirect_uris']);
    if (changes.length === 0) return { id: before.id, entry: null };
    await tx.oauth_clients.update({ where: { id: before.id }, data: { name, redirect_uris, updated_at: now } });
    return { id: before.id, entry: { ...about, action: 'update', resource_id: before.id, changes, details: { client_id } } };
  }
  if ((await tx.oauth_clients.count({ where: { tenant_id, sandbox, client_id: { startsWith: 'https://' } } })) >= MOST_URL_CLIENTS)
    throw new Refusal(
      'conflict',
      `This workspace has signed in ${grouped(MOST_URL_CLIENTS)} applications that it hasn't registered, which is the most. Ask an Owner or Admin to register this one.`,
    );
  const id = newId();
  const data = { id, ...where, ...URL_CLIENT, name, redirect_uris, created_at: now, updated_at: now };
  const { count } = await tx.oauth_clients.createMany({ data: [data], skipDuplicates: true });
  if (count === 0) return { id: (await tx.oauth_clients.findFirstOrThrow({ where, select: { id: true } })).id, entry: null };
  const { type: client_type, grant_types, allowed_scopes: scopes_added } = URL_CLIENT;
  return {
    id,
    entry: { ...about, action: 'create', resource_id: id, details: { client_id, client_type, grant_types, redirect_uris, scopes_added } },
  };
}
