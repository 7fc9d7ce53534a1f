import type { z } from 'zod';
import { mintGatewayToken } from '#server/crypto/tokens.ts';
import { endWithin } from '#server/custody/backing.ts';
import { raise } from '#server/domain/events/service.ts';
import { withinPlan } from '#server/domain/plans/service.ts';
import { lockedSecret, secretByRef } from '#server/domain/secrets/service.ts';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import { type AuditEntry, audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { upstreamHost } from '#server/kernel/upstream-url.ts';
import { wrapBaseHost, wrapUrl } from './addresses.ts';
import type { CreateWrapToken } from './schema.ts';
import { lastUsesOfTokens } from './store.ts';

export type RevokedReason = 'requested' | 'host_removed' | 'credential_deleted' | 'exposed' | 'expired';

/** Every token of this space, newest first; revoked ones for thirty days. */
export const listWrapTokens = (ctx: Ctx) =>
  read(ctx, async (tx) => {
    const rows = await tx.wrap_tokens.findMany({ where: own(ctx), orderBy: [{ created_at: 'desc' }, { id: 'desc' }], take: MOST_LISTED });
    const used = await lastUsesOfTokens(tx, ctx, rows);
    return { tokens: rows.map((row) => ({ ...row, last_used_at: used.get(row.id) ?? null })) };
  });
/** The plan's limit of live tokens, and as many again of revoked ones. */
const MOST_LISTED = 2_000;

/** A token for one credential at one host; shown once. @throws Refusal not_escrowed, plan_limit, validation_error */
export const createWrapToken = (ctx: Ctx, input: z.output<typeof CreateWrapToken>) =>
  mutate(ctx, async (tx) => {
    const secret = await credentialFor(tx, ctx, input.secret);
    const host = hostFor(secret.allowed_hosts as string[], input.host);
    const style = input.style ?? (wrapBaseHost() === undefined ? 'path' : 'subdomain');
    if (style === 'subdomain' && wrapBaseHost() === undefined)
      throw invalid('style', 'subdomain is not available: the operator has not set WRAP_BASE_HOST');
    await withinPlan(tx, ctx, 'wrap_tokens');
    const { token, digest } = mintGatewayToken();
    const { ttl_seconds } = input;
    const ends = await endWithin(tx, ctx, ttl_seconds === undefined ? null : new Date(ctx.now.getTime() + ttl_seconds * 1_000));
    const row = await tx.wrap_tokens.create({
      data: {
        ...own(ctx),
        id: newId(),
        secret_id: secret.id,
        token_hash: new Uint8Array(digest),
        host,
        label: input.label ?? null,
        style,
        created_by: creatorOf(ctx),
        created_at: ctx.now,
        expires_at: ends,
      },
    });
    const { id, expires_at, label } = row;
    const about = { wrap_token_id: id, secret_id: secret.id, host, expires_at: expires_at?.toISOString() ?? null };
    await raise(tx, ctx, [{ type: 'wrap.token.created', source_id: id, data: about }]);
    return audited(
      {
        id,
        token,
        base_url: wrapUrl({ token, host, style, space: spaceOf(ctx.sandbox) }),
        base_url_style: style,
        host,
        secret_id: secret.id,
        sandbox: ctx.sandbox,
        expires_at,
      },
      {
        action: 'create',
        resource_type: 'wrap_token',
        resource_id: id,
        ...(label === null ? {} : { name: label }),
        details: { secret_id: secret.id, secret: secret.name, host, style, expires_at: about.expires_at },
      },
    );
  });

/** The person behind a token that acts for one, else the credential: its end is the token's. */
const creatorOf = ({ actor }: Ctx): string | null => (actor.type === 'oauth_token' ? (actor.user_id ?? actor.id) : actor.id);

/** Refused at its next call. Revoking again changes nothing. @throws Refusal not_found */
export const revokeWrapToken = (ctx: Ctx, { id }: { id: string }) =>
  mutate(ctx, async (tx) => {
    const row = isUuid(id) ? await tx.wrap_tokens.findFirst({ where: { ...own(ctx), id }, select: { id: true } }) : null;
    if (!row) throw notFound();
    const answer = { deleted: true as const, id: row.id, revoked: true as const };
    const [entry] = await revokeTokens(tx, ctx, { id: row.id }, 'requested');
    return entry ? audited(answer, entry) : unchanged(answer);
  });

/** Ends the tokens that are not revoked yet, inside another verb's transaction. @returns their audit entries */
export async function revokeTokens(tx: Tx, ctx: Ctx, which: Prisma.wrap_tokensWhereInput, reason: RevokedReason): Promise<AuditEntry[]> {
  const rows = await tx.wrap_tokens.updateManyAndReturn({
    where: { ...own(ctx), ...which, revoked_at: null },
    data: { revoked_at: ctx.now, revoked_reason: reason },
    select: { id: true, secret_id: true, host: true, label: true },
  });
  await raise(
    tx,
    ctx,
    rows.map(({ id, secret_id, host }) => ({
      type: 'wrap.token.revoked',
      source_id: id,
      data: { wrap_token_id: id, secret_id, host, reason },
    })),
  );
  return rows.map(({ id, secret_id, host, label }) => ({
    action: 'revoke',
    resource_type: 'wrap_token',
    resource_id: id,
    ...(label === null ? {} : { name: label }),
    details: { secret_id, host, reason },
  }));
}

async function credentialFor(tx: Tx, ctx: Ctx, ref: string) {
  const found = (isUuid(ref) ? await secretByRef(tx, ctx, { id: ref }) : null) ?? (await secretByRef(tx, ctx, { name: ref }));
  if (!found) throw invalid('secret', 'no such wrap credential');
  // Held against deletion and against losing the host until the token is stored.
  const secret = await lockedSecret(tx, ctx, found.id, { for: 'change' });
  if (!secret.is_escrow)
    throw new Refusal('not_escrowed', `secret: ${secret.name} is not a wrap credential. Create one with POST /wrap/credentials.`);
  return secret;
}

function hostFor(allowed: readonly string[], asked: string | undefined): string {
  if (asked === undefined) {
    if (allowed.length === 1) return allowed[0] as string;
    throw invalid('host', 'is required: this credential allows several hosts');
  }
  const host = upstreamHost(asked);
  if (host === undefined || !allowed.includes(host)) throw invalid('host', "must be one of the credential's hosts");
  return host;
}
