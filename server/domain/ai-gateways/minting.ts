import type { z } from 'zod';
import { mintCapability } from '#server/crypto/capability-tokens.ts';
import { TenantKeyUnavailable } from '#server/crypto/keyring.ts';
import { endWithin } from '#server/custody/backing.ts';
import { signCapability } from '#server/custody/capabilities.ts';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { canonicalAddress } from '#server/kernel/address.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { invalid, notFound, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { type AuditEntry, audited, mutate } from '#server/kernel/mutate.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import { grouped } from '#server/kernel/numbers.ts';
import { type AgentRow, agentById, creatorOf, type GatewayRow, gatewayById } from './store.ts';
import {
  DEFAULT_TTL_SECONDS,
  MAX_TTL_SECONDS,
  MIN_TTL_SECONDS,
  type MintAiToken,
  type MintGatewayToken,
  MOST_LIVE_TOKENS,
  ONESHOT_TTL_SECONDS,
  type TokenKind,
  type TokenScope,
} from './tokens.schema.ts';

type Asked = Omit<z.output<typeof MintAiToken>, 'id'>;

/** @throws Refusal not_found for an unknown or archived agent, validation_error, conflict with too many live tokens, tenant_sealed */
export const mintAgentToken = (ctx: Ctx, { id, ...asked }: z.output<typeof MintAiToken>) =>
  mutate(ctx, async (tx) => {
    const agent = present(await agentById(tx, ctx, id));
    return mint(tx, ctx, agent.gateway_id, agent, asked);
  });

/** For tools of MCP servers alone: nothing of it can call an agent. @throws as above */
export const mintGatewayToken = (ctx: Ctx, { id, ...asked }: z.output<typeof MintGatewayToken>) =>
  mutate(ctx, async (tx) => mint(tx, ctx, present(await gatewayById(tx, ctx, id)).id, null, asked));

function present<Row extends { status: string }>(row: Row): Row {
  if (row.status === 'archived') throw notFound();
  return row;
}

async function mint(tx: Tx, ctx: Ctx, gatewayId: string, agent: AgentRow | null, asked: Asked) {
  const { dpop_required, dpop_jkt } = asked;
  if (dpop_required && dpop_jkt === undefined) throw invalid('dpop_jkt', 'is required with dpop_required');
  if (!dpop_required && dpop_jkt !== undefined) throw invalid('dpop_required', 'must be true with dpop_jkt');
  if (asked.scope.resource !== undefined && asked.kind !== 'tool') throw invalid('scope.resource', 'is only for tokens of kind tool');
  const made = await insertToken(tx, ctx, {
    gateway_id: gatewayId,
    agent_id: agent?.id ?? null,
    name: asked.name ?? null,
    kind: asked.kind,
    scope: asked.scope,
    dpop_jkt: dpop_jkt ?? null,
    lifetime_seconds: lifetimeOf(ctx, asked),
    origin: 'minted',
  });
  return audited(made.answer, made.entry);
}

/** Clamped rather than refused: a token that never ends can't be had. */
function lifetimeOf({ now }: Ctx, { kind, expires_in_seconds, expires_at }: Asked): number {
  if (expires_in_seconds !== undefined && expires_at !== undefined)
    throw invalid('expires_at', 'must not be sent with expires_in_seconds; send one of them');
  const asked =
    expires_in_seconds ??
    (expires_at === undefined
      ? kind === 'oneshot'
        ? ONESHOT_TTL_SECONDS
        : DEFAULT_TTL_SECONDS
      : Math.floor((Date.parse(expires_at) - now.getTime()) / 1_000));
  return Math.min(Math.max(asked, MIN_TTL_SECONDS), MAX_TTL_SECONDS);
}

export type NewToken = {
  gateway_id: string;
  agent_id: string | null;
  name: string | null;
  kind: TokenKind;
  scope: TokenScope;
  dpop_jkt: string | null;
  lifetime_seconds: number;
  origin: 'minted' | 'exchange' | 'oauth';
  rotated_from?: string;
  oidc_binding_id?: string;
  created_by?: string | null;
};

/**
 * A signed token, in the caller's transaction: its text, what answers show, and its audit entry.
 * @throws Refusal conflict with too many live tokens of the gateway, tenant_sealed
 */
export async function insertToken(tx: Tx, ctx: Ctx, asked: NewToken) {
  const { scope: given, lifetime_seconds, created_by = creatorOf(ctx), ...rest } = asked;
  await assertRoom(tx, ctx, rest.gateway_id);
  const scope = normalScope(given);
  const { token, digest, prefix } = mintCapability(spaceOf(ctx.sandbox), rest.kind);
  const expires_at = await endWithin(tx, ctx, new Date(ctx.now.getTime() + lifetime_seconds * 1_000));
  const signed = { ...own(ctx), ...rest, token_hash: new Uint8Array(digest), expires_at, scope_jsonb: scope as Prisma.InputJsonObject };
  const row = await tx.ai_tokens.create({
    data: {
      ...signed,
      ...(await signCapability(signed).catch(sealed)),
      id: newId(),
      prefix,
      dpop_required: rest.dpop_jkt !== null,
      lifetime_seconds,
      created_by,
      created_at: ctx.now,
    },
  });
  const { id, name, kind, dpop_required, dpop_jkt, agent_id, gateway_id } = row;
  const answer = { id, name, kind: kind as TokenKind, prefix, token, dpop_required, dpop_jkt, expires_at, scope, agent_id, gateway_id };
  const entry: AuditEntry = {
    action: 'create',
    resource_type: 'ai_token',
    resource_id: id,
    ...(name === null ? {} : { name }),
    details: { kind, prefix, scope, expires_at: expires_at.toISOString(), dpop: dpop_required, agent_id, gateway_id, origin: row.origin },
  };
  return { answer, entry };
}

/** For `.catch` of what needs the workspace's key. */
export function sealed(error: unknown): never {
  if (error instanceof TenantKeyUnavailable)
    throw new Refusal('tenant_sealed', "This workspace's encryption key is unavailable. Try again later.", { cause: error });
  throw error;
}

/** One count and insert at a time, so that the limit holds. */
async function assertRoom(tx: Tx, ctx: Ctx, gateway_id: GatewayRow['id']): Promise<void> {
  await holdLock(tx, `${gateway_id}:ai_tokens`);
  const live = await tx.ai_tokens.count({
    where: { ...own(ctx), gateway_id, revoked_at: null, oneshot_consumed_at: null, expires_at: { gt: ctx.now } },
  });
  if (live >= MOST_LIVE_TOKENS)
    throw new Refusal('conflict', `A gateway can have at most ${grouped(MOST_LIVE_TOKENS)} tokens that can be used. Revoke some first.`);
}

/** Addresses in their one spelling, and no member that is undefined: signed as it is stored. */
function normalScope({ ip_cidrs, ...scope }: TokenScope): TokenScope {
  const kept = Object.fromEntries(Object.entries(scope).filter(([, value]) => value !== undefined)) as TokenScope;
  if (ip_cidrs === undefined) return kept;
  const canonical = ip_cidrs.map((given) => {
    const verdict = canonicalAddress(given);
    if (!verdict.ok) throw invalid('scope.ip_cidrs', verdict.problem);
    return verdict.value;
  });
  return { ...kept, ip_cidrs: [...new Set(canonical)] };
}
