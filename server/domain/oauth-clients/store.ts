import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';

export type ClientRow = Prisma.oauth_clientsGetPayload<object>;

/** By row id or client_id. @throws Refusal not_found */
export async function clientByRef(tx: Tx, ctx: Ctx, ref: string): Promise<ClientRow> {
  const row = await tx.oauth_clients.findFirst({ where: { ...own(ctx), ...(isUuid(ref) ? { id: ref } : { client_id: ref }) } });
  if (!row) throw notFound();
  return row;
}

/** As by reference, holding the row until the transaction ends: an edit, a rotation and a revocation of one client run one after the other. */
export async function lockedClient(tx: Tx, ctx: Ctx, ref: string): Promise<ClientRow> {
  const { id } = await clientByRef(tx, ctx, ref);
  await tx.$queryRaw`select 1 from oauth_clients where id = ${id}::uuid for no key update`;
  return clientByRef(tx, ctx, id);
}

/** @throws Refusal system_client_protected for the client of service-cli, conflict for one that an API key manages */
export function assertOwnRow(row: ClientRow): void {
  if (row.system_role !== null)
    throw new Refusal(
      'system_client_protected',
      "This client belongs to service-cli and can't be changed. To stop logins with service-cli, turn them off in the workspace settings.",
    );
  if (row.source_api_key_id !== null)
    throw new Refusal('conflict', 'This client is managed by the API key it belongs to. Change or revoke the API key instead.');
}

/** As above, and it still exists. @throws Refusal conflict for a revoked client */
export function assertEditable(row: ClientRow): void {
  assertOwnRow(row);
  if (row.revoked_at !== null) throw new Refusal('conflict', "This client is revoked and can't be changed. Create a new one.");
}
