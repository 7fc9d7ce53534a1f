import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';

export type ChannelRow = NonNullable<Awaited<ReturnType<Tx['alert_channels']['findFirst']>>>;

/** @throws Refusal not_found */
export async function channelById(tx: Tx, ctx: Ctx, id: string): Promise<ChannelRow> {
  const row = isUuid(id) ? await tx.alert_channels.findFirst({ where: { ...own(ctx), id } }) : null;
  if (!row) throw notFound();
  return row;
}

export async function lockedChannel(tx: Tx, ctx: Ctx, id: string): Promise<ChannelRow> {
  if (isUuid(id)) await tx.$queryRaw`select 1 from alert_channels where id = ${id}::uuid and tenant_id = ${ctx.tenant_id}::uuid for update`;
  return channelById(tx, ctx, id);
}
