import type { Connection } from '#server/custody/connections/connection.ts';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import type { SealedNewValue } from '../values.ts';

type State = Pick<
  Prisma.secret_environmentsUncheckedUpdateInput,
  'oauth2_status' | 'oauth2_expires_at' | 'oauth2_error' | 'oauth2_refreshed_at' | 'oauth2_lost_at'
>;

/**
 * Puts another value in the place of a connection's and wipes the old one; it is no new version, and a refresh that is under way stores nothing any more.
 * False when the connection changed since it was read. With `keepsTokens` also while a refresh is under way: the provider may have turned over the refresh
 * token that would be kept, and the new one would be lost.
 */
export async function replaceTokens(
  tx: Tx,
  ctx: Ctx,
  found: Pick<Connection, 'id' | 'value_id' | 'generation'>,
  sealed: SealedNewValue,
  state: State,
  { keepsTokens = false }: { keepsTokens?: boolean } = {},
): Promise<boolean> {
  const { count } = await tx.secret_environments.updateMany({
    where: {
      ...{ ...own(ctx), id: found.id, refresh_generation: found.generation, current_value_id: found.value_id },
      ...(keepsTokens ? { OR: [{ refresh_lease_until: null }, { refresh_lease_until: { lt: new Date() } }] } : {}),
    },
    data: {
      ...{
        oauth2_error: null,
        oauth2_lost_at: null,
        oauth2_failures: 0,
        oauth2_retry_at: null,
        refresh_lease_owner: null,
        refresh_lease_until: null,
      },
      ...state,
      current_value_id: sealed.id,
      refresh_generation: { increment: 1 },
      updated_at: ctx.now,
    },
  });
  if (count !== 1) return false;
  const old = await tx.secret_values.findFirstOrThrow({
    where: { ...own(ctx), id: found.value_id },
    select: { value_version: true, created_at: true, secret_environment_id: true },
  });
  await tx.secret_values.create({ data: { ...own(ctx), ...sealed, ...old }, select: { id: true } });
  await tx.secret_values.updateMany({
    where: { ...own(ctx), id: found.value_id },
    data: { value_ct: null, cek_wrapped: null, wiped_at: ctx.now },
  });
  await tx.secret_values.deleteMany({ where: { ...own(ctx), id: found.value_id } });
  return true;
}
