import { z } from 'zod';
import { optionalLabel, pathId, time } from '#server/kernel/fields.ts';
import { columnObject } from '#server/kernel/json-fields.ts';
import { pageQuery } from '#server/kernel/page.ts';
import { McpProtocol } from './schema.ts';
import { PIN_STATES } from './tools.schema.ts';

/** A person's access to the upstream of a server. The tokens themselves are in no answer. */
export const McpGrant = z
  .object({
    id: z.uuid(),
    attributed_user_id: z.uuid().nullable(),
    external_id: z.string(),
    display_name: z.string().nullable(),
    scopes: z.array(z.string()),
    status: z.enum(['active', 'revoked']),
    created_at: time(),
    last_refreshed_at: time().nullable(),
    last_used_at: time().nullable(),
    has_refresh_token: z.boolean(),
  })
  .meta({ id: 'McpGrant' });

export const ListMcpGrants = z.object({ id: pathId(), ...pageQuery });
export const McpGrantRef = z.object({ id: pathId(), grantId: pathId() });
export const RevokedMcpGrant = z
  .object({ deleted: z.literal(true), id: z.uuid(), status: z.literal('revoked') })
  .meta({ id: 'RevokedMcpGrant' });
export const RevokedMcpGrants = z.object({ deleted: z.literal(true), id: z.uuid(), revoked: z.int() }).meta({ id: 'RevokedMcpGrants' });

export const ConnectMcp = z.object({ id: pathId() });
/** Where the browser goes to consent. */
export const McpConsent = z.object({ location: z.string() }).meta({ id: 'McpConsent' });
const sent = z.union([z.string(), z.array(z.string())]).optional();
export const McpCallback = z.object({ state: sent, code: sent, iss: sent, error: sent, error_description: sent });

/** What an upstream says of itself and its tools, now. */
export const ProbedMcp = z
  .object({
    tools: z.array(
      z.object({
        name: z.string(),
        description: z.string().nullable(),
        input_schema: columnObject(),
        allowed: z.boolean(),
        enabled: z.boolean(),
        pin_state: z.enum(PIN_STATES),
      }),
    ),
    protocol: McpProtocol,
  })
  .meta({ id: 'ProbedMcp' });

/** A tool call that waits, or waited, for a person. `arguments` are what the person may see: redacted, and never cut. */
export const McpApproval = z
  .object({
    id: z.uuid(),
    mcp_server_id: z.uuid(),
    server_name: z.string(),
    server_slug: z.string(),
    tool_name: z.string(),
    token_label: z.string(),
    user_id: z.string().nullable(),
    request_id: z.string(),
    arguments: z.unknown(),
    arguments_state: z.enum(['whole', 'left_out', 'unreadable']),
    arguments_bytes: z.int(),
    status: z.enum(['pending', 'approved', 'denied', 'expired']),
    decided_by: z.uuid().nullable(),
    decided_by_name: z.string().nullable(),
    decided_at: time().nullable(),
    reason: z.string().nullable(),
    created_at: time(),
    expires_at: time(),
    passes_until: time().nullable(),
    used_at: time().nullable(),
  })
  .meta({ id: 'McpApproval' });
export const ListMcpApprovals = z.object({ status: z.enum(['pending', 'decided']).optional(), ...pageQuery });
export const McpApprovalRef = z.object({ id: pathId() });
export const DecideMcpApproval = z.object({ id: pathId(), reason: optionalLabel(500).optional() });
export const McpApprovalCount = z.object({ pending: z.int() });
