import { defineSlice, epochMs, OF_SPACE } from './slice.ts';

type CircuitRow = { agent_id: string; route_id: string; until: number };

/** When routes that keep failing are tried again, by `agent:route`; epoch ms. Circuits that are closed have no entry. */
export type AiCircuits = ReadonlyMap<string, number>;

/** Circuits that some gateway opened (interface rule 50 §14.1). */
export const aiCircuits = defineSlice({
  name: 'aiCircuits',
  tables: ['ai_circuits'],
  queries: {
    ai_circuits: `select tenant_id, sandbox, agent_id, route_id, ${epochMs('open_until')} as until from ai_circuits where ${OF_SPACE}`,
  },
  compile(rows: { ai_circuits: CircuitRow[] }): { aiCircuits: AiCircuits } {
    return { aiCircuits: new Map(rows.ai_circuits.map(({ agent_id, route_id, until }) => [`${agent_id}:${route_id}`, until])) };
  },
  size: (rows) => rows.ai_circuits.length,
});
