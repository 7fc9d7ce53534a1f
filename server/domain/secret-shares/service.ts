import type { z } from 'zod';
import { mintToken } from '#server/crypto/tokens.ts';
import { raise } from '#server/domain/events/service.ts';
import { requireFeature } from '#server/domain/plans/service.ts';
import { denyingPolicy, policyDenied } from '#server/domain/policies/service.ts';
import { canonicalHosts, changedElsewhere, lockedSecret, requireOwn, secretById, widensPins } from '#server/domain/secrets/service.ts';
import { Prisma } from '#server/generated/prisma/client.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { throttled } from '#server/platform/throttle.ts';
import { mailOffer, mailRevocation } from './mails.ts';
import type { CreateShare, UpdateShare } from './schema.ts';
import { lockedShare, RANK, type ShareRow, type ShownShare, shareById, shown, stateOf } from './store.ts';

export { endSharesOf } from './erasure.ts';

const OFFER_MS = 7 * 24 * 3_600_000;
/** Offered or active shares of one secret. */
const MOST = 100;

/** Every share of the secret, the newest first. @throws Refusal not_found */
export const listShares = (ctx: Ctx, { id }: { id: string }) =>
  read(ctx, async (tx) => {
    const secret = await secretById(tx, ctx, id);
    const rows = await tx.secret_shares.findMany({
      where: { ...own(ctx), secret_id: secret.id },
      orderBy: [{ created_at: 'desc' }, { id: 'desc' }],
      take: 500,
    });
    return { shares: await shown(tx, ctx, rows) };
  });

type NewShare = z.output<typeof CreateShare>;

/** Whether the recipient could get to know the value, which takes what a reveal takes (interface rule 30 §14.2). */
export const discloses = ({ access_level, unrestricted }: Pick<NewShare, 'access_level' | 'unrestricted'>): boolean =>
  access_level !== 'use' || unrestricted;

/** Everything about a new share that may be wrong. @throws Refusal not_found, forbidden for a linked secret, validation_error, conflict */
export async function checkedShare(tx: Tx, ctx: Ctx, input: NewShare) {
  const secret = await secretById(tx, ctx, input.id);
  requireOwn(secret);
  assertShareable(secret, input.access_level);
  if (input.unrestricted && input.allowed_hosts) throw invalid('allowed_hosts', 'must be left out when unrestricted is true');
  if (!input.unrestricted && !input.allowed_hosts) throw invalid('allowed_hosts', 'is required unless unrestricted is true');
  assertFuture(ctx, input.expires_at);
  const environment = input.environment ?? secret.base_environment;
  const held =
    environment &&
    (await tx.secret_environments.findFirst({ where: { ...own(ctx), secret_id: secret.id, environment_name: environment } }));
  if (!held)
    throw invalid('environment', environment ? `${secret.name} has no value in ${environment}` : `${secret.name} has no value yet`);
  const open = (
    await tx.secret_shares.findMany({ where: { ...own(ctx), secret_id: secret.id, status: { in: ['pending', 'active'] } } })
  ).filter((row) => ['pending', 'active'].includes(stateOf(row, ctx.now)));
  if (open.length >= MOST) throw new Refusal('conflict', `A secret can have at most ${MOST} shares. Revoke one first.`);
  return { secret, environment: held.environment_name, allowed_hosts: input.allowed_hosts ? canonicalHosts(input.allowed_hosts) : null };
}

/** What holds for a share when it is made and whenever it is changed. @throws Refusal forbidden, invalid_type, validation_error */
function assertShareable({ is_escrow, secret_type }: { is_escrow: boolean; secret_type: string }, level: string): void {
  if (is_escrow) throw new Refusal('forbidden', 'Escrowed credentials cannot be shared.');
  if (secret_type === 'certificate') throw new Refusal('invalid_type', 'Certificates cannot be shared.');
  if (secret_type === 'oauth2' && level !== 'use') throw invalid('access_level', 'must be use for OAuth2 connections');
}

function assertFuture(ctx: Ctx, expiresAt: Date | null | undefined): void {
  if (expiresAt && expiresAt <= ctx.now) throw invalid('expires_at', 'must be in the future');
}

/** Offers the secret to an address by mail; an offer that waits there is replaced. `disclosing` is set by the gate that such a share takes. */
export async function createShare(ctx: Ctx, input: NewShare, { disclosing }: { disclosing: boolean }): Promise<ShownShare> {
  if (discloses(input) !== disclosing) throw new Error('a share that discloses the value has come without its gate');
  await assertNoPolicy(ctx, input.id);
  const giveBack = await admit(ctx, input.email);
  return sending(giveBack, (onSend) =>
    mutate(ctx, async (tx) => {
      await lockedSecret(tx, ctx, input.id, { for: 'change' });
      const { secret, environment, allowed_hosts } = await checkedShare(tx, ctx, input);
      const { token, digest } = mintToken('share_claim');
      const replaced = await tx.secret_shares.updateMany({
        where: { ...own(ctx), secret_id: secret.id, recipient_email: input.email, status: 'pending' },
        data: { status: 'revoked', revoked_at: ctx.now, token_digest: null, updated_at: ctx.now },
      });
      const { access_level, unrestricted, message = null, expires_at = null } = input;
      const row = await tx.secret_shares.create({
        data: {
          ...{ ...own(ctx), id: newId(), secret_id: secret.id, secret_name: secret.name, environment_name: environment },
          ...{ recipient_email: input.email, access_level, unrestricted, message, expires_at },
          allowed_hosts: allowed_hosts ?? Prisma.DbNull,
          token_digest: new Uint8Array(digest),
          token_expires_at: new Date(ctx.now.getTime() + OFFER_MS),
          created_by: String(ctx.actor.id),
          inviter_label: ctx.actor.label,
          created_at: ctx.now,
          updated_at: ctx.now,
        },
      });
      onSend(await mailOffer(tx, ctx, row, token));
      return audited(await one(tx, ctx, row), {
        ...entryOf('create', row),
        details: { secret_id: secret.id, access_level, unrestricted, allowed_hosts, environment, expires_at, replaced: replaced.count > 0 },
      });
    }),
  );
}

type Edit = z.output<typeof UpdateShare>;

/** Whether the edit gives the recipient the value, the right to change it, or further hosts to send it to. */
export const raises = (
  row: Pick<ShareRow, 'access_level' | 'allowed_hosts'>,
  { access_level, allowed_hosts }: Pick<Edit, 'access_level' | 'allowed_hosts'>,
): boolean =>
  (access_level !== undefined && RANK[access_level] > RANK[row.access_level as keyof typeof RANK]) ||
  (allowed_hosts !== undefined && widensPins(row.allowed_hosts as string[] | null, canonicalHosts(allowed_hosts)));

/** Everything about the changed share that may be wrong. @throws Refusal conflict for a share that ended, and what `checkedShare` throws */
export async function checkedEdit(tx: Tx, ctx: Ctx, row: ShareRow, input: Edit) {
  const state = stateOf(row, ctx.now);
  if (state !== 'pending' && state !== 'active')
    throw new Refusal('conflict', `This share is ${state} and can't be changed. Share the secret again.`);
  assertShareable(await secretById(tx, ctx, row.secret_id), input.access_level ?? row.access_level);
  // On a smaller plan a share may still be narrowed.
  if (raises(row, input)) requireFeature(ctx, 'secret_sharing');
  assertFuture(ctx, input.expires_at);
  return input.allowed_hosts ? canonicalHosts(input.allowed_hosts) : undefined;
}

/** Changes what the recipient may do, from their next call on. `raising` is set by the gate that a higher level takes. */
export async function updateShare(ctx: Ctx, input: Edit, { raising }: { raising: boolean }): Promise<ShownShare> {
  await assertNoPolicy(ctx, input.id);
  return mutate(ctx, async (tx) => {
    const before = await lockedShare(tx, ctx, input);
    const hosts = await checkedEdit(tx, ctx, before, input);
    // It was changed between the look that chose the gate and the lock.
    if (!raising && raises(before, input)) throw new Refusal('conflict', 'The share was changed at the same time. Try again.');
    const { access_level, expires_at } = input;
    const after = await tx.secret_shares.update({
      where: { id: before.id, ...own(ctx) },
      data: {
        ...(access_level === undefined ? {} : { access_level }),
        ...(expires_at === undefined ? {} : { expires_at }),
        ...(hosts === undefined ? {} : { allowed_hosts: hosts, unrestricted: false }),
        updated_at: ctx.now,
      },
    });
    reach(ctx, after);
    return audited(await one(tx, ctx, after), {
      ...entryOf('update', after),
      changes: changesOf(before, after, ['access_level', 'allowed_hosts', 'unrestricted', 'expires_at']),
      details: { secret_id: after.secret_id },
    });
  });
}

/** Ends the share with the recipient's next call. Revoking again changes nothing. @throws Refusal not_found */
export async function revokeShare(ctx: Ctx, ref: { id: string; shareId: string }): Promise<ShownShare> {
  return sending(NOTHING_TAKEN, (onSend) =>
    mutate(ctx, async (tx) => {
      const before = await lockedShare(tx, ctx, ref);
      if (before.status !== 'pending' && before.status !== 'active') return unchanged(await one(tx, ctx, before));
      const row = await tx.secret_shares.update({
        where: { id: before.id, ...own(ctx) },
        data: { status: 'revoked', revoked_at: ctx.now, token_digest: null, updated_at: ctx.now },
      });
      reach(ctx, row);
      onSend(await mailRevocation(tx, ctx, row, before.status));
      await raise(tx, ctx, [
        {
          type: 'secret.share.revoked',
          source_id: row.secret_id,
          data: {
            id: row.secret_id,
            name: row.secret_name,
            share_id: row.id,
            recipient_email: row.recipient_email,
            environment: row.environment_name,
          },
        },
      ]);
      return audited(await one(tx, ctx, row), { ...entryOf('revoke', row), details: { secret_id: row.secret_id, was: before.status } });
    }),
  );
}

/** Mails a new link, for another seven days; the link of the mail before stops working. @throws Refusal not_found, conflict, rate_limited */
export async function resendShare(ctx: Ctx, ref: { id: string; shareId: string }): Promise<ShownShare> {
  await assertNoPolicy(ctx, ref.id);
  const seen = await read(ctx, (tx) => shareById(tx, ctx, ref));
  const giveBack = await throttled([{ what: 'share-resend', subject: seen.id, limit: 5, window_sec: 3600 }], ctx.now, 'rate_limited');
  return sending(giveBack, (onSend) =>
    mutate(ctx, async (tx) => {
      const before = await lockedShare(tx, ctx, ref);
      if (before.status !== 'pending' || (before.expires_at && before.expires_at <= ctx.now))
        throw new Refusal('conflict', `This share is ${stateOf(before, ctx.now)}. Only an offer that is waiting can be sent again.`);
      const { token, digest } = mintToken('share_claim');
      const row = await tx.secret_shares.update({
        where: { id: before.id, ...own(ctx) },
        data: { token_digest: new Uint8Array(digest), token_expires_at: new Date(ctx.now.getTime() + OFFER_MS), updated_at: ctx.now },
      });
      onSend(await mailOffer(tx, ctx, row, token));
      return audited(await one(tx, ctx, row), { ...entryOf('update', row), details: { secret_id: row.secret_id, resent: true } });
    }),
  );
}

async function one(tx: Tx, ctx: Ctx, row: ShareRow): Promise<ShownShare> {
  const [share] = await shown(tx, ctx, [row]);
  return share as ShownShare;
}

const entryOf = (action: string, row: ShareRow) => ({
  action,
  resource_type: 'secret_share',
  resource_id: row.id,
  name: `${row.secret_name} to ${row.recipient_email}`,
});

/** The recipient's gateways read the link again before the answer is relayed. */
function reach(ctx: Ctx, { recipient_tenant_id }: ShareRow): void {
  if (recipient_tenant_id) changedElsewhere(ctx, recipient_tenant_id);
}

/** Ordinary shares are changes of the secret; a policy against sharing denies them too. */
async function assertNoPolicy(ctx: Ctx, secretId: string): Promise<void> {
  const secret = await read(ctx, (tx) => secretById(tx, ctx, secretId));
  const policy = await denyingPolicy(ctx, 'secret:share', { id: secret.id, name: secret.name });
  if (policy) throw policyDenied(ctx, policy, 'secret:share');
}

/** Neither a workspace nor several together may fill a stranger's mailbox. */
const admit = (ctx: Ctx, email: string) =>
  throttled(
    [
      { what: 'share-workspace', subject: ctx.tenant_id, limit: 300, window_sec: 86_400 },
      { what: 'share-pair', subject: `${ctx.tenant_id} ${email}`, limit: 20, window_sec: 3600 },
      { what: 'share-address', subject: email, limit: 50, window_sec: 86_400 },
    ],
    ctx.now,
    'rate_limited',
  );

const NOTHING_TAKEN = async () => {};

/** Sends the mail after the commit; what was refused mailed nobody and doesn't count. */
async function sending<T>(giveBack: () => Promise<void>, work: (onSend: (send: () => void) => void) => Promise<T>): Promise<T> {
  let send = () => {};
  const answer = await work((given) => {
    send = given;
  }).catch(async (error: unknown) => {
    await giveBack();
    throw error;
  });
  send();
  return answer;
}
