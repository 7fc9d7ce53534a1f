import type { CompiledFirewall } from '#server/ai/firewall/policy.ts';
import { scan } from '#server/ai/firewall/scan.ts';
import { BudgetExceeded } from '#server/ai/patterns/budget.ts';
import { log } from '#server/platform/log.ts';
import type { McpServer } from '../snapshot/mcp-servers.ts';
import type { McpCall } from './mcp-call.ts';

/** The firewall that the texts of a server's tools are read with; the built-in rules where it has no policy. Throws for a policy that can't be used. */
export const toolScanner = ({ snapshot }: McpCall, { firewallPolicyId }: McpServer): CompiledFirewall =>
  snapshot.aiPolicies.firewall(firewallPolicyId);

/** Rules that the texts of a tool match: whoever wrote them talks to the model (interface rule 52 §5). */
export function poisoningOf(call: McpCall, server: McpServer, texts: readonly string[]): string[] {
  try {
    const hits = scan(texts.join('\n'), toolScanner(call, server), 'data');
    return [...new Set(hits.map(({ rule }) => rule))];
  } catch (error) {
    if (!(error instanceof BudgetExceeded)) throw error;
    log.warn({ mcp_server_id: server.id }, 'the text of a tool took too long to be read; it is hidden');
    return ['unread'];
  }
}
