import type { z } from 'zod';
import { type AccountKey, accountKey, thumbprintOf } from '#server/crypto/acme/account-key.ts';
import { parseBinding, REFUSED, verifyBinding } from '#server/crypto/acme/external-account.ts';
import { parseRequest, verifyRequest } from '#server/crypto/acme/jws.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { inTransaction, read, type Tx } from '#server/kernel/database.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { keyring } from '#server/platform/keys.ts';
import { noteAside } from '#server/platform/side-note.ts';
import { entryOf, whenSealed } from './accounts.ts';
import { assertBacked } from './backing.ts';
import { accountUrl, type Directory } from './directory.ts';
import { acceptedContact, KeyChange, type NewAccount, payloadAs, type UpdateAccount } from './payloads.ts';
import { AcmeProblem, malformed, unauthorized } from './problem.ts';
import { type AccountRow, actorOf, ERASED, placeOf } from './store.ts';

/**
 * The account of a key: the one that exists, or a new one for who proves to hold a key that was handed out (RFC 8555 §7.3). `url` is that of the request.
 * @throws AcmeProblem, JwsRefused
 */
export async function registerAccount(
  directory: Directory,
  ctx: Ctx,
  { key, url, payload }: { key: AccountKey; url: string; payload: z.output<typeof NewAccount> },
): Promise<{ account: AccountRow; created: boolean }> {
  const thumbprint = await thumbprintOf(key);
  const contact = acceptedContact(payload.contact ?? []);
  return mutate<{ account: AccountRow; created: boolean }>(ctx, async (tx) => {
    const known = await accountByKey(tx, ctx, directory, thumbprint);
    if (known?.status === 'valid') return unchanged<{ account: AccountRow; created: boolean }>({ account: known, created: false });
    if (known) throw unauthorized(`The account of this key is ${known.status}.`);
    if (payload.onlyReturnExisting) throw new AcmeProblem('accountDoesNotExist', 'There is no account with this key.');
    if (payload.externalAccountBinding === undefined)
      throw new AcmeProblem(
        'externalAccountRequired',
        'New accounts need an external account binding. Create an ACME account in Sallyport, and give its key ID and HMAC key to your client.',
      );
    const pending = await provenKey(tx, ctx, directory, { key, url, binding: payload.externalAccountBinding });
    ctx.actor = actorOf(pending);
    const account = (await tx.acme_accounts.update({
      where: { id: pending.id, ...own(ctx) },
      data: { ...ERASED, status: 'valid', jwk: key, thumbprint, contact, registered_at: ctx.now, last_used_at: ctx.now },
    })) as AccountRow;
    return audited<{ account: AccountRow; created: boolean }>(
      { account, created: true },
      { ...entryOf(account, 'update'), details: { state: 'valid', thumbprint, root: directory.root.name, role: directory.role.name } },
    );
  });
}

/** The key that was handed out and that the binding was made with. Held until the transaction ends, so that one key makes one account. */
async function provenKey(
  tx: Tx,
  ctx: Ctx,
  { role }: Directory,
  { key, url, binding: given }: { key: AccountKey; url: string; binding: unknown },
): Promise<AccountRow> {
  const binding = parseBinding(given, url);
  const id = isUuid(binding.kid) ? binding.kid.toLowerCase() : null;
  if (id !== null) await tx.$queryRaw`select 1 from acme_accounts where id = ${id}::uuid for update`;
  const row = id === null ? null : await tx.acme_accounts.findFirst({ where: { ...own(ctx), id, role_id: role.id, status: 'pending' } });
  if (!row?.value_ct || !row.cek_wrapped || row.tmk_version === null || row.expires_at <= ctx.now) throw unauthorized(REFUSED);
  const { value_ct, cek_wrapped, tmk_version } = row;
  const hmacKey = await keyring().openValue(placeOf(row), { value_ct, cek_wrapped, tmk_version }).catch(whenSealed);
  try {
    await verifyBinding(binding, hmacKey, key);
  } finally {
    hmacKey.fill(0);
  }
  await assertBacked(ctx, row);
  return row as AccountRow;
}

const accountByKey = async (tx: Tx, ctx: Ctx, { role }: Directory, thumbprint: string) =>
  (await tx.acme_accounts.findFirst({ where: { ...own(ctx), role_id: role.id, thumbprint } })) as AccountRow | null;

/** A registered account of this directory by its ID, in whatever state. */
export const accountById = (directory: Directory, ctx: Ctx, id: string): Promise<AccountRow | null> =>
  read(ctx, async (tx) => {
    if (!isUuid(id)) return null;
    const row = await tx.acme_accounts.findFirst({ where: { ...own(ctx), id, role_id: directory.role.id } });
    return row?.thumbprint ? (row as AccountRow) : null;
  });

/** Notes that the account was used, at most once a minute. */
export async function stampUse(ctx: Ctx, { id, last_used_at }: AccountRow): Promise<void> {
  if (last_used_at && ctx.now.getTime() - last_used_at.getTime() < USE_STEP_MS) return;
  await noteAside(() =>
    inTransaction(ctx, (tx) => tx.acme_accounts.updateMany({ where: { id, ...own(ctx) }, data: { last_used_at: ctx.now } })),
  );
}
const USE_STEP_MS = 60_000;

/** Changes the contacts, or ends the account for good: what it has open ends with it. @throws AcmeProblem */
export const updateAccount = (ctx: Ctx, account: AccountRow, { contact, status }: z.output<typeof UpdateAccount>): Promise<AccountRow> =>
  mutate(ctx, async (tx) => {
    const where = { id: account.id, ...own(ctx) };
    if (status === 'deactivated') {
      await tx.acme_authorizations.updateMany({
        where: { ...own(ctx), account_id: account.id, status: { in: ['pending', 'valid'] } },
        data: { status: 'deactivated' },
      });
      await tx.acme_orders.updateMany({
        where: { ...own(ctx), account_id: account.id, status: { in: ['pending', 'ready'] } },
        data: { status: 'invalid' },
      });
      const after = await tx.acme_accounts.update({ where, data: { status } });
      return audited(after as AccountRow, { ...entryOf(account, 'update'), details: { state: status } });
    }
    if (contact === undefined) return unchanged(account);
    const after = await tx.acme_accounts.update({ where, data: { contact: acceptedContact(contact) } });
    return audited(after as AccountRow, { ...entryOf(account, 'update'), changes: [{ field: 'contact', changed: true }] });
  });

/**
 * Moves an account to a new key, which signed the inner JWS (RFC 8555 §7.3.5). @throws AcmeProblem, JwsRefused; a key that has an account is a conflict with
 * that account's URL in Location
 */
export async function changeKey(
  directory: Directory,
  ctx: Ctx,
  account: AccountRow,
  { url, inner }: { url: string; inner: unknown },
): Promise<void> {
  const request = parseRequest(inner, { url, inner: true });
  const key = request.signer.key;
  if (!key) throw malformed('The inner JWS must have jwk.');
  await verifyRequest(request, key);
  const { account: named, oldKey } = payloadAs(KeyChange, jsonOf(request.content));
  if (named !== accountUrl(directory.base, account.id)) throw malformed('The inner JWS names another account.');
  if ((await thumbprintOf(accountKey(oldKey))) !== account.thumbprint) throw malformed('oldKey is not the key of this account.');
  const thumbprint = await thumbprintOf(key);
  await mutate(ctx, async (tx) => {
    const taken = await accountByKey(tx, ctx, directory, thumbprint);
    if (taken)
      throw new AcmeProblem('malformed', 'The new key already belongs to an account.', {
        status: 409,
        headers: { location: accountUrl(directory.base, taken.id) },
      });
    // By the key it had: of two changes at once one finds another key, and changes nothing.
    const { count } = await tx.acme_accounts.updateMany({
      where: { ...own(ctx), id: account.id, status: 'valid', thumbprint: account.thumbprint },
      data: { jwk: key, thumbprint },
    });
    if (count === 0) throw unauthorized('The account has changed since. Try again.');
    return audited(undefined, { ...entryOf(account, 'rotate'), details: { old: account.thumbprint, new: thumbprint } });
  });
}

function jsonOf(content: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(content).toString('utf8'));
  } catch {
    throw malformed('The payload of the inner JWS must be JSON.');
  }
}
