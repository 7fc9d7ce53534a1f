import type { Attempt, Channel } from '#server/domain/deliveries/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { inTransaction, type Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { db } from '#server/platform/db.ts';
import { log } from '#server/platform/log.ts';
import { configOf, isRecord, triggerOf, triggerTypeOf } from './definition.shared.ts';
import { newMeter } from './expressions/meter.shared.ts';
import { member } from './expressions/reference.shared.ts';
import { type Matcher, OPERATORS, type Operator, satisfies } from './expressions/rules.shared.ts';
import { uuidOf } from './nodes/email.ts';
import { matchesPattern } from './nodes/matching.ts';
import { runsBehind } from './nodes/request-ids.ts';
import { startAutomatically } from './starts.ts';
import { opened } from './store.ts';

/** Workflows whose runs may lead to another, one after the other (interface rule 62 §4.2). */
const MOST_DEEP = 5;

/** How events of calls start workflows: an event starts each of its workflows once, however often it is delivered. */
export const workflowChannel = (): Channel => ({
  async deliver(attempt) {
    const ctx = systemContext(db(), { ...attempt, now: new Date(), label: 'workflow trigger' });
    const found = await inTransaction(ctx, async (tx) => ({
      workflow: await tx.workflows.findFirst({ where: { ...own(ctx), id: attempt.destination_id, enabled: true } }),
      origin: await originOf(tx, ctx, attempt),
    }));
    const { origin } = found;
    const workflow = found.workflow && opened(found.workflow);
    if (!workflow || triggerTypeOf(workflow.definition) !== 'proxy_event') return { result: 'dropped' };
    const trigger = triggerOf(workflow.definition);
    const config = trigger ? configOf(trigger).proxyEventConfig : undefined;
    // Calls that its own runs make start it again for ever; those of others do when they lead back to it.
    if (origin.includes(workflow.id) || origin.length > MOST_DEEP || !(await matches(config, attempt))) return { result: 'delivered' };
    const { id, type, occurred_at, data } = attempt.event;
    await startAutomatically(ctx, workflow, {
      ...{ id: uuidOf(`workflow ${workflow.id} event ${id}`), trigger_type: 'proxy_event', label: type, chain: origin },
      input: { type, data: withoutPayload(data), timestamp: occurred_at.toISOString() },
    });
    return { result: 'delivered' };
  },
});

/** Headers and bodies of calls are read by a reveal, and whoever sees runs sees what started them. */
const withoutPayload = (data: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(data).map(([name, side]) => [name, name === 'request' || name === 'response' ? facts(side) : side]));

function facts(side: unknown): unknown {
  if (!isRecord(side)) return side;
  const { headers: _, body: __, ...rest } = side;
  return rest;
}

/** The workflows behind the call of an event, the first first; none for a call from outside. */
async function originOf(tx: Tx, ctx: Ctx, { event: { data } }: Attempt): Promise<string[]> {
  const requestId = data.request_id;
  if (typeof requestId !== 'string') return [];
  const run = await tx.workflow_node_executions.findFirst({
    where: { ...own(ctx), id: { in: runsBehind(requestId) }, node_type: 'route_request' },
    select: { execution: { select: { workflow_id: true, chain: true } } },
  });
  return run ? [...run.execution.chain, run.execution.workflow_id] : [];
}

/** Where the fields of conditions stand in the data of request.* events (interface rule 60 §3.1). */
const FIELDS: Record<string, readonly string[]> = {
  status: ['response', 'status'],
  method: ['request', 'method'],
  path: ['request', 'path'],
  latency_ms: ['response', 'latency_ms'],
  environment: ['environment'],
  route_name: ['route_name'],
  origin: ['response', 'origin'],
};

/** All conditions of the trigger; a malformed one holds for nothing. @throws Refusal dependency_unavailable while too many texts are searched: then the event is delivered again */
async function matches(config: unknown, { tenant_id, event: { data } }: Attempt): Promise<boolean> {
  const conditions = isRecord(config) && Array.isArray(config.conditions) ? config.conditions : [];
  const evaluation = {
    meter: newMeter(),
    matches: (...[pattern, text, meter]: Parameters<Matcher>) => matchesPattern(pattern, text, meter, tenant_id),
  };
  for (const condition of conditions) {
    const { field, operator, value } = isRecord(condition) ? condition : {};
    const path = FIELDS[String(field)];
    if (!path || !OPERATORS.some((one) => one === operator)) return false;
    try {
      if (!(await satisfies(path.reduce<unknown>(member, data), operator as Operator, value, evaluation))) return false;
    } catch (err) {
      if (err instanceof Refusal) throw err;
      log.warn({ err }, 'a condition of an event trigger could not be evaluated and does not hold');
      return false;
    }
  }
  return true;
}
