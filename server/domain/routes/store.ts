import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import { trimEnd } from '#server/kernel/trim-end.ts';
import { changedFields, columnsOf, type Draft } from './config/draft.ts';

export type StoredRoute = Awaited<ReturnType<typeof routeByRef>>;

/** A route by id or slug with all its configurations, the base first, then by name. @throws Refusal not_found */
export async function routeByRef(tx: Tx, ctx: Ctx, ref: string) {
  const row = await tx.routes.findFirst({
    where: { ...own(ctx), ...(isUuid(ref) ? { id: ref } : { slug: ref }) },
    include: { configs: { orderBy: [{ is_base: 'desc' }, { environment_name: 'asc' }] } },
  });
  if (!row) throw notFound();
  return row;
}

/**
 * As `routeByRef`, holding the route until the transaction ends: two changes of one route run one after the other.
 * @throws Refusal not_found, conflict for a route that an AI agent brought with it, unless the agent changes it (`managed`)
 */
export async function lockRoute(tx: Tx, ctx: Ctx, ref: string, { managed = false } = {}): Promise<StoredRoute> {
  const [row] = isUuid(ref)
    ? await tx.$queryRaw<
        { id: string }[]
      >`select id::text from routes where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and id = ${ref}::uuid for update`
    : await tx.$queryRaw<
        { id: string }[]
      >`select id::text from routes where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and slug = ${ref} for update`;
  if (!row) throw notFound();
  const route = await routeByRef(tx, ctx, row.id);
  if (route.managed_by !== null && !managed)
    throw new Refusal('conflict', 'This route came with an AI agent, and changes with it. Change or archive the agent instead.');
  return route;
}

/** Ids of the space's environments by name, for rows about to be written. */
export async function environmentIds(tx: Tx, ctx: Ctx, names: readonly string[]): Promise<Map<string, string>> {
  const rows = await tx.environments.findMany({ where: { ...own(ctx), name: { in: [...names] } }, select: { id: true, name: true } });
  return new Map(rows.map((e) => [e.name, e.id]));
}

/** Writes what differs between two drafts of a route: rows made, rewritten, removed. `ids` names the environments of new rows. */
export async function storeDraft(
  tx: Tx,
  ctx: Ctx,
  route: { id: string },
  before: Draft | null,
  after: Draft,
  ids: Map<string, string>,
): Promise<void> {
  // The old base gives up its mark before the new one takes it: a route never has two.
  const ordered = [...after.locals.keys()].sort((a, b) => Number(a === after.base) - Number(b === after.base));
  for (const name of ordered) {
    const columns = columnsOf(after, name);
    if (!before?.locals.has(name)) {
      const environment_id = ids.get(name);
      if (!environment_id) throw new Error('an environment of the draft has no id');
      await tx.route_environment_configs.create({
        data: { ...own(ctx), ...columns, id: newId(), route_id: route.id, environment_id, created_at: ctx.now, updated_at: ctx.now },
        select: { id: true },
      });
    } else if (changedFields(before, after, name).length > 0 || (before.base === name) !== (after.base === name)) {
      await tx.route_environment_configs.updateMany({
        where: { ...own(ctx), route_id: route.id, environment_name: name },
        data: { ...columns, updated_at: ctx.now },
      });
    }
  }
}

/** The first free slug of base, base-2, base-3, …; asks in growing batches, so that a thousand namesakes cost three questions. */
export async function freeSlug(tx: Tx, ctx: Ctx, base: string | null): Promise<string | null> {
  if (base === null) return null;
  await holdLock(tx, `${ctx.tenant_id}:${ctx.sandbox}:route:${base}`);
  for (let from = 1, size = 10; ; from += size, size *= 10) {
    const candidates = Array.from({ length: size }, (_, i) => (from + i === 1 ? base : suffixed(base, `-${from + i}`)));
    const taken = await tx.routes.findMany({ where: { ...own(ctx), slug: { in: candidates } }, select: { slug: true } });
    const used = new Set(taken.map((r) => r.slug));
    const free = candidates.find((slug) => !used.has(slug));
    if (free) return free;
  }
}

/** "Name (copy)", "Name (copy 2)", … */
export async function freeCopyName(tx: Tx, ctx: Ctx, name: string): Promise<string> {
  for (let n = 1; ; n++) {
    const candidate = suffixed(name, n === 1 ? ' (copy)' : ` (copy ${n})`, 100);
    if (!(await tx.routes.findFirst({ where: { ...own(ctx), name: candidate }, select: { id: true } }))) return candidate;
  }
}

const suffixed = (text: string, suffix: string, max = 63) => `${trimEnd(text.slice(0, max - suffix.length), '- ')}${suffix}`;
