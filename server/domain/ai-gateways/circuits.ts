import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import { audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { agentEntry } from './entries.ts';
import { type AgentRow, agentById, lockedAgent } from './store.ts';

type Circuit = {
  route_id: string;
  route: string;
  state: 'closed' | 'open' | 'half_open';
  failures: number;
  requests: number;
  cause: string | null;
  opened_at: Date | null;
  open_until: Date | null;
};

/** The routes of an agent in the order in which they are tried, and whether calls use them. @throws Refusal not_found */
export const listCircuits = (ctx: Ctx, { id }: { id: string }): Promise<Circuit[]> =>
  read(ctx, async (tx) => circuitsOf(tx, ctx, await agentById(tx, ctx, id)));

/** Lets calls use a route again. @throws Refusal not_found, also for a route that isn't the agent's */
export const closeCircuit = (ctx: Ctx, { id, route_id }: { id: string; route_id: string }) =>
  mutate(ctx, async (tx) => {
    const agent = await lockedAgent(tx, ctx, id);
    const circuit = (await circuitsOf(tx, ctx, agent)).find((one) => one.route_id === route_id);
    if (!circuit) throw notFound();
    const closed = closedCircuit(circuit);
    if (circuit.state === 'closed') return unchanged(closed);
    await tx.ai_circuits.deleteMany({ where: { ...own(ctx), agent_id: agent.id, route_id } });
    return audited(closed, agentEntry('update', agent, { circuit: 'close', route_id }));
  });

async function circuitsOf(tx: Tx, ctx: Ctx, agent: AgentRow): Promise<Circuit[]> {
  const ids = [...(agent.primary_route_id === null ? [] : [agent.primary_route_id]), ...agent.fallback_route_ids];
  const routes = await tx.routes.findMany({ where: { ...own(ctx), id: { in: ids } }, select: { id: true, name: true } });
  const opened = await tx.ai_circuits.findMany({ where: { ...own(ctx), agent_id: agent.id } });
  return ids.flatMap((id) => {
    const route = routes.find((one) => one.id === id);
    if (!route) return [];
    const row = opened.find(({ route_id }) => route_id === id);
    const named = { route_id: id, route: route.name };
    if (!row) return [closedCircuit(named)];
    const { failures, requests, cause, opened_at, open_until } = row;
    return [
      {
        ...named,
        state: open_until > ctx.now ? ('open' as const) : ('half_open' as const),
        failures,
        requests,
        cause,
        opened_at,
        open_until,
      },
    ];
  });
}

const closedCircuit = ({ route_id, route }: Pick<Circuit, 'route_id' | 'route'>): Circuit => ({
  route_id,
  route,
  state: 'closed',
  failures: 0,
  requests: 0,
  cause: null,
  opened_at: null,
  open_until: null,
});
