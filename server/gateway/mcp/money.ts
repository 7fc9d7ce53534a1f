import { noUsage } from '#server/ai/usage/usage.ts';
import { fault, GATEWAY_PAUSED, type RpcFault } from '#server/mcp/errors.ts';
import { budgetCaps } from '../governance/ledger/caps.ts';
import { reserve } from '../governance/ledger/ledger.ts';
import type { Caps, PayingSubject } from '../governance/ledger/subjects.ts';
import type { AiGatewayConfig } from '../snapshot/ai-config.ts';
import type { McpCall } from './mcp-call.ts';
import type { Offer } from './offers.ts';

/** Who pays for a call of a tool: its token, and the gateway of its server. */
function payersOf({ state: { principal, person }, receivedAt }: McpCall, gateway: AiGatewayConfig): PayingSubject[] {
  if (!principal) return [];
  const { scope, id } = principal.token;
  const own: Caps = {
    dailyNano: nanoOf(scope.daily_usd_cap),
    monthlyNano: nanoOf(scope.monthly_usd_cap),
    dailyTokens: scope.daily_token_cap ?? null,
    monthlyTokens: scope.monthly_token_cap ?? null,
    action: 'block',
  };
  const caps = budgetCaps(gateway, receivedAt);
  const payers: PayingSubject[] = [{ type: 'gateway', id: gateway.id, caps }];
  // Access tokens are new every hour and have no caps: what a person spends is counted by their name.
  return person === null ? [{ type: 'token', id, caps: own }, ...payers] : payers;
}

const nanoOf = (usd: string | undefined): bigint | null => (usd === undefined ? null : BigInt(Math.round(Number(usd) * 1e9)));

/** Reserves the price of a call; also a call that costs nothing is refused when a budget of those who pay is used up (interface rule 51 §9.4). */
export async function reservePrice(call: McpCall, { server, row }: Offer): Promise<RpcFault | undefined> {
  const { snapshot, state } = call;
  const gateway = snapshot.ai.gatewaysById.get(server.gatewayId);
  if (gateway?.status !== 'active') return fault('gateway_not_active', GATEWAY_PAUSED);
  state.subjects = payersOf(call, gateway);
  const verdict = await reserve({
    tenantId: snapshot.tenant.id,
    sandbox: snapshot.sandbox,
    requestId: call.requestId,
    subjects: state.subjects,
    estimateNano: BigInt(row?.priceNano ?? 0),
    tokens: 0,
    now: call.receivedAt,
  });
  if (!verdict.ok) return fault(verdict.code, verdict.description, { retryAfter: verdict.retryAfter, data: verdict.extra });
  state.reserved = verdict;
  // Until `record` has settled it.
  call.res.holdEnd('spend');
  if (verdict.warnings.length > 0) state.warnings.push('budget');
  return undefined;
}

/** What the call costs, once it has left for the upstream. */
export function charge({ state }: McpCall, { server, tool, row }: Offer): void {
  state.charges.push({ provider: 'mcp', model: `${server.slug}/${tool.name}`, usage: { ...noUsage }, nano: BigInt(row?.priceNano ?? 0) });
}
