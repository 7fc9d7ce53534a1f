import { z } from 'zod';
import { atLeastOne, pathId, text, time, uuid } from '#server/kernel/fields.ts';
import { anyObject, columnObject, storedJson } from '#server/kernel/json-fields.ts';
import { toolName } from './schema.ts';

export const PIN_STATES = ['unpinned', 'pinned', 'changed'] as const;
export const APPROVALS = ['none', 'required'] as const;
export const RULE_OPS = ['matches', 'in', 'max', 'forbid'] as const;
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** A JSON Schema whose root is an object, as arguments are. */
const inputSchema = () =>
  anyObject()
    .refine((schema) => schema.type === 'object', 'must be a JSON Schema of type object')
    .refine((schema) => new TextEncoder().encode(JSON.stringify(schema)).length <= 65_536, 'must be at most 64 KiB')
    .refine(
      (schema) => !/\\u(?:0000|d[89a-f])/i.test(JSON.stringify(schema).replaceAll('\\\\', '')),
      'must be valid Unicode without null characters',
    )
    .meta({
      type: 'object',
      properties: { type: { const: 'object', description: 'Arguments are always an object.' } },
      required: ['type'],
      additionalProperties: true,
    });

const scalar = z.union([z.string().max(1_000), z.number(), z.boolean(), z.null()]);
/** A condition that the arguments of every call must meet (interface rule 52 §10). */
export const ArgumentRule = z
  .object({ path: z.string().min(1).max(500), op: z.enum(RULE_OPS), value: z.union([scalar, z.array(scalar).max(200)]).optional() })
  .meta({ id: 'McpArgumentRule' });

/** How a tool of a collection calls its route (interface rule 52 §9). */
export const ToolOperation = z
  .object({
    method: z.enum(METHODS),
    path_template: z.string().min(1).max(2_000),
    param_map: z
      .array(
        z.object({
          arg: z.string().min(1).max(128),
          in: z.enum(['path', 'query', 'header', 'body']),
          name: z.string().max(128),
        }),
      )
      .max(200)
      .default([]),
    body_mode: z.enum(['json', 'form', 'none']).default('none'),
    result: z.enum(['json', 'text']).default('json'),
    timeout_ms: z.int().min(100).max(120_000).default(30_000),
  })
  .meta({ id: 'McpToolOperation' });

/** What an upstream says of a tool. */
const Definition = columnObject();

export const McpTool = z
  .object({
    id: z.uuid(),
    tenant_id: z.uuid(),
    mcp_server_id: z.uuid(),
    tool_name: z.string(),
    route_id: z.uuid().nullable(),
    description: z.string().nullable(),
    input_schema: columnObject().nullable(),
    enabled: z.boolean(),
    allowed: z.boolean(),
    discovered: z.boolean(),
    operation: anyObject().nullable(),
    upstream_tool: Definition.nullable(),
    upstream_hash: z.string().nullable(),
    pinned_hash: z.string().nullable(),
    pinned_tool: Definition.nullable(),
    pin_state: z.enum(PIN_STATES),
    changed_at: time().nullable(),
    poisoning: z.array(z.string()),
    approval: z.enum(APPROVALS),
    argument_rules: z.array(ArgumentRule),
    price_per_call_usd: z.string().nullable(),
    last_called_at: time().nullable(),
    created_at: time(),
    updated_at: time(),
  })
  .meta({ id: 'McpTool' });

const price = () =>
  z
    .union([z.number().transform(String), z.string().max(20)])
    .refine(
      (amount) => /^\d{1,4}(?:\.\d{1,6})?$/.test(amount) && Number(amount) <= 1_000,
      'must be between 0 and 1000, with at most 6 decimals',
    )
    .meta({ type: ['number', 'string'], examples: ['0.01'] });

const decisions = {
  description: text(4_000),
  input_schema: storedJson(inputSchema()).nullable(),
  enabled: z.boolean(),
  approval: z.enum(APPROVALS),
  argument_rules: z.array(ArgumentRule).max(20),
  price_per_call_usd: price().nullable(),
  route_id: uuid().nullable(),
  operation: ToolOperation.nullable(),
};

export const UpsertMcpTool = z.object({ id: pathId(), tool_name: z.string().min(1).max(128) }).extend(z.object(decisions).partial().shape);

/** `pinned_hash` approves exactly the definition that was looked at; null takes the approval back. */
export const UpdateMcpTool = atLeastOne(
  z
    .object(decisions)
    .partial()
    .extend({
      id: pathId(),
      toolId: pathId(),
      allowed: z.boolean().optional(),
      pinned_hash: z
        .string()
        .regex(/^[0-9a-f]{64}$/, 'must be a hash in 64 lowercase hexadecimal digits')
        .meta({ examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'] })
        .nullable()
        .optional(),
    }),
  ['id', 'toolId'],
);
export const McpToolRef = z.object({ id: pathId(), toolId: pathId() });
export const DeletedMcpTool = z.object({ deleted: z.literal(true), id: z.uuid() }).meta({ id: 'DeletedMcpTool' });

export const ToolFromRoute = z.object({
  id: pathId(),
  route_id: uuid(),
  method: z.enum(METHODS).default('GET'),
  path: z.string().min(1).max(2_000).default('/'),
  name: toolName(),
  description: text(4_000).optional(),
});

/** A document as it is, or where to read it; JSON or YAML. */
export const ImportOpenApi = z.object({
  id: pathId(),
  document: z.union([anyObject(), z.string().min(1).max(524_288)]).optional(),
  url: z.string().min(1).max(2048).optional(),
  route_id: uuid(),
  include: z.array(z.string().min(1).max(300)).max(500).optional(),
  prefix: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{0,40}$/, 'must be at most 40 letters, digits, dots, dashes and underscores')
    .optional(),
  dry_run: z.boolean().default(true),
});
export const ImportedTools = z
  .object({
    dry_run: z.boolean(),
    tools: z.array(
      z.object({
        tool_name: z.string(),
        description: z.string().nullable(),
        input_schema: anyObject(),
        operation: anyObject(),
        /** A tool of this name exists, and is replaced. */
        exists: z.boolean(),
      }),
    ),
    skipped: z.array(z.object({ operation: z.string(), reason: z.string() })),
  })
  .meta({ id: 'McpImportedTools' });

export const RefreshMcpServer = z.object({ id: pathId(), pin: z.boolean().default(false) });
