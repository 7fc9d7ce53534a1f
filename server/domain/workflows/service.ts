import type { z } from 'zod';
import { authorityOf } from '#server/domain/authorities/service.ts';
import { withinPlan } from '#server/domain/plans/service.ts';
import { Prisma } from '#server/generated/prisma/client.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { isExact } from '#server/kernel/lossless-json.ts';
import { type AuditEntry, audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { pageOf } from '#server/kernel/page.ts';
import { inOrder, listIds } from '#server/platform/lists/list.ts';
import { followWorkflow, forgetReferences, mayWrite, problemsHere, requirePublishable } from './acceptance.ts';
import { type Definition, graphOf, type TriggerType, triggerTypeOf, withTriggerConfig } from './definition.shared.ts';
import { definitionsOfPage } from './page-definitions.ts';
import { firstError, isPublishable } from './publishable.shared.ts';
import { syncSubscription } from './schedules.ts';
import type { CreateWorkflow, ListWorkflows, UpdateWorkflow, Workflow } from './schema.ts';
import { entryOf, jsonOf, lockedWorkflow, opened, personOf, type WorkflowRow, workflowById } from './store.ts';

export const listWorkflows = (ctx: Ctx, { enabled, trigger_type, ...query }: z.output<typeof ListWorkflows>) =>
  read(ctx, async (tx) => {
    const { ids, total } = await listIds(tx, ctx, {
      ...query,
      table: 'workflows',
      filters: [
        enabled !== undefined && { column: 'enabled', is: enabled, mostly: true },
        trigger_type !== undefined && { where: (bind) => `trigger_type = ${bind(trigger_type, 'text')}` },
      ],
    });
    const rows = await tx.workflows.findMany({ where: { ...own(ctx), id: { in: ids } }, omit: { definition: true } });
    const definitions = await definitionsOfPage(tx, ctx, 'workflows', ids);
    const listed = inOrder(ids, rows).map((row) => ({
      ...shown({ ...row, definition: null }),
      definition: definitions.get(row.id) ?? null,
    }));
    return pageOf(listed, total, query);
  });

export const getWorkflow = (ctx: Ctx, { id }: { id: string }) => read(ctx, async (tx) => shown(await workflowById(tx, ctx, id)));

/** A row as its schema wants it: the database keeps words and JSON without their types. */
export const shown = (row: WorkflowRow) => ({
  ...row,
  definition: row.definition as Record<string, unknown>,
  trigger_type: row.trigger_type as TriggerType | null,
  disabled_reason: row.disabled_reason as z.output<typeof Workflow>['disabled_reason'],
});

/** What publishing would say of a definition. */
export const validateWorkflow = (ctx: Ctx, { definition }: { definition: Definition }) =>
  read(ctx, async (tx) => {
    const problems = await problemsHere(tx, ctx, definition);
    return { valid: isPublishable(problems), problems };
  });

/**
 * A definition that isn't publishable is stored, and then never live: `enabled` is false in the answer (interface rule 62 §2 rule 1).
 * @throws Refusal validation_error, plan_limit, forbidden for secrets that the caller can't read, tenant_sealed
 */
export function createWorkflow(ctx: Ctx, { trigger_config, enabled = false, ...input }: z.output<typeof CreateWorkflow>) {
  return mutate(ctx, async (tx) => {
    const definition = trigger_config ? withTriggerConfig(input.definition, trigger_config) : input.definition;
    const row = await insertWorkflow(tx, ctx, { ...input, definition, enabled });
    return audited(shown(row), entryOf('create', row, { enabled: row.enabled, trigger_type: row.trigger_type }));
  });
}

export type NewWorkflow = {
  name: string;
  description?: string | null | undefined;
  definition: Definition;
  environment?: string | null | undefined;
  timeout_seconds?: number | null | undefined;
  enabled: boolean;
};

/** The row with its first version and all that follows from it. @throws as createWorkflow */
export async function insertWorkflow(tx: Tx, ctx: Ctx, { definition, enabled: asked, ...input }: NewWorkflow): Promise<WorkflowRow> {
  await withinPlan(tx, ctx, 'workflows');
  await checkEnvironment(tx, ctx, input.environment ?? null);
  await mayWrite(tx, ctx, definition);
  const problem = asked ? firstError(await problemsHere(tx, ctx, definition)) : null;
  const enabled = asked && problem === null;
  if (problem !== null)
    ctx.warnings.push(
      `The workflow is stored and not enabled, since its definition can't be published: ${problem}. Correct it, then enable the workflow.`,
    );
  const created = await tx.workflows.create({
    data: {
      ...own(ctx),
      ...input,
      ...{ id: newId(), definition: jsonOf(definition), trigger_type: triggerTypeOf(definition), enabled, created_by: personOf(ctx) },
      authority: authorityOf(ctx) ?? Prisma.DbNull,
      disabled_reason: enabled ? null : problem === null ? 'manual' : 'invalid_definition',
      published_at: enabled ? ctx.now : null,
      ...{ created_at: ctx.now, updated_at: ctx.now },
    },
  });
  const row = opened(created);
  await keepVersion(tx, ctx, row, null);
  await followWorkflow(tx, ctx, row);
  return row;
}

async function checkEnvironment(tx: Tx, ctx: Ctx, name: string | null): Promise<void> {
  if (name === null) return;
  const found = await tx.environments.findFirst({ where: { ...own(ctx), name }, select: { id: true } });
  if (!found) throw invalid('environment', "names an environment that doesn't exist in this space");
}

/** The definition of the row as its version. */
export async function keepVersion(tx: Tx, ctx: Ctx, row: WorkflowRow, note: string | null): Promise<void> {
  await tx.workflow_versions.create({
    data: {
      ...own(ctx),
      ...{ id: newId(), workflow_id: row.id, version: row.version, definition: jsonOf(row.definition), note },
      ...{ created_by: personOf(ctx), created_at: ctx.now },
    },
  });
}

/**
 * Changes what is given. A new definition is a new version; while the workflow is enabled it must be publishable.
 * @throws Refusal not_found, invalid_definition, and as createWorkflow
 */
export function updateWorkflow(ctx: Ctx, { id, trigger_config, ...input }: z.output<typeof UpdateWorkflow>) {
  return mutate(ctx, async (tx) => {
    const before = await lockedWorkflow(tx, ctx, id);
    if (input.environment !== undefined) await checkEnvironment(tx, ctx, input.environment);
    const given = trigger_config ? withTriggerConfig(input.definition ?? before.definition, trigger_config) : input.definition;
    const row = await changeWorkflow(tx, ctx, before, { ...input, definition: given });
    return changed(before, row);
  });
}

export type Change = Partial<Omit<NewWorkflow, 'definition'>> & { definition?: Definition | undefined; note?: string | null };

/** The one way in which a workflow changes: keeps version, `published_at` and what follows in step. @throws Refusal invalid_definition, forbidden, tenant_sealed */
export async function changeWorkflow(tx: Tx, ctx: Ctx, before: WorkflowRow, { definition: given, note = null, ...input }: Change) {
  const definition = given !== undefined && !sameJson(given, before.definition) ? given : undefined;
  const enabled = input.enabled ?? before.enabled;
  const live = definition ?? graphOf(before.definition);
  // Who sends a definition again, or publishes again, stands behind it from now on, also where nothing else changes. So does who changes the environment: it
  // decides which values secrets have, and which environment of a route is called.
  const moves = input.environment !== undefined && input.environment !== before.environment;
  const stands = given !== undefined || input.enabled === true || moves;
  if (stands) await mayWrite(tx, ctx, live);
  const authority = stands ? authorityOf(ctx) : before.authority;
  const goesLive = enabled && (definition !== undefined || !before.enabled);
  if (goesLive) requirePublishable(await problemsHere(tx, ctx, live));
  const updated = await tx.workflows.update({
    where: { id: before.id, ...own(ctx) },
    data: {
      ...input,
      ...(sameJson(authority, before.authority) ? {} : { authority: authority ?? Prisma.DbNull }),
      ...(definition && {
        definition: jsonOf(definition),
        version: before.version + 1,
        trigger_type: triggerTypeOf(definition),
        // Editors that opened the definition before are told.
        draft_revision: before.draft_revision + 1,
        ...{ draft_by: personOf(ctx), draft_at: ctx.now },
      }),
      ...(goesLive ? { published_at: ctx.now } : definition ? { published_at: null } : {}),
      ...(enabled === before.enabled && !(definition && before.disabled_reason === 'invalid_definition')
        ? {}
        : { disabled_reason: enabled ? null : 'manual' }),
      updated_at: ctx.now,
    },
  });
  const row = opened(updated);
  if (definition) await keepVersion(tx, ctx, row, note);
  if (definition || enabled !== before.enabled) await followWorkflow(tx, ctx, row);
  return row;
}

const sameJson = (a: unknown, b: unknown): boolean => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));

/** PostgreSQL keeps the members of JSON in an order of its own. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null || isExact(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, one]) => [name, sorted(one)]),
  );
}

/** Turning it on or off is an entry of its own. A definition is named as changed: its versions tell what it was. */
export function changed(before: WorkflowRow, after: WorkflowRow) {
  const shownChanges = changesOf(before, after, ['name', 'description', 'environment', 'timeout_seconds', 'version']);
  const changes = [
    ...shownChanges,
    ...(before.version === after.version ? [] : [{ field: 'definition', changed: true as const }]),
    ...(sameJson(before.authority, after.authority) ? [] : [{ field: 'authority', changed: true as const }]),
  ];
  const entries: AuditEntry[] = [
    ...(before.enabled === after.enabled ? [] : [entryOf(after.enabled ? 'enable' : 'disable', after)]),
    ...(changes.length > 0 ? [{ ...entryOf('update', after), changes }] : []),
  ];
  const [first, ...more] = entries;
  return first ? audited(shown(after), first, more) : unchanged(shown(after));
}

/** With its versions, URL and runs: what runs is given up, what waits never starts. @throws Refusal not_found */
export function deleteWorkflow(ctx: Ctx, { id }: { id: string }) {
  return mutate(ctx, async (tx) => {
    const row = await lockedWorkflow(tx, ctx, id);
    await syncSubscription(tx, ctx, { ...row, enabled: false });
    await forgetReferences(tx, ctx, row.id);
    await tx.workflows.delete({ where: { id: row.id, ...own(ctx) } });
    return audited({ id: row.id, deleted: true as const }, entryOf('delete', row));
  });
}
