import { z } from 'zod';
import { slug } from '#server/domain/ai-gateways/values.schema.ts';
import { atLeastOne, isUuid, label, pathId, text, time, uuid } from '#server/kernel/fields.ts';
import { listQuery } from '#server/kernel/page.ts';
import { headerProblem, RESERVED_SLUGS } from './names.shared.ts';

export const SERVER_TYPES = ['upstream', 'collection', 'toolset'] as const;
export const TRANSPORTS = ['streamable_http', 'sse'] as const;
export const STATUSES = ['active', 'paused', 'archived'] as const;
export const GUARDRAIL_MODES = ['off', 'request', 'response', 'both'] as const;
export const FAILURE_ACTIONS = ['fail_open', 'fail_closed'] as const;

/** The name of a tool as MCP advises it. */
export const toolName = () =>
  z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,128}$/, 'must be 1 to 128 letters, digits, dots, dashes and underscores')
    .meta({ examples: ['create_issue'] });

/** What an upstream calls its tools is up to the upstream. */
const upstreamToolName = () =>
  z
    .string()
    .min(1)
    .max(128)
    .regex(/^[^\p{Cc}\p{Cf}]+$/u, 'must not contain control characters');

/** A person's own sign-in at the upstream, in place of a shared credential (interface rule 52 §8). */
export const McpOAuth = z
  .object({
    mode: z.literal('per_user'),
    client_id: z.string().min(1).max(512).optional(),
    client_secret_id: uuid().optional(),
    scopes: z
      .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/, 'must be a scope'))
      .max(50)
      .default([]),
    authorization_server: z.string().max(2048).optional(),
    resource: z.string().max(2048).optional(),
  })
  .refine((oauth) => oauth.client_secret_id === undefined || oauth.client_id !== undefined, {
    path: ['client_id'],
    message: 'is required with client_secret_id',
  })
  .meta({ id: 'McpOAuth' });

const headers = () =>
  z
    .record(z.string(), z.string().max(4_096))
    .refine((map) => Object.keys(map).length <= 10, 'must have at most 10 headers')
    .superRefine((map, issues) => {
      const seen = new Set<string>();
      for (const name of Object.keys(map)) {
        const problem = headerProblem(name) ?? (seen.has(name.toLowerCase()) ? 'is given twice' : undefined);
        if (problem) issues.addIssue({ code: 'custom', path: [name], message: problem });
        seen.add(name.toLowerCase());
      }
    })
    .meta({ type: 'object', additionalProperties: { type: 'string' } });

/** How calls authenticate at the upstream. It isn't encrypted, so it holds references to secrets and never a value. */
export const McpAuth = z
  .object({ headers: headers().optional(), environment_name: z.string().min(1).max(63).optional(), oauth: McpOAuth.optional() })
  .meta({ id: 'McpAuth' });
export type McpAuth = z.output<typeof McpAuth>;

export const McpMember = z.object({ server_id: uuid(), tool: upstreamToolName() }).meta({ id: 'McpMember' });

/** What the last probe found. */
export const McpProtocol = z
  .object({
    era: z.enum(['legacy', 'modern', 'unknown']),
    versions: z.array(z.string()),
    server_name: z.string(),
    probed_at: z.string().nullable(),
    error: z.string().optional(),
  })
  .meta({ id: 'McpProtocol' });
export type McpProtocol = z.output<typeof McpProtocol>;

/** An MCP server that clients reach through us (interface rule 52 §2.1). */
export const McpServer = z
  .object({
    id: z.uuid(),
    tenant_id: z.uuid(),
    gateway_id: z.uuid(),
    name: z.string(),
    slug: z.string(),
    description: z.string().nullable(),
    server_type: z.enum(SERVER_TYPES),
    transport: z.enum(TRANSPORTS).nullable(),
    upstream_url: z.string().nullable(),
    auth: z.record(z.string(), z.unknown()),
    allowed_tools: z.array(z.string()),
    members: z.array(z.object({ server_id: z.uuid(), tool: z.string() })),
    allowed_origins: z.array(z.string()),
    rate_limit_rpm: z.int(),
    allow_elicitation: z.boolean(),
    signed_identity: z.boolean(),
    pii_inspection: z.boolean(),
    pii_redact_policy_id: z.uuid().nullable(),
    firewall_policy_id: z.uuid().nullable(),
    guardrail_webhook_url: z.string().nullable(),
    guardrail_webhook_secret_id: z.uuid().nullable(),
    guardrail_webhook_mode: z.enum(GUARDRAIL_MODES),
    guardrail_webhook_timeout_ms: z.int(),
    guardrail_webhook_failure_action: z.enum(FAILURE_ACTIONS),
    sandbox: z.boolean(),
    status: z.enum(STATUSES),
    connect_url: z.string(),
    resource: z.string(),
    protocol: McpProtocol,
    created_at: time(),
    updated_at: time(),
    created_by: z.uuid().nullable(),
  })
  .meta({ id: 'McpServer' });

const origin = () =>
  z
    .string()
    .max(300)
    .refine(
      (value) => /^https?:$/.test(URL.parse(value)?.protocol ?? '') && URL.parse(value)?.origin === value,
      'must be an origin such as https://app.example.com',
    )
    .meta({ examples: ['https://app.example.com'] });

/** Tenants' addresses are judged by the service, which knows what the operator allows. */
const address = () =>
  z
    .string()
    .min(1)
    .max(2048)
    .meta({ format: 'uri', examples: ['https://mcp.example.com/mcp'] });
const unique = <T>(values: readonly T[]): T[] => [...new Set(values)];

const settings = {
  name: label(100),
  description: text(1_000),
  transport: z.enum(TRANSPORTS),
  upstream_url: address(),
  auth: McpAuth,
  allowed_tools: z.array(upstreamToolName()).max(500).transform(unique),
  members: z.array(McpMember).max(200),
  allowed_origins: z.array(origin()).max(20).transform(unique),
  rate_limit_rpm: z.int().min(1).max(100_000),
  allow_elicitation: z.boolean(),
  signed_identity: z.boolean(),
  pii_inspection: z.boolean(),
  pii_redact_policy_id: uuid().nullable(),
  firewall_policy_id: uuid().nullable(),
  guardrail_webhook_url: address().nullable(),
  guardrail_webhook_secret_id: uuid().nullable(),
  guardrail_webhook_mode: z.enum(GUARDRAIL_MODES),
  guardrail_webhook_timeout_ms: z.int().transform((ms) => Math.min(Math.max(ms, 100), 10_000)),
  guardrail_webhook_failure_action: z.enum(FAILURE_ACTIONS),
};

export const CreateMcpServer = z
  .object(settings)
  .partial()
  .extend({
    id: pathId(),
    name: settings.name,
    slug: slug().refine((value) => !RESERVED_SLUGS.has(value), 'is reserved; choose another one'),
    server_type: z.enum(SERVER_TYPES).default('upstream'),
  });

/** Gateway, type and slug stay: others hold the address. */
export const UpdateMcpServer = atLeastOne(
  z
    .object(settings)
    .partial()
    .extend({ id: pathId(), status: z.enum(['active', 'paused']).optional() }),
);

export const ListMcpServers = listQuery({
  sorts: ['created_at', 'name'],
  sort: 'created_at',
  order: 'desc',
  filters: { id: pathId(), status: z.enum(STATUSES).optional() },
});
export const McpServerRef = z.object({ id: pathId() });
export const ArchivedMcpServer = z
  .object({ deleted: z.literal(true), id: z.uuid(), status: z.literal('archived') })
  .meta({ id: 'ArchivedMcpServer' });

/** All of the space, with what they did in the last day; for the dashboard. */
export const McpServerOverview = McpServer.extend({
  gateway_name: z.string(),
  tools_discovered: z.int(),
  tools_changed: z.int(),
  pending_approvals: z.int(),
  calls_24h: z.int(),
  refusals_24h: z.int(),
}).meta({ id: 'McpServerOverview' });
export const SearchMcpServers = z.object({ gateway_id: z.string().refine(isUuid, 'must be an ID').optional() });

export const McpGatewayChoice = z.object({ id: z.uuid(), name: z.string() });
