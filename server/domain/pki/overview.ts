import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import type { INTERMEDIATE_STATES } from './schema.ts';
import { rootByRef } from './store.ts';
import { crlUrl } from './urls.ts';

const MONTH_MS = 30 * 24 * 3_600_000;

/** What the dashboard shows beside each root: how many leaves are valid and end soon, and how long the longest role lets one last. */
export const summariesOfRoots = (ctx: Ctx) =>
  read(ctx, async (tx) => {
    const roots = await tx.pki_roots.findMany({ where: own(ctx), orderBy: { name: 'asc' }, select: { id: true } });
    const ids = roots.map(({ id }) => id);
    const leaves = await countLeaves(tx, ctx, ids);
    const roles = await tx.pki_roles.groupBy({
      by: ['ca_root_id'],
      where: { ...own(ctx), ca_root_id: { in: ids } },
      _count: true,
      _max: { max_ttl_seconds: true },
    });
    const ofRoot = new Map(roles.map((row) => [row.ca_root_id, row]));
    return ids.map((id) => ({
      id,
      ...(leaves.get(id) ?? NONE),
      roles: ofRoot.get(id)?._count ?? 0,
      longest_ttl_seconds: ofRoot.get(id)?._max.max_ttl_seconds ?? null,
    }));
  });

/** The intermediates and lists of one root, newest first. @throws Refusal not_found */
export const overviewOfRoot = (ctx: Ctx, { name }: { name: string }) =>
  read(ctx, async (tx) => {
    const root = await rootByRef(tx, ctx, name);
    const leaves = await countLeaves(tx, ctx, [root.id]);
    const intermediates = await tx.pki_intermediates.findMany({
      where: { ...own(ctx), ca_root_id: root.id },
      orderBy: { n: 'desc' },
      take: 100,
    });
    const crls = await tx.pki_crls.findMany({
      where: { ...own(ctx), ca_root_id: root.id, id: { in: [root.id, ...intermediates.map(({ id }) => id)] } },
      omit: { der: true },
    });
    const order = [...intermediates.map(({ id }) => id), root.id];
    return {
      id: root.id,
      ...(leaves.get(root.id) ?? NONE),
      roles: await tx.pki_roles.count({ where: { ...own(ctx), ca_root_id: root.id } }),
      intermediates: intermediates.map((row) => ({ ...row, status: row.status as (typeof INTERMEDIATE_STATES)[number] })),
      crls: crls
        .toSorted((a, b) => order.indexOf(a.id) - order.indexOf(b.id))
        .map((crl) => ({
          ...crl,
          issuer: crl.id === root.id ? ('root' as const) : ('intermediate' as const),
          url: root.publish ? crlUrl(root, crl.id) : null,
        })),
    };
  });

const NONE = { valid: 0, expiring: 0 };

async function countLeaves(tx: Tx, ctx: Ctx, ids: readonly string[]) {
  const rows = await tx.$queryRaw<{ ca_root_id: string; valid: number; expiring: number }[]>`
    select ca_root_id, count(*)::int as valid, (count(*) filter (where not_after <= ${new Date(ctx.now.getTime() + MONTH_MS)}))::int as expiring
    from pki_certificates where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and ca_root_id = any(${[...ids]}::uuid[])
      and revoked_at is null and not_after > ${ctx.now} group by 1`;
  return new Map(rows.map(({ ca_root_id, valid, expiring }) => [ca_root_id, { valid, expiring }]));
}
