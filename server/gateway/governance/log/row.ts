import { inputTokens, outputTokens, sumOf, type Usage } from '#server/ai/usage/usage.ts';

/** A row of ai_request_logs; names are the columns (interface rule 51 §10.3). Never a prompt, an answer, a header value or a credential. */
export type CallRow = {
  /** Of its own, so that a call is counted once however often its row is written. */
  id: string;
  tenant_id: string;
  sandbox: boolean;
  request_id: string;
  /** ISO 8601; start of the call. */
  ts: string;
  plane: 'ai' | 'mcp';
  gateway_id: string | null;
  agent_id: string | null;
  mcp_server_id: string | null;
  token_id: string | null;
  /** External ID of the attributed user. */
  user: string | null;
  team: string | null;
  session_id: string | null;
  tags: Readonly<Record<string, string>>;
  operation: string | null;
  shape: string | null;
  tool: string | null;
  provider: string | null;
  requested_model: string | null;
  final_model: string | null;
  route_id: string | null;
  attempts: number;
  fallback: 'route' | 'agent' | null;
  stream: boolean;
  status: 'ok' | 'refused' | 'upstream_error' | 'stream_failed' | 'client_closed';
  http_status: number | null;
  origin: 'service' | 'upstream';
  code: string | null;
  upstream_status: number | null;
  latency_ms: number | null;
  upstream_ms: number | null;
  first_byte_ms: number | null;
  usage: Usage | null;
  input_tokens: number;
  output_tokens: number;
  /** As text: nano-USD. Null when a model of the call has no price. */
  cost_nano: string | null;
  priced: boolean;
  cache: string | null;
  firewall: readonly string[];
  /** Counts by entity. */
  pii: Readonly<Record<string, number>>;
  guardrail: string | null;
  warnings: readonly string[];
  ip: string | null;
  user_agent: string | null;
  request_bytes: number | null;
  response_bytes: number | null;
};

/** What one attempt of a call used, and what that costs: null without a price. A retry that was charged is a charge of its own. */
export type Charge = { readonly provider: string; readonly model: string; readonly usage: Usage; readonly nano: bigint | null };

/** What makes a row of a call; everything but the first members may be left out. */
export type CallFacts = Pick<CallRow, 'tenant_id' | 'sandbox' | 'request_id' | 'ts' | 'plane' | 'status' | 'origin'> &
  Partial<Omit<CallRow, 'id' | 'usage' | 'input_tokens' | 'output_tokens' | 'cost_nano' | 'priced'>>;

const NOTHING = {
  gateway_id: null,
  agent_id: null,
  mcp_server_id: null,
  token_id: null,
  user: null,
  team: null,
  session_id: null,
  tags: {},
  operation: null,
  shape: null,
  tool: null,
  provider: null,
  requested_model: null,
  final_model: null,
  route_id: null,
  attempts: 0,
  fallback: null,
  stream: false,
  http_status: null,
  code: null,
  upstream_status: null,
  latency_ms: null,
  upstream_ms: null,
  first_byte_ms: null,
  cache: null,
  firewall: [],
  pii: {},
  guardrail: null,
  warnings: [],
  ip: null,
  user_agent: null,
  request_bytes: null,
  response_bytes: null,
} as const;

/** The row of a call with the sums of its charges. */
export function callRow(id: string, facts: CallFacts, charges: readonly Charge[]): CallRow {
  const priced = charges.every(({ nano }) => nano !== null);
  return {
    ...NOTHING,
    ...facts,
    user_agent: facts.user_agent?.slice(0, 200) ?? null,
    id,
    usage: charges.length === 0 ? null : charges.map(({ usage }) => usage).reduce(sumOf),
    input_tokens: charges.reduce((sum, { usage }) => sum + inputTokens(usage), 0),
    output_tokens: charges.reduce((sum, { usage }) => sum + outputTokens(usage), 0),
    cost_nano: priced ? String(charges.reduce((sum, { nano }) => sum + (nano ?? 0n), 0n)) : null,
    priced,
  };
}
