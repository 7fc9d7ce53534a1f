import { callersOf } from '#server/domain/policies/service.ts';
import { type Ctx, spaceOf } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { askGateway } from '#server/platform/gateway-control.ts';
import { windowCounter } from '#server/platform/window-counter.ts';
import { type AgentTestOrder, AgentTestReport } from './agent-test.schema.ts';
import { agentEntry } from './entries.ts';
import { agentById } from './store.ts';

/** Tests of one workspace a minute: they cost money. */
const PER_MINUTE = 10;

/**
 * Sends one message through an agent as its callers would, but without a token (interface rule 50 §5.7): the gateway does to it all that it does to a call, and
 * charges the agent. The entry in the audit log is written before anything is sent.
 * @throws Refusal not_found, conflict when the agent or its gateway isn't active, rate_limited, dependency_unavailable when no gateway runs beside this process
 */
export async function testAgent(ctx: Ctx, input: { id: string; message: string; model?: string | undefined }) {
  const request_id = newId();
  const agent = await mutate(ctx, async (tx) => {
    const row = await agentById(tx, ctx, input.id);
    const gateway = await tx.ai_gateways.findUniqueOrThrow({ where: { id: row.gateway_id }, select: { status: true } });
    const stopped =
      gateway.status === 'active' ? (row.status === 'active' ? null : `agent is ${row.status}`) : `gateway is ${gateway.status}`;
    if (stopped !== null) throw new Refusal('conflict', `The ${stopped}, so it can't be tested.`);
    await seldom(ctx);
    return audited({ id: row.id }, agentEntry('execute', row, { test: true, call_request_id: request_id }));
  });
  const order: AgentTestOrder = {
    tenant_id: ctx.tenant_id,
    space: spaceOf(ctx.sandbox),
    agent_id: agent.id,
    callers: callersOf(ctx.actor),
    request_id,
    source_address: ctx.ip ?? '',
    message: input.message,
    ...(input.model === undefined ? {} : { model: input.model }),
  };
  return { request_id, ...AgentTestReport.parse(await askGateway(order, '/agent-tests')) };
}

async function seldom(ctx: Ctx): Promise<void> {
  const now = ctx.now.getTime();
  const made = await windowCounter()(`ai-test:${ctx.tenant_id}`, Math.floor(now / 60_000), 60);
  if (made > PER_MINUTE)
    throw new Refusal('rate_limited', `Agents of a workspace can be tested ${PER_MINUTE} times a minute. Try again shortly.`, {
      retryAfter: Math.max(1, Math.ceil((60_000 - (now % 60_000)) / 1000)),
    });
}
