import type { z } from 'zod';
import { type Ctx, own } from '#server/kernel/context.ts';
import { inTransaction, limitStatements, read, type Tx } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { updateClient } from './changes.ts';
import { revokeClient } from './revocation.ts';
import type { UpdateOAuthClient } from './schema.ts';
import { type ClientRow, lockedClient } from './store.ts';

// Clients as a provisioning directory sees them (interface rule 23 §7): those of its space that are neither revoked nor managed by an API key. To it, a
// revoked client is gone.

const SEEN = 'c.tenant_id = $1::uuid and c.sandbox = $2::boolean and c.revoked_at is null and c.source_api_key_id is null';
const isSeen = (row: ClientRow) => row.revoked_at === null && row.source_api_key_id === null;

/** Of one statement: a filter may cost anything. */
const LONGEST_MS = 5_000;

/** A condition over `oauth_clients c`, with its values from `$3` on. */
export type ClientCondition = { text: string; values: readonly unknown[] };

/** In the order in which they were made, and how many there are. */
export function listProvisionedClients(
  ctx: Ctx,
  { where, skip, take }: { where: ClientCondition | null; skip: number; take: number },
): Promise<{ total: number; clients: ClientRow[] }> {
  const condition = where ? `${SEEN} and ${where.text}` : SEEN;
  const values = where?.values ?? [];
  return read(ctx, (tx) =>
    limitStatements(tx, LONGEST_MS, async () => {
      const ask = <R>(text: string) => tx.$queryRawUnsafe<R[]>(text, ctx.tenant_id, ctx.sandbox, ...values);
      const [counted] = await ask<{ n: number }>(`select count(*)::int as n from oauth_clients c where ${condition}`);
      const clients = await ask<ClientRow>(
        `select c.* from oauth_clients c where ${condition} order by c.created_at, c.id limit ${take} offset ${skip}`,
      );
      return { total: counted?.n ?? 0, clients };
    }),
  );
}

/** @throws Refusal not_found */
export const getProvisionedClient = (ctx: Ctx, id: string): Promise<ClientRow> => read(ctx, (tx) => seenClient(tx, ctx, id));

async function seenClient(tx: Tx, ctx: Ctx, id: string): Promise<ClientRow> {
  const row = isUuid(id) ? await tx.oauth_clients.findFirst({ where: { ...own(ctx), id } }) : null;
  if (!row || !isSeen(row)) throw notFound();
  return row;
}

/**
 * Changes a client by what it is at that moment: of two directories that change it at the same time, the second sees what the first did. `changesOf`
 * answers with nothing when nothing is to change.
 * @throws Refusal not_found, validation_error, system_client_protected, and whatever `changesOf` throws
 */
export const changeProvisionedClient = (
  ctx: Ctx,
  id: string,
  changesOf: (row: ClientRow) => z.output<typeof UpdateOAuthClient> | null,
): Promise<ClientRow> =>
  inTransaction(ctx, async (tx) => {
    const within = { ...ctx, tx };
    await seenClient(tx, ctx, id);
    const row = await lockedClient(tx, ctx, id);
    if (!isSeen(row)) throw notFound();
    const changes = changesOf(row);
    if (changes) await updateClient(within, changes);
    return seenClient(tx, ctx, id);
  });

/** Revokes it for good. @throws Refusal not_found, system_client_protected */
export const revokeProvisionedClient = (ctx: Ctx, id: string): Promise<unknown> =>
  inTransaction(ctx, async (tx) => {
    await seenClient(tx, ctx, id);
    return revokeClient({ ...ctx, tx }, { id });
  });
