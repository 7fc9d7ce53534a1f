import { allOf, authorityOf, storedAuthority } from '#server/domain/authorities/service.ts';
import { Prisma } from '#server/generated/prisma/client.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { inTransaction } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { columnJson } from '#server/kernel/lossless-json.ts';
import { db } from '#server/platform/db.ts';
import { assertOwnDatabase } from '#server/testing/database.ts';
import { fresh } from '#server/testing/factories.ts';
import { onFileEnd } from '#server/testing/file-end.ts';
import { until } from '#server/testing/until.ts';
import { type Definition, graphOf, isTerminal, triggerTypeOf, type WorkflowNode } from '../definition.shared.ts';
import { opened } from '../store.ts';
import { enqueueExecution } from './executions.ts';
import { nodeRunViews } from './views.ts';
import { startWorkflows, type Workflows } from './worker.ts';

/** A definition in short: nodes by id as [type, config], and edges as `a>b` or `a:handle>b`. The trigger is there already. */
export function definitionOf(
  nodes: Record<string, [string, Record<string, unknown>?]>,
  edges: readonly string[],
  trigger: Record<string, unknown> = {},
): Definition {
  const list: WorkflowNode[] = [{ id: 'trigger-node', type: 'trigger', data: { config: { triggerType: 'manual', ...trigger } } }];
  for (const [id, [type, config = {}]] of Object.entries(nodes)) list.push({ id, type, data: { config } });
  return {
    nodes: list,
    edges: edges.map((text, i) => {
      const [from = '', target = ''] = text.split('>');
      const [source = '', sourceHandle] = from.split(':');
      return {
        id: `e${i}`,
        source: source === 'trigger' ? 'trigger-node' : source,
        target,
        ...(sourceHandle === undefined ? {} : { sourceHandle }),
      };
    }),
  };
}

/** A stored workflow whose first version is this definition. */
export async function stored(ctx: Ctx, definition: Definition, more: Record<string, unknown> = {}) {
  const place = { tenant_id: ctx.tenant_id, sandbox: ctx.sandbox };
  const row = await db().workflows.create({
    data: {
      ...place,
      id: newId(),
      name: fresh('flow'),
      definition: columnJson(definition) as object,
      trigger_type: triggerTypeOf(definition),
      authority: authorityOf(ctx) ?? Prisma.DbNull,
      ...more,
    },
  });
  await db().workflow_versions.create({
    data: { ...place, id: newId(), workflow_id: row.id, version: 1, definition: columnJson(definition) as object },
  });
  return opened(row);
}
export type StoredWorkflow = Awaited<ReturnType<typeof stored>>;

export const started = (ctx: Ctx, workflow: StoredWorkflow, data: unknown = null, more: object = {}) =>
  inTransaction(ctx, (tx) =>
    enqueueExecution(tx, ctx, {
      ...{ workflow, version: 1, definition: graphOf(workflow.definition), trigger_type: 'manual' },
      input: { type: 'manual', data, timestamp: ctx.now.toISOString() },
      triggered_by: { type: 'user', id: null, label: 'test' },
      authorities: allOf(storedAuthority(workflow.authority), authorityOf(ctx)),
      ...more,
    }),
  ).then(({ id }) => id);

export const executionOf = (id: string) => db().workflow_executions.findUniqueOrThrow({ where: { id } });

export async function runsOf(ctx: Ctx, id: string) {
  const rows = await db().workflow_node_executions.findMany({
    where: { execution_id: id },
    orderBy: [{ started_at: 'asc' }, { id: 'asc' }],
  });
  return nodeRunViews(ctx, rows);
}

/** The states of its nodes, as `a:succeeded b:skipped`, by their ids. */
export const statesOf = async (ctx: Ctx, id: string) =>
  (await runsOf(ctx, id))
    .filter(({ node_id }) => node_id !== 'trigger-node')
    .map(({ node_id, path, status }) => `${path === '' ? '' : `${path}/`}${node_id}:${status}`)
    .sort()
    .join(' ');

export async function ended(id: string) {
  await until(async () => isTerminal((await executionOf(id)).status), 'the execution ends');
  return executionOf(id);
}

/** A worker for the tests of this file. */
export function working(options: Parameters<typeof startWorkflows>[0] = {}): Workflows {
  assertOwnDatabase();
  const workflows = startWorkflows({ pauseMs: 50, ...options });
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= workflows.stop());
  onFileEnd(stop);
  return { stop };
}
