import { setImmediate as turn } from 'node:timers/promises';
import { TenantKeyUnavailable } from '#server/crypto/keyring.ts';
import { type Authority, allOf, authorityOf, storedAuthorities } from '#server/domain/authorities/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import { columnJson, jsonOfColumn } from '#server/kernel/lossless-json.ts';
import { DEFAULT_TIMEOUT_SECONDS, type Definition, type ExecutionTrigger, isTerminal, TRIGGER_NODE } from '../definition.shared.ts';
import { type ExecutionValue, openValue, resealValue, sealValue } from './values.ts';

/** A workflow as far as starting it takes. */
export type Startable = { id: string; version: number; environment: string | null; timeout_seconds: number | null };
export type TriggeredBy = { type: string; id: string | null; label: string };

export type Start = {
  workflow: Startable;
  /** The version that runs; null for a draft, whose definition is kept with the run. */
  version: number | null;
  /** What runs; read only when `version` is null. */
  definition: Definition;
  trigger_type: ExecutionTrigger;
  /** The trigger's output: what `{{trigger.…}}` resolves to, as {type, data, method?, headers?, query?, ip?, timestamp}. */
  input: TriggerOutput;
  triggered_by: TriggeredBy;
  /** Who stands behind its calls of routes: who published what runs, then who started it. */
  authorities: readonly Authority[];
  retry_of?: string;
  /** A new one unless given: an automatic start derives it from its cause, so that it happens once. */
  id?: string;
  /** Workflows whose runs led to this start (the signed internal header), the first first. */
  chain?: readonly string[];
};

export type TriggerOutput = {
  type: string;
  data: unknown;
  method?: string;
  headers?: Record<string, string>;
  query?: Record<string, string>;
  ip?: string | null;
  timestamp: string;
};

/** Executions that may wait for a worker in a workspace (interface rule 62 §4.2). */
const MOST_QUEUED = 10_000;

/**
 * Puts an execution into the queue, in the caller's transaction; a worker claims it once that commits. Idempotency is the pipeline's: a replayed call
 * doesn't reach this. @throws Refusal rate_limited when 10,000 wait already, tenant_sealed when its input can't be sealed now
 */
export async function enqueueExecution(tx: Tx, ctx: Ctx, start: Start): Promise<{ id: string; workflow_id: string; status: 'queued' }> {
  await requireRoom(tx, ctx);
  const { workflow, version } = start;
  const id = start.id ?? newId();
  const sealed = await sealValue(ctx, id, { input: start.input }).catch(whenSealed);
  await tx.workflow_executions.create({
    data: {
      ...own(ctx),
      ...sealed,
      ...{ id, workflow_id: workflow.id, workflow_version: version, environment: workflow.environment, trigger_type: start.trigger_type },
      ...(version === null ? { definition: columnJson(start.definition) as object } : {}),
      triggered_by: start.triggered_by,
      authorities: [...start.authorities],
      timeout_seconds: workflow.timeout_seconds ?? DEFAULT_TIMEOUT_SECONDS,
      retry_of: start.retry_of ?? null,
      chain: [...(start.chain ?? [])],
      created_at: ctx.now,
    },
    select: { id: true },
  });
  await tx.$executeRaw`update workflows set run_count = run_count + 1 where id = ${workflow.id}::uuid`;
  return { id, workflow_id: workflow.id, status: 'queued' };
}

async function requireRoom(tx: Tx, ctx: Ctx): Promise<void> {
  const [{ n } = { n: 0 }] = await tx.$queryRaw<{ n: number }[]>`
    select count(*)::int as n from (select from workflow_executions where tenant_id = ${ctx.tenant_id}::uuid and status = 'queued' limit ${MOST_QUEUED}) waiting`;
  if (n >= MOST_QUEUED) throw new Refusal('rate_limited', `${MOST_QUEUED} runs are waiting already. Try again when some have ended.`);
}

function whenSealed(error: unknown): never {
  if (error instanceof TenantKeyUnavailable)
    throw new Refusal('tenant_sealed', "This workspace's encryption key is unavailable. Try again later.", { cause: error });
  throw error;
}

/** Ends an execution: at once when it is queued or waits, else after its nodes in flight (30 s at most). Audit is the caller's. @throws Refusal not_found, not_cancellable */
export async function cancelExecution(
  tx: Tx,
  ctx: Ctx,
  id: string,
): Promise<{ id: string; workflow_id: string; status: 'cancelled' | 'cancelling' }> {
  const { id: found, workflow_id, status } = await lockedExecution(tx, ctx, id);
  if (isTerminal(status)) throw new Refusal('not_cancellable', `The run has ended already: it is ${status}.`);
  if (status === 'running' || status === 'cancelling') {
    await tx.workflow_executions.update({ where: { id: found }, data: { status: 'cancelling', cancel_at: ctx.now }, select: { id: true } });
    return { id: found, workflow_id, status: 'cancelling' };
  }
  await tx.workflow_executions.update({
    where: { id: found },
    data: { status: 'cancelled', error_code: 'cancelled', error_message: 'The run was cancelled.', wakes_at: null, completed_at: ctx.now },
    select: { id: true },
  });
  await tx.workflow_timers.deleteMany({ where: { ...own(ctx), execution_id: found } });
  await tx.workflow_node_executions.updateMany({
    where: { ...own(ctx), execution_id: found, status: { in: ['running', 'pending'] } },
    data: { status: 'cancelled', completed_at: ctx.now },
  });
  return { id: found, workflow_id, status: 'cancelled' };
}

/**
 * Runs a failed or cancelled execution again as a new one, of the same version, with the same input; from `failed_node` the runs of nodes that had
 * succeeded are taken over and not repeated. @throws Refusal not_found, conflict, rate_limited, tenant_sealed
 */
export async function retryExecution(
  tx: Tx,
  ctx: Ctx,
  { id, from, triggered_by }: { id: string; from: 'start' | 'failed_node'; triggered_by: TriggeredBy },
): Promise<{ id: string; workflow_id: string; status: 'queued'; retry_of: string }> {
  const { id: found, status } = await lockedExecution(tx, ctx, id);
  if (status !== 'failed' && status !== 'cancelled')
    throw new Refusal('conflict', `Only a failed or cancelled run can be tried again: this one is ${status}.`);
  const row = await tx.workflow_executions.findFirstOrThrow({ where: { ...own(ctx), id: found } });
  const { input } = await openValue<ExecutionValue>(ctx, row).catch(whenSealed);
  const queued = await enqueueExecution(tx, ctx, {
    workflow: {
      id: row.workflow_id,
      version: row.workflow_version ?? 0,
      environment: row.environment,
      timeout_seconds: row.timeout_seconds,
    },
    version: row.workflow_version,
    definition: jsonOfColumn(row.definition) as Definition,
    trigger_type: 'retry',
    input: input as TriggerOutput,
    triggered_by,
    // A draft has nobody but who runs it.
    authorities:
      row.workflow_version === null ? allOf(authorityOf(ctx)) : allOf(storedAuthorities(row.authorities)[0] ?? null, authorityOf(ctx)),
    retry_of: found,
    chain: row.chain,
  });
  if (from === 'failed_node') await takeOver(tx, ctx, found, queued.id);
  return { ...queued, retry_of: found };
}

/**
 * Copies what had succeeded, sealed for the new rows. A loop under way is made again over the iterations that are there. Outputs that were cut aren't
 * whole any more: their nodes run again, and everything after them.
 */
async function takeOver(tx: Tx, ctx: Ctx, from: string, to: string): Promise<void> {
  const rows = await tx.workflow_node_executions.findMany({
    where: { ...own(ctx), execution_id: from, status: 'succeeded', node_id: { not: TRIGGER_NODE }, node_type: { not: 'error_handler' } },
    orderBy: { completed_at: 'asc' },
  });
  const cut = rows.findIndex(({ truncated }) => truncated);
  const whole = cut === -1 ? rows : rows.slice(0, cut);
  const data: typeof whole = [];
  for (const row of whole) {
    const id = newId();
    const { value_ct, cek_wrapped, tmk_version } = row;
    const isSealed = value_ct && cek_wrapped && tmk_version !== null;
    const value = isSealed && (await resealValue(ctx, { id: row.id, value_ct, cek_wrapped, tmk_version }, id).catch(whenSealed));
    data.push({ ...row, ...(value || {}), id, execution_id: to });
    await turn();
  }
  await tx.workflow_node_executions.createMany({ data });
}

async function lockedExecution(tx: Tx, ctx: Ctx, id: string): Promise<{ id: string; workflow_id: string; status: string }> {
  if (!isUuid(id)) throw notFound();
  const [row] = await tx.$queryRaw<{ id: string; workflow_id: string; status: string }[]>`
    select id, workflow_id, status from workflow_executions
    where id = ${id}::uuid and tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} for no key update`;
  if (!row) throw notFound();
  return row;
}
