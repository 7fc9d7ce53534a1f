import type { z } from 'zod';
import { TenantKeyUnavailable } from '#server/crypto/keyring.ts';
import { randomBuffer } from '#server/crypto/random.ts';
import { endWithin } from '#server/custody/backing.ts';
import { lockedRole, roleByRef, rootByRef } from '#server/domain/pki/service.ts';
import { denyingPolicy, policyDenied } from '#server/domain/policies/service.ts';
import { auditActor, type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { grouped } from '#server/kernel/numbers.ts';
import { keyring } from '#server/platform/keys.ts';
import { directoryBase, directoryUrl } from './directory.ts';
import type { AcmeAccountRef, CreateAcmeAccount, ListAcmeAccounts } from './schema.ts';
import { type AccountRow, mintedBy, placeOf } from './store.ts';

/** Of one role, whatever their state. */
const MOST_ACCOUNTS = 1_000;
const KEY_BYTES = 32;

/** The accounts of a role, newest first; keys that nothing registered with are among them. @throws Refusal not_found */
export const listAcmeAccounts = (ctx: Ctx, ref: z.output<typeof ListAcmeAccounts>) =>
  read(ctx, async (tx) => {
    const role = await roleOf(tx, ctx, ref);
    const rows = await tx.acme_accounts.findMany({
      where: { ...own(ctx), role_id: role.id },
      orderBy: [{ created_at: 'desc' }, { id: 'desc' }],
    });
    return rows.map((row) => shown(row as AccountRow, ctx.now));
  });

/** A key ID and an HMAC key, with which an ACME client registers once. The key is shown now and never again. @throws Refusal not_found, conflict, forbidden, tenant_sealed */
export async function createAcmeAccount(ctx: Ctx, { name, role: roleRef, label, ttl_seconds }: z.output<typeof CreateAcmeAccount>) {
  const key = randomBuffer(KEY_BYTES);
  try {
    return await mutate(ctx, async (tx) => {
      const root = await rootByRef(tx, ctx, name);
      const role = await lockedRole(tx, ctx, { name, role: roleRef });
      // As for a certificate itself: a policy may name the role.
      const policy = await denyingPolicy(ctx, 'pki:sign', { id: root.id, name: `${root.name}/${role.name}` });
      if (policy) throw policyDenied(ctx, policy, 'pki:sign');
      if (!root.publish)
        throw new Refusal(
          'conflict',
          'ACME is served below the public URL of a root, and this one is not published. Set publish to true first.',
        );
      if ((await tx.acme_accounts.count({ where: { ...own(ctx), role_id: role.id } })) >= MOST_ACCOUNTS)
        throw new Refusal('conflict', `A role has at most ${grouped(MOST_ACCOUNTS)} ACME accounts. Delete those that are no longer used.`);
      const id = newId();
      const expires_at = await endWithin(tx, ctx, new Date(ctx.now.getTime() + ttl_seconds * 1_000));
      const minter = minterOf(ctx);
      await tx.acme_accounts.create({
        data: {
          ...own(ctx),
          id,
          role_id: role.id,
          label: label ?? null,
          ...(await keyring()
            .sealValue(placeOf({ ...own(ctx), id }), key)
            .catch(whenSealed)),
          minted_by_type: minter.type,
          minted_by_id: minter.id,
          minted_by_label: minter.label,
          expires_at,
          created_at: ctx.now,
        },
        select: { id: true },
      });
      return audited(
        {
          id,
          kid: id,
          hmac_key: key.toString('base64url'),
          directory_url: directoryUrl(directoryBase(root, role.name)),
          label: label ?? null,
          expires_at,
        },
        { ...entryOf({ id, label: label ?? null }, 'create'), details: { root: root.name, role: role.name, expires_at } },
      );
    });
  } finally {
    key.fill(0);
  }
}

/** Ends an account, or a key that was not used. Its certificates stay valid until they expire or are revoked. @throws Refusal not_found */
export const deleteAcmeAccount = (ctx: Ctx, { id, ...ref }: z.output<typeof AcmeAccountRef>) =>
  mutate(ctx, async (tx) => {
    const role = await roleOf(tx, ctx, ref);
    const where = { ...own(ctx), id, role_id: role.id };
    const row = isUuid(id)
      ? await tx.acme_accounts.findFirst({ where, select: { id: true, label: true, status: true, thumbprint: true } })
      : null;
    if (!row) throw notFound();
    await tx.acme_accounts.delete({ where: { id: row.id, ...own(ctx) }, select: { id: true } });
    return audited(
      { deleted: true as const },
      { ...entryOf(row, 'delete'), details: { role: role.name, state: row.status, thumbprint: row.thumbprint } },
    );
  });

export const entryOf = ({ id, label }: { id: string; label: string | null }, action: string) => ({
  action,
  resource_type: 'acme_account',
  resource_id: id,
  ...(label === null ? {} : { name: label }),
});

const roleOf = async (tx: Tx, ctx: Ctx, { name, role }: { name: string; role: string }) =>
  roleByRef(tx, ctx, (await rootByRef(tx, ctx, name)).id, role);

const shown = (row: AccountRow, now: Date) => ({
  ...row,
  status: row.status === 'pending' && row.expires_at <= now ? ('expired' as const) : row.status,
  minted_by: mintedBy(row) as { type: 'user' | 'api_key' | 'oauth_client'; id: string; label: string },
});

/** Who answers for the account: the person behind a token that acts for one, else the credential. */
function minterOf(ctx: Ctx): { type: string; id: string; label: string } {
  const { user, ...actor } = auditActor(ctx.actor);
  const { id, label, type } = user ? { ...user, type: 'user' } : actor;
  if (id === null) throw new Refusal('forbidden', 'An ACME account is created by a person or an API credential that answers for it.');
  return { type, id, label };
}

export function whenSealed(error: unknown): never {
  if (error instanceof TenantKeyUnavailable)
    throw new Refusal('tenant_sealed', "This workspace's encryption key is unavailable. Try again later.", {
      retryAfter: 30,
      cause: error,
    });
  throw error;
}
