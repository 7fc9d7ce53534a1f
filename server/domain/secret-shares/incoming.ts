import type { z } from 'zod';
import { classifyCredential, digest } from '#server/crypto/tokens.ts';
import { raise } from '#server/domain/events/service.ts';
import { postTeamMails } from '#server/domain/mail/service.ts';
import { type AccessLevel, deleteSecret, inSharingWorkspace, insertLinked, linksOf } from '#server/domain/secrets/service.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { env } from '#server/platform/env.ts';
import { network, throttled } from '#server/platform/throttle.ts';
import { shareDeclined } from './letters.ts';
import type { ClaimShare } from './schema.ts';

type Offer = {
  id: string;
  secret_name: string;
  owner_workspace: string;
  offered_by: string;
  access_level: AccessLevel;
  allowed_hosts: string[] | null;
  unrestricted: boolean;
  environment: string;
  message: string | null;
  created_at: Date;
  expires_at: Date | null;
  offer_expires_at: Date;
};

/** What is offered to the verified address of the person who asks, then what this workspace has accepted; ended shares stay as long as their linked secret. */
export const incomingShares = (ctx: Ctx) =>
  read(ctx, async (tx) => {
    const person = ctx.actor.type === 'member' ? ctx.actor.id : null;
    const offers = await tx.$queryRaw<Offer[]>`select * from share_offers(${person}::uuid, ${ctx.now}::timestamptz)`;
    const linked = await tx.secrets.findMany({
      where: { ...own(ctx), linked_share_id: { not: null } },
      orderBy: [{ created_at: 'desc' }, { id: 'desc' }],
      select: { id: true, name: true, created_at: true },
      take: 500,
    });
    const links = await linksOf(
      tx,
      ctx,
      linked.map(({ id }) => id),
    );
    return {
      shares: [
        ...offers.map((offer) => ({ ...offer, status: 'pending' as const, claimed_at: null, linked_secret_id: null })),
        ...linked.flatMap(({ id, name, created_at }) => {
          const link = links.get(id);
          if (!link) return [];
          const { share_id, state, owner_workspace, access_level, allowed_hosts, unrestricted, environment, claimed_at, share_expires_at } =
            link;
          return {
            ...{
              id: share_id,
              status: state,
              secret_name: name,
              owner_workspace,
              offered_by: null,
              access_level,
              allowed_hosts,
              environment,
            },
            ...{ unrestricted: unrestricted ?? false, message: null, created_at, expires_at: share_expires_at, offer_expires_at: null },
            ...{ claimed_at, linked_secret_id: id },
          };
        }),
      ],
    };
  });

/**
 * Accepts an offer into this workspace, as the person whose verified address it was sent to. Whatever is wrong with the token is one answer.
 * @throws Refusal share_not_found, plan_limit, conflict when the name is taken, validation_error, rate_limited
 */
export async function claimShare(ctx: Ctx, input: z.output<typeof ClaimShare>) {
  const giveBack = await throttled([{ what: 'share-claim', subject: network(ctx.ip), limit: 10, window_sec: 60 }], ctx.now, 'rate_limited');
  if (classifyCredential(input.token).kind !== 'share_claim') throw noSuchShare();
  const claimed = await mutate(ctx, async (tx) => {
    const linkedId = newId();
    const [share] = await tx.$queryRaw<{ id: string; secret_type: string; secret_name: string; owner_workspace: string }[]>`
      select * from claim_share(${new Uint8Array(digest(input.token))}::bytea, ${personOf(ctx)}::uuid, ${linkedId}::uuid, ${ctx.now}::timestamptz)`;
    if (!share) throw noSuchShare();
    const { row, entry } = await insertLinked(tx, ctx, {
      id: linkedId,
      linked_share_id: share.id,
      secret_type: share.secret_type,
      name: input.name ?? share.secret_name,
      collection_id: input.collection_id ?? null,
    });
    await inSharingWorkspace(tx, ctx, share.id, async (there, shared) => {
      const recipient = await tx.secret_shares.findUniqueOrThrow({ where: { id: share.id }, select: { recipient_tenant_name: true } });
      await raise(tx, there, [
        {
          type: 'secret.share.claimed',
          source_id: shared.secret_id,
          data: { id: shared.secret_id, name: shared.secret_name, share_id: share.id, environment: shared.environment, ...recipient },
        },
      ]);
      return audited(undefined, {
        action: 'accept',
        resource_type: 'secret_share',
        resource_id: share.id,
        name: shared.secret_name,
        details: { secret_id: shared.secret_id, access_level: shared.access_level, ...recipient },
      });
    });
    return audited(
      { id: row.id, name: row.name, share_id: share.id, owner_workspace: share.owner_workspace },
      {
        action: 'accept',
        resource_type: 'secret_share',
        resource_id: share.id,
        name: row.name,
        details: { secret_id: row.id, owner_workspace: share.owner_workspace },
      },
      entry,
    );
  });
  // Only attempts that fail count: guessing is what is limited.
  await giveBack();
  return claimed;
}

/** @throws Refusal not_found for what isn't offered to this person */
export function declineShare(ctx: Ctx, { shareId }: { shareId: string }) {
  if (!isUuid(shareId)) throw notFound();
  return mutate(ctx, async (tx) => {
    const [share] = await tx.$queryRaw<{ id: string; secret_name: string; owner_workspace: string }[]>`
      select * from decline_share(${shareId}::uuid, ${personOf(ctx)}::uuid, ${ctx.now}::timestamptz)`;
    if (!share) throw notFound();
    await inSharingWorkspace(tx, ctx, share.id, async (there, shared) => {
      const workspace = await tx.tenants.findUniqueOrThrow({ where: { id: there.tenant_id }, select: { name: true, slug: true } });
      const { recipient_email } = await tx.secret_shares.findUniqueOrThrow({ where: { id: share.id }, select: { recipient_email: true } });
      const url = `${env.PUBLIC_ADMIN_URL}/${workspace.slug}/${spaceOf(ctx.sandbox)}/secrets/${shared.secret_id}?tab=sharing`;
      const letter = shareDeclined({ workspace: workspace.name, secret: shared.secret_name, recipient: recipient_email }, url);
      await postTeamMails(tx, { tenant_id: there.tenant_id, kind: 'share_declined', to: ['owner', 'admin'], letter, now: ctx.now });
      return audited(undefined, {
        action: 'dismiss',
        resource_type: 'secret_share',
        resource_id: share.id,
        name: shared.secret_name,
        details: { secret_id: shared.secret_id },
      });
    });
    return audited(
      { id: share.id, status: 'declined' as const },
      {
        action: 'dismiss',
        resource_type: 'secret_share',
        resource_id: share.id,
        name: share.secret_name,
        details: { owner_workspace: share.owner_workspace },
      },
    );
  });
}

/** Gives a share up by deleting the secret that leads to it. @throws Refusal not_found, in_use */
export async function leaveShare(ctx: Ctx, { shareId }: { shareId: string }) {
  const linked = isUuid(shareId)
    ? await read(ctx, (tx) => tx.secrets.findFirst({ where: { ...own(ctx), linked_share_id: shareId }, select: { id: true } }))
    : null;
  if (!linked) throw notFound();
  return deleteSecret(ctx, linked);
}

const noSuchShare = () =>
  new Refusal(
    'share_not_found',
    'This share was not found. The link may have been used, replaced or revoked, or it was sent to another address than yours.',
  );

/** Only people are offered something: their address is what the offer names. */
function personOf(ctx: Ctx): string {
  if (ctx.actor.type !== 'member')
    throw new Refusal('role_denied', 'Only a person can accept or decline a share: it is offered to their address.');
  return ctx.actor.id;
}
