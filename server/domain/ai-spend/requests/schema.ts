import { z } from 'zod';
import { isoTime, pathId, queryInt, time, uuid } from '#server/kernel/fields.ts';

export const STATUSES = ['ok', 'refused', 'upstream_error', 'stream_failed', 'client_closed'] as const;
const word = z.string().min(1).max(200);

export const NormalisedUsage = z
  .object({
    input_uncached: z.number(),
    input_cached: z.number(),
    cache_write_5m: z.number(),
    cache_write_1h: z.number(),
    output_text: z.number(),
    reasoning: z.number(),
    requests_web_search: z.number(),
    images: z.number(),
    seconds_audio: z.number(),
    source: z.enum(['provider', 'estimated']),
  })
  .meta({ id: 'AiCallUsage' });

export const AiRequest = z
  .object({
    request_id: z.uuid(),
    ts: time(),
    plane: z.enum(['ai', 'mcp']),
    sandbox: z.boolean(),
    gateway_id: z.uuid().nullable(),
    gateway_name: z.string().nullable(),
    agent_id: z.uuid().nullable(),
    agent_name: z.string().nullable(),
    mcp_server_id: z.uuid().nullable(),
    token_id: z.uuid().nullable(),
    token_prefix: z.string().nullable(),
    user: z.string().nullable(),
    team: z.string().nullable(),
    session_id: z.string().nullable(),
    tags: z.record(z.string(), z.string()),
    operation: z.string().nullable(),
    shape: z.string().nullable(),
    tool: z.string().nullable(),
    provider: z.string().nullable(),
    requested_model: z.string().nullable(),
    final_model: z.string().nullable(),
    route_id: z.uuid().nullable(),
    attempts: z.number(),
    fallback: z.string().nullable(),
    stream: z.boolean(),
    status: z.enum(STATUSES),
    http_status: z.number().nullable(),
    origin: z.string(),
    code: z.string().nullable(),
    upstream_status: z.number().nullable(),
    latency_ms: z.number().nullable(),
    upstream_ms: z.number().nullable(),
    first_byte_ms: z.number().nullable(),
    input_tokens: z.number(),
    output_tokens: z.number(),
    usage: NormalisedUsage.nullable(),
    cost_usd: z.number().nullable(),
    priced: z.boolean(),
    cache: z.string().nullable(),
    firewall: z.array(z.string()),
    pii: z.record(z.string(), z.number()),
    guardrail: z.string().nullable(),
    warnings: z.array(z.string()),
    ip: z.string().nullable(),
    country: z.string().nullable(),
    user_agent: z.string().nullable(),
    request_bytes: z.number().nullable(),
    response_bytes: z.number().nullable(),
  })
  .meta({ id: 'AiRequest' });

export const ListAiRequests = z.object({
  cursor: z.string().max(600).optional(),
  limit: queryInt(1, 1000).default(100),
  agent_id: uuid().optional(),
  gateway_id: uuid().optional(),
  mcp_server_id: uuid().optional(),
  token_id: uuid().optional(),
  user: word.optional(),
  model: word.optional(),
  status: z.enum(STATUSES).optional(),
  code: word.optional(),
  from: isoTime().optional(),
  to: isoTime().optional(),
});

export const AiRequestRef = z.object({ request_id: pathId() });
