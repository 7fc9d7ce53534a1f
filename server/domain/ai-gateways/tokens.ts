import type { z } from 'zod';
import { isSigned, signCapability } from '#server/custody/capabilities.ts';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { type AuditEntry, audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { type Page, pageOf } from '#server/kernel/page.ts';
import { inOrder, listIds } from '#server/platform/lists/list.ts';
import type { Filter } from '#server/platform/lists/sql.ts';
import { assertAdministers } from './administering.ts';
import { insertToken, sealed } from './minting.ts';
import { agentById, gatewayById } from './store.ts';
import type { AiToken, ListAiTokens, RotateAiToken, TokenKind, TokenScope } from './tokens.schema.ts';

export type TokenRow = Prisma.ai_tokensGetPayload<object>;
type Owner = { column: 'agent_id' | 'gateway_id'; id: string };

/** Newest first; neither the text nor its hash is read. @throws Refusal not_found */
export const listAgentTokens = (ctx: Ctx, query: z.output<typeof ListAiTokens>) =>
  read(ctx, async (tx) => listed(tx, ctx, { column: 'agent_id', id: (await agentById(tx, ctx, query.id)).id }, query));

/** Of all its agents, and of none. @throws Refusal not_found */
export const listGatewayTokens = (ctx: Ctx, query: z.output<typeof ListAiTokens>) =>
  read(ctx, async (tx) => listed(tx, ctx, { column: 'gateway_id', id: (await gatewayById(tx, ctx, query.id)).id }, query));

async function listed(
  tx: Tx,
  ctx: Ctx,
  { column, id }: Owner,
  { id: _, kind, active, ...query }: z.output<typeof ListAiTokens>,
): Promise<Page<z.input<typeof AiToken>>> {
  const filters: (Filter | false)[] = [
    { where: (bind) => `${column} = ${bind(id, 'uuid')}` },
    kind !== undefined && { where: (bind) => `kind = ${bind(kind, 'text')}` },
    active !== undefined && {
      where: (bind) =>
        `${active ? '' : 'not '}(revoked_at is null and oneshot_consumed_at is null and expires_at > ${bind(ctx.now.toISOString(), 'timestamptz')})`,
    },
  ];
  const { ids, total } = await listIds(tx, ctx, { ...query, table: 'ai_tokens', filters });
  const rows = await tx.ai_tokens.findMany({ where: { ...own(ctx), id: { in: ids } }, omit: { token_hash: true, capability_hmac: true } });
  const shown = rows.map((row) => ({ ...row, last_country: (row.last_geo as { country?: string | null } | null)?.country ?? null }));
  return pageOf(inOrder(ids, shown) as unknown as z.input<typeof AiToken>[], total, query);
}

/** Holds the row until the transaction ends. @throws Refusal not_found when it isn't under this agent or gateway */
async function lockedToken(tx: Tx, ctx: Ctx, { column, id }: Owner, token_id: string): Promise<TokenRow> {
  const where = { ...own(ctx), id: token_id, [column]: id };
  if (!isUuid(token_id) || !(await tx.ai_tokens.findFirst({ where, select: { id: true } }))) throw notFound();
  await tx.$queryRaw`select 1 from ai_tokens where id = ${token_id}::uuid for no key update`;
  return tx.ai_tokens.findFirstOrThrow({ where });
}

type TokenRef = { id: string; token_id: string };

/** Refused at its next use, everywhere. Idempotent. @throws Refusal not_found */
export const revokeAgentToken = (ctx: Ctx, { id, token_id }: TokenRef) =>
  mutate(ctx, async (tx) =>
    revoke(tx, ctx, await lockedToken(tx, ctx, { column: 'agent_id', id: (await agentById(tx, ctx, id)).id }, token_id)),
  );

export const revokeGatewayToken = (ctx: Ctx, { id, token_id }: TokenRef) =>
  mutate(ctx, async (tx) =>
    revoke(tx, ctx, await lockedToken(tx, ctx, { column: 'gateway_id', id: (await gatewayById(tx, ctx, id)).id }, token_id)),
  );

async function revoke(tx: Tx, ctx: Ctx, row: TokenRow) {
  const answer = { deleted: true as const, id: row.id, revoked: true as const };
  if (row.revoked_at !== null) return unchanged(answer);
  await tx.ai_tokens.update({ where: { id: row.id, ...own(ctx) }, data: { ...ENDED, revoked_at: ctx.now }, select: { id: true } });
  return audited(answer, tokenEntry('revoke', row));
}

/** Without its signature nothing brings a token back, even clearing the flag in the database (interface rule 50 §6.4). */
const ENDED = { capability_hmac: '' } as const;

/**
 * A successor that may do the same, for the original lifetime. The old token ends now, or after the grace.
 * @throws Refusal not_found, conflict for one that ended or is used once, tenant_sealed
 */
export const rotateToken = (ctx: Ctx, { id, token_id, grace_seconds }: z.output<typeof RotateAiToken>) =>
  mutate(ctx, async (tx) => {
    const old = await lockedToken(tx, ctx, { column: 'agent_id', id: (await agentById(tx, ctx, id)).id }, token_id);
    await assertRotatable(ctx, old);
    const { answer, entry } = await insertToken(tx, ctx, {
      gateway_id: old.gateway_id,
      agent_id: old.agent_id,
      name: old.name,
      kind: old.kind as TokenKind,
      scope: old.scope_jsonb as TokenScope,
      dpop_jkt: old.dpop_jkt,
      lifetime_seconds: old.lifetime_seconds,
      origin: 'minted',
      rotated_from: old.id,
    });
    const end = new Date(ctx.now.getTime() + grace_seconds * 1_000);
    const expires_at = end < old.expires_at ? end : old.expires_at;
    const signature = await signCapability({ ...old, expires_at }).catch(sealed);
    await tx.ai_tokens.update({ where: { id: old.id, ...own(ctx) }, data: { ...signature, expires_at }, select: { id: true } });
    return audited(
      { ...answer, rotated_from: old.id },
      tokenEntry('rotate', old, { successor_id: answer.id, successor_prefix: answer.prefix, expires_at: expires_at.toISOString() }),
      entry,
    );
  });

/** What somebody wrote into the database isn't signed anew. @throws Refusal conflict, tenant_sealed */
async function assertRotatable({ now }: Ctx, row: TokenRow): Promise<void> {
  const ended =
    row.revoked_at !== null ? 'was revoked' : row.expires_at <= now ? 'has expired' : row.kind === 'oneshot' ? 'is used once' : undefined;
  if (ended !== undefined) throw new Refusal('conflict', `This token ${ended}, so it can't be rotated. Mint another one.`);
  if (!(await isSigned(row).catch(sealed)))
    throw new Refusal(
      'conflict',
      "This token's signature doesn't match what it may do, so it can't be rotated. Revoke it and mint another one.",
    );
}

/**
 * Lifts the flag of impossible travel, so that the token can be used again, from wherever that is.
 * @throws Refusal not_found, role_denied or forbidden for all but Owners and Admins
 */
export const clearStepUp = (ctx: Ctx, { token_id }: { token_id: string }) =>
  mutate(ctx, async (tx) => {
    const where = { ...own(ctx), id: token_id };
    const row = isUuid(token_id) ? await tx.ai_tokens.findFirst({ where }) : null;
    if (!row) throw notFound();
    assertAdministers(ctx, 'An Owner or Admin clears the flag of a token, with a second factor.');
    const answer = { id: row.id, step_up_required: false as const };
    if (!row.step_up_required) return unchanged(answer);
    await tx.$executeRaw`update ai_tokens set step_up_required = false, last_geo = null where id = ${row.id}::uuid`;
    return audited(answer, { ...tokenEntry('update', row), changes: [{ field: 'step_up_required', from: true, to: false }] });
  });

const tokenEntry = (action: string, row: TokenRow, details: Record<string, unknown> = {}): AuditEntry => ({
  action,
  resource_type: 'ai_token',
  resource_id: row.id,
  ...(row.name === null ? {} : { name: row.name }),
  details: { kind: row.kind, prefix: row.prefix, agent_id: row.agent_id, gateway_id: row.gateway_id, ...details },
});
