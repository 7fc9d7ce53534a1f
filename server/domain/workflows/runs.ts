import type { z } from 'zod';
import { outputSchema } from '#server/ai/schema/output-schema.ts';
import { InvalidSchema } from '#server/ai/schema/shape.ts';
import { allOf, authorityOf, storedAuthority } from '#server/domain/authorities/service.ts';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { auditActor, type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, notFound } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { jsonOfColumn } from '#server/kernel/lossless-json.ts';
import { type AuditEntry, audited, mutate } from '#server/kernel/mutate.ts';
import { pageOf } from '#server/kernel/page.ts';
import { pagedRows } from '#server/platform/lists/paged.ts';
import { problemsHere, requirePublishable } from './acceptance.ts';
import {
  configOf,
  type Definition,
  type ExecutionStatus,
  type ExecutionTrigger,
  graphOf,
  isRecord,
  type NodeStatus,
  triggerOf,
} from './definition.shared.ts';
import { cancelExecution as cancel, enqueueExecution, retryExecution as retry, type Start, type TriggeredBy } from './engine/executions.ts';
import { executionViews } from './engine/views.ts';
import { mayCallRoutes } from './routes-called.ts';
import type { BrowseExecutions, ExecuteWorkflow, ListExecutions, RetryExecution, RunWorkflow } from './schema.ts';
import { lockedWorkflow, type WorkflowRow, workflowById } from './store.ts';

const SEALED = { value_ct: true, cek_wrapped: true, tmk_version: true } as const;
type Row = Prisma.workflow_executionsGetPayload<{ omit: typeof SEALED }>;

/**
 * Starts a run of the live version, enabled or not (interface rule 62 §2 rule 3). @throws Refusal not_found, invalid_definition, validation_error when the
 * input doesn't fit the trigger's schema, rate_limit_exceeded, tenant_sealed
 */
export function executeWorkflow(ctx: Ctx, { id, input }: z.output<typeof ExecuteWorkflow>) {
  return mutate(ctx, async (tx) => {
    const row = await workflowById(tx, ctx, id);
    return started(tx, ctx, row, { version: row.version, definition: graphOf(row.definition), input });
  });
}

/** The same from the dashboard, which may also run the draft (a run of type test) or an earlier version. @throws as executeWorkflow */
export function runWorkflow(ctx: Ctx, { id, input, version }: z.output<typeof RunWorkflow>) {
  return mutate(ctx, async (tx) => {
    const row = await workflowById(tx, ctx, id);
    if (version === 'draft')
      return started(tx, ctx, row, { version: null, definition: graphOf(row.draft ?? row.definition), input, trigger_type: 'test' });
    if (version === undefined || version === row.version)
      return started(tx, ctx, row, { version: row.version, definition: graphOf(row.definition), input });
    const earlier = await tx.workflow_versions.findFirst({ where: { ...own(ctx), workflow_id: row.id, version } });
    if (!earlier) throw invalid('version', "doesn't exist");
    return started(tx, ctx, row, { version, definition: graphOf(jsonOfColumn(earlier.definition)), input });
  });
}

type Started = { version: number | null; definition: Definition; input: unknown; trigger_type?: ExecutionTrigger };

async function started(tx: Tx, ctx: Ctx, row: WorkflowRow, { definition, input, version, trigger_type }: Started) {
  requirePublishable(await problemsHere(tx, ctx, definition));
  await mayCallRoutes(ctx, definition);
  await checkInput(definition, input);
  const type = trigger_type ?? (ctx.actor.type === 'member' ? 'manual' : 'api');
  const start: Start = {
    workflow: row,
    ...{ version, definition, trigger_type: type, triggered_by: callerOf(ctx) },
    // A draft has nobody but who runs it.
    authorities: version === null ? allOf(authorityOf(ctx)) : allOf(storedAuthority(row.authority), authorityOf(ctx)),
    input: { type, data: input ?? null, timestamp: ctx.now.toISOString() },
  };
  const queued = await enqueueExecution(tx, ctx, start);
  return audited(
    queued,
    entryOfRun('execute', queued.id, row.name, { workflow_id: row.id, workflow_version: version, trigger_type: type }),
  );
}

/** The schema of a manual trigger, if it has one (interface rule 62 §5). @throws Refusal validation_error */
async function checkInput(definition: Definition, input: unknown): Promise<void> {
  const trigger = triggerOf(definition);
  const schema = trigger && configOf(trigger).inputSchema;
  if (!isRecord(schema)) return;
  try {
    const [fault] = (await outputSchema(schema)).faults(JSON.stringify(input ?? null));
    if (fault) throw invalid(`input${fault.path.replaceAll('/', '.')}`, `doesn't fit the schema of the trigger: ${fault.message}`);
  } catch (error) {
    if (error instanceof InvalidSchema) throw invalid('input', `can't be checked by the inputSchema of the trigger: ${error.message}`);
    throw error;
  }
}

export function callerOf({ actor }: Ctx): TriggeredBy {
  const { type, id, label } = auditActor(actor);
  return { type, id, label };
}

const entryOfRun = (action: string, id: string, name: string, details: Record<string, unknown>): AuditEntry => ({
  ...{ action, resource_type: 'workflow_execution', resource_id: id, name, details },
});

/** The runs of a workflow, newest first. @throws Refusal not_found */
export const listExecutions = (ctx: Ctx, { id, ...query }: z.output<typeof ListExecutions>) =>
  read(ctx, async (tx) => {
    const { id: workflow_id } = await workflowById(tx, ctx, id);
    return page(tx, ctx, { ...query, workflow_id });
  });

/** The runs of every workflow of the space, newest first. */
export const browseExecutions = (ctx: Ctx, query: z.output<typeof BrowseExecutions>) =>
  read(ctx, async (tx) => {
    const found = await page(tx, ctx, query);
    const ids = found.rows.map(({ workflow_id }) => workflow_id);
    const named = await tx.workflows.findMany({ where: { ...own(ctx), id: { in: ids } }, select: { id: true, name: true } });
    const names = new Map(named.map(({ id, name }) => [id, name]));
    return { ...found, rows: found.rows.map((row) => ({ ...row, workflow_name: names.get(row.workflow_id) ?? '' })) };
  });

type Query = z.output<typeof BrowseExecutions>;

async function page(tx: Tx, ctx: Ctx, { workflow_id, status, trigger_type, from, to, ...asked }: Query) {
  const where: Prisma.workflow_executionsWhereInput = {
    ...own(ctx),
    ...(workflow_id === undefined ? {} : { workflow_id }),
    ...(trigger_type === undefined ? {} : { trigger_type }),
    ...(status === undefined ? {} : { status: status === 'running' && hidesWaiting(ctx) ? { in: ['running', 'waiting'] } : status }),
    ...(from === undefined && to === undefined
      ? {}
      : { created_at: { ...(from && { gte: new Date(from) }), ...(to && { lte: new Date(to) }) } }),
  };
  const total = await tx.workflow_executions.count({ where });
  const rows = await pagedRows(
    asked,
    total,
    [{ created_at: 'desc' }, { id: 'desc' }],
    (window) => tx.workflow_executions.findMany({ where, ...window, select: { id: true } }),
    (ids) => tx.workflow_executions.findMany({ where: { ...own(ctx), id: { in: ids } }, omit: SEALED }),
  );
  return pageOf(
    rows.map((row) => shown(ctx, row)),
    total,
    asked,
  );
}

/** A run that waits for its timers is running to programs; people see the difference (interface rule 62 §4.1). */
const hidesWaiting = ({ actor }: Ctx): boolean => actor.type !== 'member';

const shown = (ctx: Ctx, row: Row) => ({
  ...row,
  status: (row.status === 'waiting' && hidesWaiting(ctx) ? 'running' : row.status) as ExecutionStatus,
  trigger_type: row.trigger_type as ExecutionTrigger,
  triggered_by: row.triggered_by as TriggeredBy,
});

async function executionById(tx: Tx, ctx: Ctx, id: string): Promise<Row> {
  const row = isUuid(id) ? await tx.workflow_executions.findFirst({ where: { ...own(ctx), id: id.toLowerCase() }, omit: SEALED }) : null;
  if (!row) throw notFound();
  return row;
}

/** A run with the runs of its nodes. @throws Refusal not_found, tenant_sealed */
export const getExecution = (ctx: Ctx, { id }: { id: string }) =>
  read(ctx, async (tx) => {
    const row = await executionById(tx, ctx, id);
    return { ...shown(ctx, row), node_executions: await nodesOf(tx, ctx, row.id) };
  });

async function nodesOf(tx: Tx, ctx: Ctx, execution_id: string) {
  return (await executionViews(tx, ctx, execution_id)).map((one) => ({ ...one, status: one.status as NodeStatus }));
}

/** The same with the definition that ran, for its page. @throws Refusal not_found, tenant_sealed */
export const inspectExecution = (ctx: Ctx, { id }: { id: string }) =>
  read(ctx, async (tx) => {
    const row = await executionById(tx, ctx, id);
    const workflow = await workflowById(tx, ctx, row.workflow_id);
    return {
      ...shown(ctx, row),
      node_executions: await nodesOf(tx, ctx, row.id),
      workflow_name: workflow.name,
      definition: await definitionOf(tx, ctx, row, workflow),
    };
  });

async function definitionOf(tx: Tx, ctx: Ctx, row: Row, workflow: WorkflowRow): Promise<Record<string, unknown>> {
  if (row.definition !== null) return jsonOfColumn(row.definition) as Record<string, unknown>;
  const version = row.workflow_version ?? workflow.version;
  const kept = await tx.workflow_versions.findFirst({
    where: { ...own(ctx), workflow_id: workflow.id, version },
    select: { definition: true },
  });
  return (kept ? jsonOfColumn(kept.definition) : workflow.definition) as Record<string, unknown>;
}

/** @throws Refusal not_found, not_cancellable once it has ended */
export const cancelExecution = (ctx: Ctx, { id }: { id: string }) =>
  mutate(ctx, async (tx) => {
    const row = await executionById(tx, ctx, id);
    const { status } = await cancel(tx, ctx, row.id);
    const { name } = await workflowById(tx, ctx, row.workflow_id);
    return audited({ id: row.id, status }, entryOfRun('cancel', row.id, name, { workflow_id: row.workflow_id }));
  });

/** @throws Refusal not_found, conflict unless it failed or was cancelled, invalid_definition, rate_limit_exceeded, tenant_sealed */
export const retryExecution = (ctx: Ctx, { id, from }: z.output<typeof RetryExecution>) =>
  mutate(ctx, async (tx) => {
    const row = await executionById(tx, ctx, id);
    const workflow = await lockedWorkflow(tx, ctx, row.workflow_id);
    const definition = graphOf(await definitionOf(tx, ctx, row, workflow));
    requirePublishable(await problemsHere(tx, ctx, definition));
    await mayCallRoutes(ctx, definition);
    const queued = await retry(tx, ctx, { id: row.id, from, triggered_by: callerOf(ctx) });
    return audited(queued, entryOfRun('execute', queued.id, workflow.name, { workflow_id: workflow.id, retry_of: row.id, from }));
  });
