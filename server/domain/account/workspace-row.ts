import type { z } from 'zod';
import type { PlanName } from '#server/domain/plans/schema.ts';
import { proxyUrl } from '#server/domain/tenants/addresses.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import type { Account } from './schema.ts';

export type AccountRow = z.input<typeof Account>;

/** The workspace's row, held until the transaction ends; rows that refer to it stay free. */
export async function lockedAccount(tx: Tx, ctx: Ctx) {
  await tx.$queryRaw`select 1 from tenants where id = ${ctx.tenant_id}::uuid for no key update`;
  return tenantRow(tx, ctx);
}

export async function tenantRow(tx: Tx, ctx: Ctx) {
  const row = await tx.tenants.findUnique({ where: { id: ctx.tenant_id } });
  if (!row) throw notFound();
  return {
    ...row,
    subscription_plan: row.subscription_plan as PlanName,
    subscription_status: row.subscription_status as AccountRow['subscription_status'],
    proxy_url: proxyUrl(row.slug, ctx.sandbox ? 'test' : 'live'),
  };
}
