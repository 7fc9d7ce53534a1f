import type { Db, Tx } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import type { Person } from '#server/kernel/person.ts';

/** The one spelling of an address in this system: lower-case NFC, nothing folded away (interface rule 22 §2). */
export const canonicalEmail = (text: string): string => text.trim().normalize('NFC').toLowerCase();

export type NewUser = { email: string; full_name: string; password_hash: string | null; email_verified: boolean; now: Date };

/** A person without a workspace. `email` is canonical. */
export const createUser = (tx: Tx, input: NewUser) =>
  tx.users.create({
    data: {
      id: newId(),
      email: input.email,
      full_name: input.full_name,
      password_hash: input.password_hash,
      email_verified_at: input.email_verified ? input.now : null,
      created_at: input.now,
    },
    select: { id: true, email: true, full_name: true },
  });

/** What sign-in needs to judge an account. */
export const accountByEmail = (tx: Db | Tx, email: string) =>
  tx.users.findUnique({
    where: { email },
    select: { id: true, email: true, full_name: true, password_hash: true, disabled_at: true, login_epoch: true },
  });

/** Of several who would make an account of one address each waits for the one before and finds its account; until the end of the transaction. */
export const holdAddress = (tx: Tx, email: string) => holdLock(tx, `signup:${email}`);

/** Whether nobody has signed up yet: a fresh installation. */
export const nobodyYet = async (tx: Db | Tx): Promise<boolean> => (await tx.users.findFirst({ select: { id: true } })) === null;

/** The person as they may see themselves; null when there is none or the account is disabled. */
export async function personById(tx: Db | Tx, id: string): Promise<Person | null> {
  const row = await tx.users.findFirst({
    where: { id, disabled_at: null },
    select: {
      id: true,
      email: true,
      email_verified_at: true,
      full_name: true,
      timezone: true,
      date_format: true,
      locale: true,
      avatar: true,
      preferences: true,
      password_hash: true,
      created_at: true,
      updated_at: true,
    },
  });
  if (!row) return null;
  const { password_hash, ...person } = row;
  return { ...person, has_password: password_hash !== null };
}
