import type { Pool } from 'pg';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';

/** A call as tests write it: columns of its log row and of its usage event. */
export type CallFixture = Partial<{
  ts: string;
  agent_id: string | null;
  gateway_id: string | null;
  token_id: string | null;
  user: string | null;
  team: string | null;
  provider: string;
  model: string | null;
  tags: Record<string, string>;
  status: string;
  code: string | null;
  input_tokens: number;
  output_tokens: number;
  cost_nano: number;
  requests: number;
  refused_requests: number;
  unpriced_requests: number;
  attempts: number;
}>;

/** Writes calls as gateways do: by the function that settles them. @returns their request IDs */
export async function insertCalls(
  pool: Pool,
  { tenant_id, sandbox }: Pick<Ctx, 'tenant_id' | 'sandbox'>,
  calls: readonly CallFixture[],
): Promise<string[]> {
  const rows = calls.map((call) => {
    const { ts = new Date().toISOString(), provider = 'anthropic', model = 'claude-sonnet-5', status = 'ok', ...rest } = call;
    return { call_id: newId(), request_id: newId(), ts, provider, model, status, plane: 'ai', tags: {}, ...rest };
  });
  const figures = {
    requests: 1,
    refused_requests: 0,
    errors: 0,
    cache_hits: 0,
    unpriced_requests: 0,
    estimated_requests: 0,
    input_tokens: 100,
    cached_input_tokens: 0,
    cache_write_tokens: 0,
    output_tokens: 50,
    reasoning_tokens: 0,
    cost_nano: 1_000_000,
  };
  const events = rows.map(({ attempts: _, ...row }) => ({ attempt: 0, ...figures, ...row }));
  const logs = rows.map(({ call_id, model, ...row }) => ({
    ...figures,
    id: call_id,
    tenant_id,
    sandbox,
    final_model: model,
    requested_model: model,
    attempts: 1,
    stream: false,
    origin: 'upstream',
    priced: true,
    firewall: [],
    pii: {},
    warnings: [],
    ip: '203.0.113.9',
    ...row,
  }));
  await pool.query('select ai_settle($1, $2, $3, $4, $5, $6)', [
    tenant_id,
    sandbox,
    JSON.stringify(logs),
    JSON.stringify(events),
    '[]',
    '[]',
  ]);
  return rows.map(({ request_id }) => request_id);
}
