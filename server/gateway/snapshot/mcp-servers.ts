import { parseTemplate, type Template } from '#server/domain/templates/grammar.ts';
import { jsonOfColumn } from '#server/kernel/lossless-json.ts';
import type { ArgumentRule } from '#server/mcp/argument-rules.ts';
import type { ToolOperation } from '#server/mcp/tool-operation.ts';
import { defineSlice, OF_SPACE } from './slice.ts';

type ServerRow = {
  id: string;
  gateway_id: string;
  name: string;
  slug: string;
  description: string | null;
  server_type: 'upstream' | 'collection' | 'toolset';
  transport: 'streamable_http' | 'sse' | null;
  upstream_url: string | null;
  auth: { headers?: Record<string, string>; environment_name?: string; oauth?: object };
  allowed_tools: string[];
  members: { server_id: string; tool: string }[];
  allowed_origins: string[];
  rate_limit_rpm: number;
  allow_elicitation: boolean;
  signed_identity: boolean;
  pii_inspection: boolean;
  pii_redact_policy_id: string | null;
  firewall_policy_id: string | null;
  guardrail_webhook_url: string | null;
  guardrail_webhook_secret_id: string | null;
  guardrail_webhook_mode: 'off' | 'request' | 'response' | 'both';
  guardrail_webhook_timeout_ms: number;
  guardrail_webhook_failure_action: 'fail_open' | 'fail_closed';
  status: 'active' | 'paused';
  era: string | null;
  default_environment: string;
};
type ToolRow = {
  mcp_server_id: string;
  id: string;
  tool_name: string;
  enabled: boolean;
  description: string | null;
  input_schema: Record<string, unknown> | null;
  route_id: string | null;
  operation: ToolOperation | null;
  pinned_hash: string | null;
  approval: 'none' | 'required';
  argument_rules: ArgumentRule[];
  price_nano: number;
};

/** An MCP server as calls see it; archived ones don't exist here. */
export type McpServer = {
  readonly id: string;
  readonly gatewayId: string;
  readonly name: string;
  readonly slug: string;
  readonly description: string | null;
  readonly type: ServerRow['server_type'];
  /** Null unless the type is upstream. */
  readonly transport: ServerRow['transport'];
  readonly upstreamUrl: string | null;
  /** Headers that carry credentials; compiled at first use. */
  readonly headers: readonly { readonly name: string; readonly template: Template }[];
  /** Whose values are used, where the server names one: of secrets, and of routes. */
  readonly environment: string | null;
  /** Whose values of secrets are used. */
  readonly secretsEnvironment: string;
  /** Whether calls go out with the grant of the person they are made for. */
  readonly perUser: boolean;
  readonly allowedTools: ReadonlySet<string>;
  /** Of a toolset: which tool of which server, in the order they were given. */
  readonly members: readonly { readonly serverId: string; readonly tool: string }[];
  readonly allowedOrigins: ReadonlySet<string>;
  readonly rpm: number;
  readonly allowElicitation: boolean;
  /** Whether requests carry a signed statement of whom they are made for. */
  readonly signedIdentity: boolean;
  readonly piiInspection: boolean;
  readonly piiPolicyId: string | null;
  readonly firewallPolicyId: string | null;
  readonly guardrail: {
    readonly url: string;
    readonly secretId: string | null;
    readonly mode: 'request' | 'response' | 'both';
    readonly timeoutMs: number;
    readonly failureAction: 'fail_open' | 'fail_closed';
  } | null;
  readonly status: ServerRow['status'];
  /** What the last probe spoke; null when it is not known. */
  readonly era: 'legacy' | 'modern' | null;
  /** What is known and decided about single tools, by name. */
  readonly tools: ReadonlyMap<string, McpTool>;
};

export type McpTool = {
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
  /** Instead of what the upstream says; null shows that. */
  readonly description: string | null;
  readonly inputSchema: Readonly<Record<string, unknown>> | null;
  readonly routeId: string | null;
  readonly operation: ToolOperation | null;
  /** The only definition that is served (`toolHash`); null serves any. */
  readonly pinnedHash: string | null;
  readonly needsApproval: boolean;
  readonly rules: readonly ArgumentRule[];
  /** USD * 10^9 of one call. */
  readonly priceNano: number;
};

/** MCP servers and their tools (interface rule 52). */
export const mcpServers = defineSlice({
  name: 'mcpServers',
  tables: ['mcp_servers', 'mcp_tools', 'environments'],
  queries: {
    mcp_servers: `select tenant_id, sandbox, id, gateway_id, name, slug, description, server_type, transport, upstream_url, auth, allowed_tools, members, allowed_origins,
      rate_limit_rpm, allow_elicitation, signed_identity, pii_inspection, pii_redact_policy_id, firewall_policy_id, guardrail_webhook_url, guardrail_webhook_secret_id,
      guardrail_webhook_mode, guardrail_webhook_timeout_ms, guardrail_webhook_failure_action, status, protocol->>'era' as era,
      (select e.name from environments e where e.tenant_id = s.tenant_id and e.sandbox = s.sandbox and e.is_default limit 1) as default_environment
    from mcp_servers s where ${OF_SPACE} and status <> 'archived'`,
    mcp_tools: `select tenant_id, sandbox, id, mcp_server_id, tool_name, enabled, description, input_schema, route_id, operation, pinned_hash, approval, argument_rules,
      (coalesce(price_per_call_usd, 0) * 1000000000)::float8 as price_nano
    from mcp_tools where ${OF_SPACE}`,
  },
  compile({ mcp_servers: servers, mcp_tools: tools }: { mcp_servers: ServerRow[]; mcp_tools: ToolRow[] }) {
    const toolsOf = Map.groupBy(tools, (row) => row.mcp_server_id);
    const compiled = servers.map((row) => compileServer(row, toolsOf.get(row.id) ?? []));
    return {
      mcp: {
        serversBySlug: new Map(compiled.map((server) => [server.slug, server])) as ReadonlyMap<string, McpServer>,
        serversById: new Map(compiled.map((server) => [server.id, server])) as ReadonlyMap<string, McpServer>,
      },
    };
  },
  size: (rows) => rows.mcp_servers.length + rows.mcp_tools.length,
});

function compileServer(row: ServerRow, tools: readonly ToolRow[]): McpServer {
  let headers: McpServer['headers'] | undefined;
  return {
    id: row.id,
    gatewayId: row.gateway_id,
    name: row.name,
    slug: row.slug,
    description: row.description,
    type: row.server_type,
    transport: row.transport,
    upstreamUrl: row.upstream_url,
    get headers() {
      headers ??= Object.entries(row.auth.headers ?? {}).map(([name, text]) => ({ name: name.toLowerCase(), template: templateOf(text) }));
      return headers;
    },
    environment: row.auth.environment_name ?? null,
    secretsEnvironment: row.auth.environment_name ?? row.default_environment ?? '',
    perUser: row.auth.oauth !== undefined,
    allowedTools: new Set(row.allowed_tools),
    members: row.members.map(({ server_id, tool }) => ({ serverId: server_id, tool })),
    allowedOrigins: new Set(row.allowed_origins),
    rpm: row.rate_limit_rpm,
    allowElicitation: row.allow_elicitation,
    signedIdentity: row.signed_identity,
    piiInspection: row.pii_inspection,
    piiPolicyId: row.pii_redact_policy_id,
    firewallPolicyId: row.firewall_policy_id,
    guardrail: guardrailOf(row),
    status: row.status,
    era: row.era === 'legacy' || row.era === 'modern' ? row.era : null,
    tools: new Map(tools.map((tool) => [tool.tool_name, compileTool(tool)])),
  };
}

/** The write refused what doesn't parse, so such a text can only come from an older release: it sends nothing. */
function templateOf(text: string): Template {
  const parsed = parseTemplate(text, { context: false });
  return parsed.ok ? parsed.template : [];
}

function guardrailOf(row: ServerRow): McpServer['guardrail'] {
  if (row.guardrail_webhook_url === null || row.guardrail_webhook_mode === 'off') return null;
  return {
    url: row.guardrail_webhook_url,
    secretId: row.guardrail_webhook_secret_id,
    mode: row.guardrail_webhook_mode,
    timeoutMs: row.guardrail_webhook_timeout_ms,
    failureAction: row.guardrail_webhook_failure_action,
  };
}

function compileTool(row: ToolRow): McpTool {
  return {
    id: row.id,
    name: row.tool_name,
    enabled: row.enabled,
    description: row.description,
    inputSchema: jsonOfColumn(row.input_schema) as ToolRow['input_schema'],
    routeId: row.route_id,
    operation: row.operation,
    pinnedHash: row.pinned_hash,
    needsApproval: row.approval === 'required',
    rules: row.argument_rules,
    priceNano: Math.round(row.price_nano),
  };
}
