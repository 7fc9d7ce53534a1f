import type { z } from 'zod';
import { adds, checksLess, type Looser, losesOne, replaced, turnedOff, turnedOn, weaker } from '#server/kernel/loosening.ts';
import type { UpdateMcpServer } from './schema.ts';
import type { UpdateMcpTool } from './tools.schema.ts';

type ServerSettings = Omit<z.output<typeof UpdateMcpServer>, 'id'>;

/** Which changes of a server let clients reach more, or take away what guards their calls. Where it sends credentials is judged as a move of theirs. */
export const MCP_SERVER_PROTECTIONS: Looser<ServerSettings> = {
  name: 'harmless',
  description: 'harmless',
  transport: 'harmless',
  upstream_url: 'harmless',
  auth: 'harmless',
  allowed_tools: adds,
  // Tools of other servers, whose own lists decide.
  members: 'harmless',
  allowed_origins: adds,
  rate_limit_rpm: 'harmless',
  allow_elicitation: turnedOn,
  signed_identity: 'harmless',
  pii_inspection: turnedOff,
  pii_redact_policy_id: replaced,
  firewall_policy_id: replaced,
  guardrail_webhook_url: replaced,
  guardrail_webhook_secret_id: replaced,
  guardrail_webhook_mode: checksLess,
  guardrail_webhook_timeout_ms: 'harmless',
  guardrail_webhook_failure_action: weaker('fail_closed', 'fail_open'),
  status: 'harmless',
};

/** Which decisions about a tool let a call through that was held, refused or described otherwise. */
export const MCP_TOOL_PROTECTIONS: Looser<Omit<z.output<typeof UpdateMcpTool>, 'id' | 'toolId'>> = {
  description: 'harmless',
  input_schema: 'harmless',
  enabled: turnedOn,
  approval: weaker('required', 'none'),
  argument_rules: losesOne,
  price_per_call_usd: 'harmless',
  route_id: 'harmless',
  operation: 'harmless',
  allowed: turnedOn,
  pinned_hash: replaced,
};
