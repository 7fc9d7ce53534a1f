import { z } from 'zod';
import { environmentName } from '#server/domain/environments/schema.ts';
import { canonicalAddress } from '#server/kernel/address.ts';
import { atLeastOne, label, pathId, shownOnce, time, uuid } from '#server/kernel/fields.ts';
import { anyObject } from '#server/kernel/json-fields.ts';
import { COMMAND_STATES, COMMANDS, CONNECTIVITY, MODES } from './modes.shared.ts';

const row = {
  id: z.uuid(),
  name: z.string(),
  agent_id: z.string(),
  status: z.enum(['active', 'revoked']),
  mode: z.enum(MODES),
  require_verified_build: z.boolean(),
  sandbox: z.boolean(),
  created_at: time(),
};

export const Agent = z
  .object({
    ...row,
    version: z.string().nullable(),
    connectivity: z.enum(CONNECTIVITY),
    last_seen_at: time().nullable(),
    last_session_issued_at: time().nullable(),
    has_tamper_events: z.boolean(),
  })
  .meta({ id: 'Agent' });

export const AgentCreated = z.object({ ...row, agent_secret: shownOnce(z.string()) }).meta({ id: 'AgentCreated' });
export const AgentRef = z.object({ id: pathId() });
export const CreateAgent = z.object({ name: label(100) });
export const AgentRevoked = z.object({ deleted: z.literal(true), revoked: z.literal(true) }).meta({ id: 'AgentRevoked' });

export const TamperEvent = z
  .object({
    id: z.uuid(),
    kind: z.enum(['unknown_build', 'fingerprint_mismatch', 'bad_bundle']),
    version_reported: z.string().nullable(),
    build_sig_reported: z.string().nullable(),
    src_ip: z.string().nullable(),
    action_taken: z.string().nullable(),
    detected_at: time(),
  })
  .meta({ id: 'AgentTamperEvent' });

// The dashboard.

export const AgentRow = Agent.extend({
  hostname: z.string().nullable(),
  os: z.string().nullable(),
  arch: z.string().nullable(),
  build_verified: z.boolean().nullable(),
  /** Routes that it may serve, and its calls of the last 24 hours. */
  routes: z.int(),
  requests_24h: z.int(),
  /** Whether a newer build than its own is known. */
  outdated: z.boolean(),
}).meta({ id: 'AgentRow' });

const counters = { requests: z.int(), errors: z.int(), intercepted: z.int(), passed: z.int() };
export const AgentHealth = z.object({
  uptime_s: z.int(),
  counters: z.object(counters),
  p95_ms: z.int().nullable(),
  mem_mb: z.int().nullable(),
  cpu: z.number().nullable(),
  last_error: z.string().nullable(),
  listeners: z.object({ port: z.int(), protocol: z.string(), open: z.boolean() }).array(),
});

export const AgentDetail = AgentRow.extend({
  environment: z.string().nullable(),
  allowed_route_ids: z.uuid().array(),
  allowed_cidrs: z.string().array(),
  build_sig: z.string().nullable(),
  fingerprint: z.string().nullable(),
  fingerprint_at: time().nullable(),
  last_ip: z.string().nullable(),
  last_heartbeat_at: time().nullable(),
  last_bundle_etag: z.string().nullable(),
  last_bundle_window: z.string().nullable(),
  tamper_count: z.int(),
  health: AgentHealth.nullable(),
  /** How many sessions are open now. */
  open_sessions: z.int(),
  previous_secret_expires_at: time().nullable(),
  revoked_at: time().nullable(),
  updated_at: time(),
}).meta({ id: 'AgentDetail' });

const cidr = z
  .string()
  .max(64)
  .transform((given, ctx) => {
    const range = canonicalAddress(given);
    if (range.ok) return range.value;
    ctx.addIssue({ code: 'custom', message: range.problem });
    return z.NEVER;
  });
const settings = {
  require_verified_build: z.boolean(),
  environment: environmentName().nullable(),
  allowed_route_ids: uuid()
    .array()
    .max(500)
    .transform((ids) => [...new Set(ids)]),
  allowed_cidrs: cidr
    .array()
    .max(50)
    .transform((ranges) => [...new Set(ranges)]),
};
export const EnrolAgent = z.object({ name: label(100), mode: z.enum(MODES), ...z.object(settings).partial().shape });
export const UpdateAgent = atLeastOne(
  z.object({ id: pathId(), ...z.object({ name: label(100), mode: z.enum(MODES), ...settings }).partial().shape }),
);
/** Commands for each platform. None has a credential in its arguments. */
export const InstallSnippets = z.object({ shell: z.string(), compose: z.string(), kubernetes: z.string(), systemd: z.string() });
/** The answer of the gate: nothing of a reveal is recorded anywhere, so nothing in it is marked. Without the gate the secret is. */
export const AgentEnrolled = z
  .object({ ...AgentCreated.shape, agent_secret: z.string(), install: InstallSnippets })
  .meta({ id: 'AgentEnrolled' });
export const AgentEnrolledOnce = AgentEnrolled.extend({ agent_secret: shownOnce(z.string()) }).meta({ id: 'AgentEnrolledOnce' });

export const RotateAgentSecret = z.object({ id: pathId(), grace_minutes: z.int().min(0).max(1440).default(60) });
export const RotatedAgentSecret = z
  .object({ id: z.uuid(), agent_id: z.string(), agent_secret: z.string(), previous_secret_expires_at: time().nullable() })
  .meta({ id: 'RotatedAgentSecret' });
export const RotatedAgentSecretOnce = RotatedAgentSecret.extend({ agent_secret: shownOnce(z.string()) }).meta({
  id: 'RotatedAgentSecretOnce',
});

export const CreateInstallToken = z.object({ id: pathId(), ttl_minutes: z.int().min(5).max(60).default(15) });
export const CreatedInstallToken = z
  .object({ id: z.uuid(), token: z.string(), expires_at: time(), command: z.string(), install: InstallSnippets })
  .meta({ id: 'CreatedAgentInstallToken' });
export const InstallToken = z
  .object({
    id: z.uuid(),
    prefix: z.string(),
    mode: z.enum(MODES),
    expires_at: time(),
    used_at: time().nullable(),
    used_from_ip: z.string().nullable(),
    revoked_at: time().nullable(),
    created_at: time(),
  })
  .meta({ id: 'AgentInstallToken' });
export const InstallTokenRef = z.object({ id: pathId(), tokenId: pathId() });

const scanArgs = z.strictObject({
  /** Folders on the host, absolute. */
  paths: z.string().min(1).max(1_024).startsWith('/').array().max(20).optional(),
  env: z.boolean().optional(),
  connections: z.boolean().optional(),
});
export const SendCommand = z.object({ id: pathId(), command: z.enum(COMMANDS), args: scanArgs.optional() });
export const AgentCommand = z
  .object({
    id: z.uuid(),
    command: z.enum(COMMANDS),
    args: anyObject(),
    status: z.enum(COMMAND_STATES),
    output: z.unknown().nullable(),
    error: z.string().nullable(),
    requested_by: z.string(),
    created_at: time(),
    sent_at: time().nullable(),
    finished_at: time().nullable(),
  })
  .meta({ id: 'AgentCommand' });

export const AgentSession = z
  .object({
    id: z.uuid(),
    window: z.string(),
    mode: z.enum(MODES),
    version: z.string().nullable(),
    ip: z.string().nullable(),
    issued_at: time(),
    expires_at: time(),
    revoked_at: time().nullable(),
    open: z.boolean(),
  })
  .meta({ id: 'AgentSession' });

export const AgentMetricsQuery = z.object({ id: pathId(), hours: z.coerce.number().int().min(1).max(168).default(24) });
export const AgentMetrics = z
  .object({
    points: z
      .object({ at: time(), ...counters, p95_ms: z.int().nullable(), mem_mb: z.int().nullable(), cpu: z.number().nullable() })
      .array(),
  })
  .meta({ id: 'AgentMetrics' });
