import type { z } from 'zod';
import type { Prisma } from '#server/generated/prisma/client.ts';
import type { Capability } from '#server/kernel/capabilities.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { onUnique } from '#server/kernel/conflicts.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, notFound, Refusal } from '#server/kernel/errors.ts';
import type { Family, ViewRights } from '#server/kernel/family.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import { type CreateView, type ListViews, type UpdateView, VIEWS_PER_PERSON } from './schema.ts';

type Row = Prisma.saved_viewsGetPayload<object>;

/** One's own views of a page and the shared ones, by name. @throws Refusal role_denied */
export function listViews(ctx: Ctx, { page }: z.output<typeof ListViews>, families: readonly Family[]) {
  const person = personIn(ctx);
  require(ctx, rightsIn(families, page).see);
  return read(ctx, async (tx) => {
    const rows = await tx.saved_views.findMany({
      where: { ...own(ctx), page, OR: [{ owner_id: person.id }, { shared: true }] },
      orderBy: [{ shared: 'asc' }, { name: 'asc' }, { id: 'asc' }],
    });
    return rows.map((row) => shown(row, person.id));
  });
}

/** Anybody who sees the page keeps private views; only a shared one is an event of the workspace. @throws Refusal role_denied, conflict */
export function createView(ctx: Ctx, { is_default, ...input }: z.output<typeof CreateView>, families: readonly Family[]) {
  const person = personIn(ctx);
  const { see, share } = rightsIn(families, input.page);
  require(ctx, see);
  if (input.shared) require(ctx, share);
  return mutate(ctx, async (tx) => {
    await inTurn(tx, ctx, person.id);
    const mine = await tx.saved_views.count({ where: { ...own(ctx), page: input.page, owner_id: person.id } });
    if (mine >= VIEWS_PER_PERSON) throw invalid('name', `you already have ${VIEWS_PER_PERSON} views of this page; delete one first`);
    if (is_default) await noDefault(tx, ctx, input.page, person.id);
    const row = await tx.saved_views
      .create({
        data: {
          ...own(ctx),
          ...input,
          id: newId(),
          owner_id: person.id,
          owner_label: person.label,
          default_for: is_default ? [person.id] : [],
          created_at: ctx.now,
          updated_at: ctx.now,
        },
      })
      .catch(onUnique(TAKEN));
    return row.shared ? audited(shown(row, person.id), entry('create', row)) : unchanged(shown(row, person.id));
  });
}

/**
 * `is_default` is each person's own choice, also of a shared view; everything else belongs to its owner, and of a shared view to Owners and Admins too.
 * @throws Refusal not_found, role_denied, conflict
 */
export function updateView(ctx: Ctx, { id, is_default, ...input }: z.output<typeof UpdateView>, families: readonly Family[]) {
  const person = personIn(ctx);
  return mutate(ctx, async (tx) => {
    await inTurn(tx, ctx, person.id);
    const { row: before, rights } = await viewById(tx, ctx, id, person.id, families);
    const edits = Object.values(input).some((value) => value !== undefined);
    if (edits) mayEdit(ctx, before, rights);
    if (input.shared && !before.shared) require(ctx, rights.share);
    // A view that is no longer shared leaves the pages of the others.
    const audience = input.shared === false ? before.default_for.filter((one) => one === before.owner_id) : before.default_for;
    if (is_default) await noDefault(tx, ctx, before.page, person.id);
    const without = audience.filter((one) => one !== person.id);
    const after = await tx.saved_views
      .update({
        where: { id: before.id, ...own(ctx) },
        data: {
          ...input,
          default_for: is_default === undefined ? audience : is_default ? [...without, person.id] : without,
          updated_at: edits ? ctx.now : before.updated_at,
        },
      })
      .catch(onUnique(TAKEN));
    const changes = changesOf(before, after, Object.keys(input));
    return (before.shared || after.shared) && changes.length > 0
      ? audited(shown(after, person.id), { ...entry('update', after), changes })
      : unchanged(shown(after, person.id));
  });
}

/** @throws Refusal not_found, role_denied */
export function deleteView(ctx: Ctx, { id }: { id: string }, families: readonly Family[]) {
  const person = personIn(ctx);
  return mutate(ctx, async (tx) => {
    const { row, rights } = await viewById(tx, ctx, id, person.id, families);
    mayEdit(ctx, row, rights);
    await tx.saved_views.delete({ where: { id: row.id, ...own(ctx) }, select: { id: true } });
    const answer = { deleted: true as const };
    return row.shared ? audited(answer, entry('delete', row)) : unchanged(answer);
  });
}

const savedViewsOf = (families: readonly Family[]): Record<string, ViewRights> =>
  Object.assign({}, ...families.map(({ savedViews }) => savedViews));

/** @throws Refusal validation_error for a page that keeps no views */
function rightsIn(families: readonly Family[], page: string): ViewRights {
  const all = savedViewsOf(families);
  const rights = Object.hasOwn(all, page) ? all[page] : undefined;
  if (!rights) throw invalid('page', `must be one of ${Object.keys(all).join(', ')}`);
  return rights;
}

const TAKEN = 'You already have a view of this page with this name.';

const shown = ({ default_for, owner_id, owner_label, ...row }: Row, personId: string) => ({
  ...row,
  mine: owner_id === personId,
  is_default: default_for.includes(personId),
  owner: owner_label,
});

const entry = (action: string, row: Row) => ({
  action,
  resource_type: 'view',
  resource_id: row.id,
  name: row.name,
  details: { page: row.page, shared: row.shared },
});

/** A private view of somebody else does not exist for anybody, nor a shared one for who does not see its page. @throws Refusal not_found */
async function viewById(
  tx: Tx,
  ctx: Ctx,
  id: string,
  personId: string,
  families: readonly Family[],
): Promise<{ row: Row; rights: ViewRights }> {
  const row = isUuid(id)
    ? await tx.saved_views.findFirst({ where: { ...own(ctx), id, OR: [{ owner_id: personId }, { shared: true }] } })
    : null;
  const rights = row && savedViewsOf(families)[row.page];
  if (!rights || !ctx.actor.capabilities.has(rights.see)) throw notFound();
  return { row, rights };
}

function mayEdit(ctx: Ctx, row: Row, { share }: ViewRights): void {
  if (row.owner_id === ctx.actor.id) {
    if (row.shared) require(ctx, share);
    return;
  }
  if (!ctx.actor.capabilities.has('settings:update'))
    throw new Refusal('role_denied', `This view is shared by ${row.owner_label}. Only that person, an Owner or an Admin can change it.`);
}

const noDefault = (tx: Tx, ctx: Ctx, page: string, personId: string) =>
  tx.$executeRaw`update saved_views set default_for = array_remove(default_for, ${personId}::uuid)
    where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and page = ${page} and ${personId}::uuid = any(default_for)`;

/** Changes of one person's views run one after the other: the number of them and the one default are judged and changed in one step. */
const inTurn = (tx: Tx, ctx: Ctx, personId: string) => holdLock(tx, `${ctx.tenant_id}:views:${personId}`);

function personIn(ctx: Ctx) {
  if (ctx.actor.type !== 'member') throw new Refusal('role_denied', 'Only signed-in people have views.');
  return ctx.actor;
}

function require(ctx: Ctx, capability: Capability): void {
  if (!ctx.actor.capabilities.has(capability))
    throw new Refusal(
      'role_denied',
      `Sharing or seeing views of this page requires the capability ${capability}. Ask an Owner or Admin of the workspace.`,
    );
}

/** A person who leaves takes their private views along; shared ones stay with the workspace. */
export async function endPrivateViews(tx: Tx, ctx: Ctx, userId: string): Promise<{ saved_views: number }> {
  const { count } = await tx.saved_views.deleteMany({ where: { ...own(ctx), owner_id: userId, shared: false } });
  await tx.$executeRaw`
    update saved_views set default_for = array_remove(default_for, ${userId}::uuid)
    where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and ${userId}::uuid = any(default_for)`;
  return { saved_views: count };
}
