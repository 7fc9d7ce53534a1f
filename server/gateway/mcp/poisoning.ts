import type { FirewallRules } from '#server/ai/firewall/policy.ts';
import { scanTexts } from '#server/custody/ai/detectors/firewall.ts';
import { log } from '#server/platform/log.ts';
import type { McpServer } from '../snapshot/mcp-servers.ts';
import type { McpCall } from './mcp-call.ts';

/** The firewall that the texts of a server's tools are read with; the built-in rules where it has no policy. Throws for a policy that is missing. */
export const toolScanner = ({ snapshot }: McpCall, { firewallPolicyId }: McpServer): FirewallRules =>
  snapshot.aiPolicies.firewall(firewallPolicyId);

/** For each tool, by its text, the rules that it matches: whoever wrote them talks to the model (interface rule 52 §5). Tools that can't be read are hidden. */
export async function poisoningOf(call: McpCall, server: McpServer, tools: readonly string[]): Promise<string[][]> {
  try {
    const texts = tools.map((text) => ({ text, source: 'data' as const }));
    const hits = await scanTexts(toolScanner(call, server), texts, call.snapshot.tenant.id);
    return hits.map((found) => [...new Set(found.map(({ rule }) => rule))]);
  } catch (error) {
    log.warn({ err: error, mcp_server_id: server.id }, 'the texts of tools could not be read; the tools are hidden');
    return tools.map(() => ['unread']);
  }
}
