import { randomBytes } from 'node:crypto';
import { asMember } from '#server/domain/team/members.fixture.ts';
import type { Ctx, Space } from '#server/kernel/context.ts';
import { spaceOf } from '#server/kernel/context.ts';
import { db } from '#server/platform/db.ts';
import { fresh, made, nothing, type Sample } from '#server/testing/factories.ts';
import { mailsTo } from '#server/testing/mailbox.ts';
import { workspace } from '#server/testing/workspace.ts';
import { CreateShare } from './schema.ts';
import { createShare } from './service.ts';

export const secretIn = async (ctx: Ctx, value = 'a value of the owner'): Promise<{ id: string; name: string }> =>
  made(ctx, 'secrets.create', { name: fresh('SHARED').replaceAll('-', '_'), value });

/** An offer without the gate, whatever it discloses: the gate has tests of its own. */
export async function offered(ctx: Ctx, email: string, more: Record<string, unknown> = {}) {
  const secret = await secretIn(ctx);
  const input = CreateShare.parse({
    id: secret.id,
    email,
    ...(more.unrestricted ? {} : { allowed_hosts: ['api.partner.example'] }),
    ...more,
  });
  const share = await createShare(ctx, input, { disclosing: input.access_level !== 'use' || input.unrestricted });
  return { share, secret, token: await claimTokenTo(email) };
}

/** The token in the newest mail that offers something to an address. */
export async function claimTokenTo(email: string): Promise<string> {
  const mail = (await mailsTo(email)).filter(({ kind }) => kind === 'share_offered').at(-1);
  const token = /token=(shc_[\w-]{43})/.exec(mail?.text ?? '')?.[1];
  if (!token) throw new Error(`nothing was offered to ${email}`);
  return token;
}

/** The verified address of the member that acts, who becomes a person with an account. */
export async function addressOf(ctx: Ctx): Promise<string> {
  await asMember(ctx);
  return (await db().users.update({ where: { id: String(ctx.actor.id) }, data: { email_verified_at: ctx.now } })).email;
}

/** Something another workspace offers to whoever acts. */
export async function offeredTo(ctx: Ctx, more: Record<string, unknown> = {}) {
  const owner = await workspace();
  const space: Space = spaceOf(ctx.sandbox);
  const at = owner.member('owner', space);
  return {
    owner,
    at,
    ...(await offered(at, ctx.actor.type === 'member' ? await addressOf(ctx) : `${fresh('partner')}@example.test`, more)),
  };
}

/** Of a network that nobody else claims from: all claims of one that failed count together, whichever test made them. */
const ownAddress = () =>
  `2001:db8:${randomBytes(4)
    .toString('hex')
    .replace(/(?<=^.{4})/, ':')}::1`;

const ownShare: Sample = async (ctx) => {
  const { share, secret } = await offered(ctx, `${fresh('partner')}@example.test`);
  return { id: secret.id, shareId: share.id };
};

export const samples: Record<string, Sample> = {
  'secret_shares.list': async (ctx) => ({ id: (await secretIn(ctx)).id }),
  'secret_shares.create': async (ctx) => ({
    id: (await secretIn(ctx)).id,
    email: `${fresh('partner')}@example.test`,
    access_level: 'view',
    allowed_hosts: ['api.partner.example'],
  }),
  'secret_shares.update': async (ctx) => ({ ...(await ownShare(ctx)), access_level: 'view' }),
  'secret_shares.revoke': ownShare,
  'secret_shares.resend': ownShare,
  'secret_shares.incoming': nothing,
  'secret_shares.claim': async (ctx) => ({ token: (await offeredTo(ctx)).token }),
  'secret_shares.decline': async (ctx) => ({ shareId: (await offeredTo(ctx)).share.id }),
  'secret_shares.leave': async (ctx) => {
    const { token, share } = await offeredTo(ctx);
    await made({ ...ctx, ip: ownAddress() }, 'secret_shares.claim', { token });
    return { shareId: share.id };
  },
};

export const peopleOnly = ['secret_shares.claim', 'secret_shares.decline', 'secret_shares.leave'];
export const revealed = { 'secret_shares.create': () => [], 'secret_shares.update': () => [] };
export const secretInput = { 'secret_shares.claim': ['token'] };
export const dependsOnState = [/is required unless/, /must be left out/, /has no value/, /must be in the future/, /must be use for/];
export const unguardedEdits = ['secret_shares.update'];

export const movesNothing = {
  'secret_shares.create allowed_hosts': 'the hosts of something new',
  'secret_shares.update allowed_hosts': 'further hosts pass the gate of reveals: service.test.ts',
};

export const harmless = {
  // It passes the gate of reveals.
  'secret_shares.update': ['access_level', 'allowed_hosts', 'expires_at'],
};
