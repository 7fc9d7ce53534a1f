import type { z } from 'zod';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { canonicalHost } from '#server/kernel/upstream-url.ts';
import { pagedRows } from '#server/platform/lists/paged.ts';
import type { ListWrapCredentials } from './schema.ts';

type Row = Prisma.secretsGetPayload<Record<string, never>>;

/** One page and the true total. Wrap credentials are few: a partial index holds nothing else. */
export async function findPage(tx: Tx, ctx: Ctx, query: z.output<typeof ListWrapCredentials>) {
  const { provider, host, order } = query;
  const where: Prisma.secretsWhereInput = {
    ...own(ctx),
    is_escrow: true,
    ...(provider !== undefined && { provider_label: provider.toLowerCase() }),
    ...(host !== undefined && { allowed_hosts: { array_contains: [canonicalHost(host) ?? host] } }),
  };
  const total = await tx.secrets.count({ where });
  const rows = await pagedRows(
    query,
    total,
    [{ created_at: order }, { id: order }],
    (window) => tx.secrets.findMany({ where, ...window, select: { id: true } }),
    (ids) => tx.secrets.findMany({ where: { ...own(ctx), id: { in: ids } } }),
  );
  return { rows: await itemsOf(tx, ctx, rows), total };
}

/** @throws Refusal not_found, for ordinary secrets too */
export async function credentialById(tx: Tx, ctx: Ctx, id: string): Promise<Row> {
  const row = isUuid(id) ? await tx.secrets.findFirst({ where: { ...own(ctx), id, is_escrow: true } }) : null;
  if (!row) throw notFound();
  return row;
}

export async function detailOf(tx: Tx, ctx: Ctx, row: Row) {
  const [item] = await itemsOf(tx, ctx, [row]);
  const tokens = await tx.wrap_tokens.count({ where: { ...own(ctx), secret_id: row.id } });
  const environments = await tx.secret_environments.findMany({
    where: { ...own(ctx), secret_id: row.id, current_value_id: { not: null } },
    orderBy: { environment_name: 'asc' },
    select: { environment_name: true, value_version: true, updated_at: true, expires_at_override: true },
  });
  return { ...(item as NonNullable<typeof item>), tokens, environments };
}

async function itemsOf(tx: Tx, ctx: Ctx, rows: readonly Row[]) {
  const ids = rows.map((row) => row.id);
  const live = await tx.wrap_tokens.groupBy({
    by: ['secret_id'],
    where: { ...own(ctx), secret_id: { in: ids }, ...isLive(ctx.now) },
    _count: true,
  });
  const tokens = new Map(live.map((one) => [one.secret_id, one._count]));
  const uses = await tx.$queryRaw<{ id: string; at: Date }[]>`
    select ref_id as id, max(last_at) as at from call_days
    where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and kind = 'secret' and ref_id = any(${ids}::uuid[]) group by 1`;
  const used = new Map(uses.map(({ id, at }) => [id, at]));
  return rows.map((row) => ({
    secret_id: row.id,
    name: row.name,
    provider: row.provider_label ?? '',
    allowed_hosts: row.allowed_hosts as string[],
    header_name: row.header_name ?? 'Authorization',
    value_prefix: row.value_prefix ?? 'Bearer ',
    sandbox: row.sandbox,
    created_at: row.created_at,
    updated_at: row.updated_at,
    last_used_at: used.get(row.id) ?? null,
    active_tokens: tokens.get(row.id) ?? 0,
    expires_at: row.expires_at,
  }));
}

export const isLive = (now: Date): Prisma.wrap_tokensWhereInput => ({
  revoked_at: null,
  OR: [{ expires_at: null }, { expires_at: { gt: now } }],
});

/** When each of these tokens was last used; gateways stamp it at most once a minute. */
export async function lastUsesOfTokens(tx: Tx, ctx: Ctx, rows: readonly { id: string }[]): Promise<Map<string, Date>> {
  const used = await tx.credential_usage.findMany({
    where: { ...own(ctx), id: { in: rows.map((row) => row.id) } },
    select: { id: true, last_used_at: true },
  });
  return new Map(used.flatMap(({ id, last_used_at }) => (last_used_at ? [[id, last_used_at] as const] : [])));
}
