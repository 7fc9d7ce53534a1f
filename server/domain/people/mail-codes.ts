import { randomDigits } from '#server/crypto/random.ts';
import { digest, digestEquals, isMailToken, mintMailToken } from '#server/crypto/tokens.ts';
import type { Prisma } from '#server/generated/prisma/client.ts';
import type { Tx } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';

export type MailPurpose = 'sign_in' | 'password_reset' | 'factor' | 'email_change' | 'email_undo';
const minutes = { sign_in: 10, password_reset: 60, factor: 10, email_change: 60, email_undo: 7 * 24 * 60 } as const;
const codeTries = 5;

/** Who asked for a code, or types one: the browser by its device cookie, and the network it calls from. */
export type Requester = { device: Uint8Array<ArrayBuffer> | null; network: string };

/** A code and a link that prove the mailbox once. The texts go into one mail; only digests stay. */
export async function issueMailCode(
  tx: Tx,
  input: { purpose: MailPurpose; email: string; user_id: string; now: Date; requester?: Requester },
): Promise<{ code: string; token: string }> {
  const id = newId();
  const code = randomDigits(6);
  const link = mintMailToken();
  await tx.mail_codes.create({
    data: {
      id,
      purpose: input.purpose,
      email: input.email,
      user_id: input.user_id,
      code_digest: new Uint8Array(codeDigest(id, code)),
      token_digest: new Uint8Array(link.digest),
      device_digest: input.requester?.device ?? null,
      network: input.requester?.network ?? null,
      expires_at: new Date(input.now.getTime() + minutes[input.purpose] * 60_000),
      created_at: input.now,
    },
  });
  return { code, token: link.token };
}

/** The account a link belongs to, while it is unused and fresh. Reads only: mail scanners open links. */
export async function peekLink(tx: Tx, purpose: MailPurpose, token: string, now: Date): Promise<{ user_id: string } | null> {
  if (!isMailToken(token)) return null;
  const row = await tx.mail_codes.findFirst({
    where: { token_digest: new Uint8Array(digest(token)), purpose, used_at: null, expires_at: { gt: now } },
    select: { user_id: true },
  });
  return row?.user_id ? { user_id: row.user_id } : null;
}

/** Uses a link up. Of two at once exactly one gets the account; null for everything that is not a fresh link. */
export async function useLink(tx: Tx, purpose: MailPurpose, token: string, now: Date): Promise<UsedLink | null> {
  if (!isMailToken(token)) return null;
  const [row] = await tx.mail_codes.updateManyAndReturn({
    where: { token_digest: new Uint8Array(digest(token)), purpose, used_at: null, expires_at: { gt: now } },
    data: { used_at: now },
    select: { user_id: true, email: true, created_at: true },
  });
  return row?.user_id ? { ...row, user_id: row.user_id } : null;
}

/** `email` is the address that the link was mailed to. */
export type UsedLink = { user_id: string; email: string; created_at: Date };

/**
 * Uses a code up. A code belongs to whoever asked for it: the browser that did has five tries, and callers of the same network without that browser's
 * cookie have five more, counted apart. Other callers cannot try it at all, so a stranger's wrong codes never use up the owner's tries. A code of six
 * digits therefore takes at most ten guesses: one in 100,000. `strangers` in sign-in.ts bounds the guesses against one account.
 * Each try is counted before it is compared.
 */
export async function useCode(
  tx: Tx,
  purpose: MailPurpose,
  email: string,
  code: string,
  requester: Requester,
  now: Date,
): Promise<{ user_id: string } | null> {
  const live = { email, purpose, used_at: null, expires_at: { gt: now } };
  const newest = (of: Prisma.mail_codesWhereInput) =>
    tx.mail_codes.findFirst({ where: { ...live, ...of }, orderBy: { created_at: 'desc' }, select: { id: true } });
  const own = requester.device && (await newest({ device_digest: requester.device }));
  const found = own ?? (await newest({ network: requester.network }));
  if (!found) return null;
  const [row] = await tx.mail_codes.updateManyAndReturn({
    where: { id: found.id, used_at: null, ...(own ? { tries: { lt: codeTries } } : { network_tries: { lt: codeTries } }) },
    data: own ? { tries: { increment: 1 } } : { network_tries: { increment: 1 } },
    select: { id: true, user_id: true, code_digest: true },
  });
  if (!row?.user_id || !row.code_digest || !digestEquals(row.code_digest, codeDigest(row.id, code))) return null;
  const { count } = await tx.mail_codes.updateMany({ where: { id: row.id, used_at: null }, data: { used_at: now } });
  return count === 1 ? { user_id: row.user_id } : null;
}

/** After a password change no older link or code may act, but for those that take a change of the address back: a thief would change the password first. */
export const dropMailCodes = (tx: Tx, userId: string, now: Date) =>
  tx.mail_codes.updateMany({ where: { user_id: userId, used_at: null, purpose: { not: 'email_undo' } }, data: { used_at: now } });

/** Bound to its row: two rows with one code have two digests. */
const codeDigest = (id: string, code: string) => digest(`${id}:${code}`);
