import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';

export type InboundRow = NonNullable<Awaited<ReturnType<Tx['inbound_webhooks']['findFirst']>>>;

/** @throws Refusal not_found */
export async function inboundById(tx: Tx, ctx: Ctx, id: string): Promise<InboundRow> {
  const row = isUuid(id) ? await tx.inbound_webhooks.findFirst({ where: { ...own(ctx), id: id.toLowerCase() } }) : null;
  if (!row) throw notFound();
  return row;
}

/** The same, holding the row until the transaction ends. */
export async function lockedInbound(tx: Tx, ctx: Ctx, id: string): Promise<InboundRow> {
  const { id: found } = await inboundById(tx, ctx, id);
  await tx.$queryRaw`select 1 from inbound_webhooks where id = ${found}::uuid for no key update`;
  return inboundById(tx, ctx, found);
}
