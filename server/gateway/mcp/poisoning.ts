import type { FirewallRules } from '#server/ai/firewall/policy.ts';
import { scanEachText } from '#server/custody/ai/detectors/firewall.ts';
import { fault, type RpcFault } from '#server/mcp/errors.ts';
import { log } from '#server/platform/log.ts';
import type { McpServer } from '../snapshot/mcp-servers.ts';
import type { McpCall } from './mcp-call.ts';

/** The firewall that the texts of a server's tools are read with; the built-in rules where it has no policy. Throws for a policy that is missing. */
export const toolScanner = ({ snapshot }: McpCall, { firewallPolicyId }: McpServer): FirewallRules =>
  snapshot.aiPolicies.firewall(firewallPolicyId);

/**
 * For each tool, by its text, the rules that it matches: whoever wrote them talks to the model (interface rule 52 §5). A text that takes too long counts as one. A
 * fault when the texts can't be read for another reason, such as a full line, which says nothing about the tools.
 */
export async function poisoningOf(call: McpCall, server: McpServer, tools: readonly string[]): Promise<string[][] | RpcFault> {
  try {
    const texts = tools.map((text) => ({ text, source: 'data' as const }));
    const hits = await scanEachText(toolScanner(call, server), texts, call.snapshot.tenant.id);
    return hits.map((found) => (found === null ? ['unread'] : [...new Set(found.map(({ rule }) => rule))]));
  } catch (error) {
    log.warn({ err: error, mcp_server_id: server.id }, 'the texts of the tools of an MCP server could not be read');
    return fault('firewall_unavailable', 'The tools of this MCP server could not be checked by the prompt firewall. Try again.', {
      retryAfter: 5,
      cause: error,
    });
  }
}
