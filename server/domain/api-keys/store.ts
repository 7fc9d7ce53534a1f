import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';

export type KeyRow = Awaited<ReturnType<typeof keyByRef>>;

/** @throws Refusal not_found */
export async function keyByRef(tx: Tx, ctx: Ctx, ref: string) {
  const row = await tx.api_keys.findFirst({ where: { ...own(ctx), ...(isUuid(ref) ? { id: ref } : { key_id: ref }) } });
  if (!row) throw notFound();
  return row;
}

/** As by reference, holding the row until the transaction ends. */
export async function lockedKey(tx: Tx, ctx: Ctx, ref: string) {
  const { id } = await keyByRef(tx, ctx, ref);
  await tx.$queryRaw`select 1 from api_keys where id = ${id}::uuid for no key update`;
  return keyByRef(tx, ctx, id);
}

/** Rows as they are answered, with their last use. */
export async function withUsage(tx: Tx, ctx: Ctx, rows: KeyRow[]) {
  const usage = new Map(
    (await tx.credential_usage.findMany({ where: { ...own(ctx), id: { in: rows.map((r) => r.id) } } })).map((u) => [u.id, u]),
  );
  return rows.map((row) => shape(row, ctx.now, usage.get(row.id)));
}

/** One row the same way. */
export const oneWithUsage = async (tx: Tx, ctx: Ctx, row: KeyRow) =>
  shape(row, ctx.now, (await tx.credential_usage.findFirst({ where: { ...own(ctx), id: row.id } })) ?? undefined);

/** Inactive from the moment itself, whether or not the job that marks ended keys has come by. */
export const hasEnded = (row: Pick<KeyRow, 'active' | 'expires_at' | 'revoke_at'>, now: Date): boolean =>
  !row.active || (row.expires_at !== null && row.expires_at <= now) || (row.revoke_at !== null && row.revoke_at <= now);

function shape(row: KeyRow, now: Date, usage: { last_used_at: Date; last_used_ip: string | null } | undefined) {
  const ended = hasEnded({ ...row, active: true }, now);
  return {
    ...row,
    key_type: row.key_type as 'standard' | 'test' | 'access_key',
    active: row.active && !ended,
    scopes: row.scoped ? row.scopes : null,
    created_by: row.created_by as {
      kind: 'user' | 'api_key' | 'oauth_client' | 'operator' | 'signup';
      id: string | null;
      label: string;
    } | null,
    last_used_at: usage?.last_used_at ?? null,
    last_used_ip: usage?.last_used_ip ?? null,
    revoked_at: row.revoked_at ?? (ended ? (row.revoke_at ?? null) : null),
    oauth_client_id: row.key_id,
  };
}
