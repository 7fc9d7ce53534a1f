import type { z } from 'zod';
import { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { notFound, Refusal } from '#server/kernel/errors.ts';
import { jsonOfColumn } from '#server/kernel/lossless-json.ts';
import { audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { pageOf } from '#server/kernel/page.ts';
import { pagedRows } from '#server/platform/lists/paged.ts';
import { listUses, mayWrite, problemsHere } from './acceptance.ts';
import { graphOf } from './definition.shared.ts';
import { definitionsOfPage } from './page-definitions.ts';
import { isPublishable } from './publishable.shared.ts';
import type { PublishWorkflow, SaveDraft, VersionRef, WorkflowVersions } from './schema.ts';
import { changed, changeWorkflow } from './service.ts';
import { entryOf, jsonOf, lockedWorkflow, opened, personOf, type WorkflowRow, workflowById } from './store.ts';

// What the editor works on. It saves by itself; nothing of it is live before somebody publishes it.

/** @throws Refusal not_found */
export const getDraft = (ctx: Ctx, { id }: { id: string }) => read(ctx, async (tx) => draftOf(tx, ctx, await workflowById(tx, ctx, id)));

async function draftOf(tx: Tx, ctx: Ctx, row: WorkflowRow) {
  const definition = graphOf(row.draft ?? row.definition);
  const problems = await problemsHere(tx, ctx, definition);
  const names = await namesOf(tx, [row.draft_by]);
  return {
    ...{ definition, base_version: row.draft_revision, version: row.version, is_draft: row.draft !== null },
    ...{ saved_by: names(row.draft_by), saved_at: row.draft_at, valid: isPublishable(problems), problems },
  };
}

/** Names of people, also of those who left. */
export async function namesOf(
  tx: Tx,
  ids: readonly (string | null)[],
): Promise<(id: string | null) => { id: string; name: string } | null> {
  const known = [...new Set(ids.flatMap((id) => id ?? []))];
  const people =
    known.length === 0 ? [] : await tx.users.findMany({ where: { id: { in: known } }, select: { id: true, full_name: true, email: true } });
  const byId = new Map(people.map((one) => [one.id, one]));
  return (id) => {
    if (id === null) return null;
    const person = byId.get(id);
    return { id, name: person?.full_name || person?.email || 'A former member' };
  };
}

/** Saves what the editor has. @throws Refusal not_found, conflict when it was saved since by somebody else, forbidden for secrets that the person can't read */
export function saveDraft(ctx: Ctx, { id, definition, base_version }: z.output<typeof SaveDraft>) {
  return mutate(ctx, async (tx) => {
    const before = await lockedWorkflow(tx, ctx, id);
    await requireCurrent(tx, before, base_version);
    await mayWrite(tx, ctx, definition);
    const row = opened(await tx.workflows.update({ where: { id: before.id, ...own(ctx) }, data: draftData(ctx, before, definition) }));
    await listUses(tx, ctx, row);
    return unchanged(await draftOf(tx, ctx, row));
  });
}

const draftData = (ctx: Ctx, before: WorkflowRow, definition: unknown) => ({
  ...{ draft: jsonOf(definition), draft_revision: before.draft_revision + 1, draft_by: personOf(ctx), draft_at: ctx.now },
});

async function requireCurrent(tx: Tx, row: WorkflowRow, base: number | undefined): Promise<void> {
  if (base === undefined || base === row.draft_revision) return;
  const by = (await namesOf(tx, [row.draft_by]))(row.draft_by);
  throw new Refusal('conflict', `${by?.name ?? 'An API credential'} saved this workflow meanwhile. Load it again, then make your change.`, {
    extra: { base_version: row.draft_revision, saved_by: by, saved_at: row.draft_at?.toISOString() ?? null },
  });
}

/** Makes the draft live, as the next version, and turns the workflow on. @throws Refusal not_found, conflict, invalid_definition, forbidden, tenant_sealed */
export function publishWorkflow(ctx: Ctx, { id, base_version, note }: z.output<typeof PublishWorkflow>) {
  return mutate(ctx, async (tx) => {
    const before = await lockedWorkflow(tx, ctx, id);
    await requireCurrent(tx, before, base_version);
    const definition = graphOf(before.draft ?? before.definition);
    await mayWrite(tx, ctx, definition);
    const published = await changeWorkflow(tx, ctx, before, { definition, enabled: true, note: note ?? null });
    const row =
      before.draft === null ? published : opened(await tx.workflows.update({ where: { id: before.id }, data: { draft: Prisma.DbNull } }));
    await listUses(tx, ctx, row);
    return changed(before, row);
  });
}

/** Every version, newest first. @throws Refusal not_found */
export const listVersions = (ctx: Ctx, { id, ...asked }: z.output<typeof WorkflowVersions>) =>
  read(ctx, async (tx) => {
    const row = await workflowById(tx, ctx, id);
    const where = { ...own(ctx), workflow_id: row.id };
    const total = await tx.workflow_versions.count({ where });
    const versions = await pagedRows(
      asked,
      total,
      [{ version: 'desc' }],
      (window) => tx.workflow_versions.findMany({ where, ...window, select: { id: true } }),
      (ids) => tx.workflow_versions.findMany({ where: { ...own(ctx), id: { in: ids } }, omit: { definition: true } }),
    );
    const ids = versions.map((one) => one.id);
    const definitions = await definitionsOfPage(tx, ctx, 'workflow_versions', ids);
    const names = await namesOf(
      tx,
      versions.map(({ created_by }) => created_by),
    );
    return pageOf(
      versions.map((one) => ({
        ...{ version: one.version, definition: definitions.get(one.id) ?? null, note: one.note, created_at: one.created_at },
        ...{ created_by: names(one.created_by), live: one.version === row.version },
      })),
      total,
      asked,
    );
  });

/** Makes an earlier version the draft: publishing it is the next step, so that nothing goes live unseen. @throws Refusal not_found, forbidden */
export function restoreVersion(ctx: Ctx, { id, n }: z.output<typeof VersionRef>) {
  return mutate(ctx, async (tx) => {
    const before = await lockedWorkflow(tx, ctx, id);
    const version = /^[1-9][0-9]{0,8}$/.test(n) ? Number(n) : 0;
    const kept = await tx.workflow_versions.findFirst({ where: { ...own(ctx), workflow_id: before.id, version } });
    if (!kept) throw notFound();
    const definition = graphOf(jsonOfColumn(kept.definition));
    await mayWrite(tx, ctx, definition);
    const row = opened(await tx.workflows.update({ where: { id: before.id, ...own(ctx) }, data: draftData(ctx, before, definition) }));
    await listUses(tx, ctx, row);
    return audited(await draftOf(tx, ctx, row), entryOf('restore', row, { version }));
  });
}
