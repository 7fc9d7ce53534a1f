import { Prisma } from '#server/generated/prisma/client.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { fold } from '#server/kernel/fold.ts';
import { COLUMNS, type DirectoryPerson, type DirectoryRecord } from './record.ts';

const SELECT = Prisma.raw(`select ${COLUMNS} from scim_users s`);

/** A record that isn't a tombstone. @throws Refusal not_found */
export async function recordById(tx: Tx, ctx: Ctx, id: string): Promise<DirectoryRecord> {
  const [row] = isUuid(id)
    ? await tx.$queryRaw<
        DirectoryRecord[]
      >`${SELECT} where s.tenant_id = ${ctx.tenant_id}::uuid and s.id = ${id}::uuid and s.deleted_at is null`
    : [];
  if (!row) throw notFound();
  return row;
}

/** @throws Refusal conflict when another record has the user name or the external ID */
export async function assertUnique(tx: Tx, ctx: Ctx, person: DirectoryPerson, except: string | null = null): Promise<void> {
  const others = await tx.scim_users.findMany({
    where: {
      tenant_id: ctx.tenant_id,
      deleted_at: null,
      ...(except ? { id: { not: except } } : {}),
      OR: [{ user_name_folded: fold(person.user_name) }, ...(person.external_id ? [{ external_id: person.external_id }] : [])],
    },
    select: { user_name_folded: true },
  });
  if (others.length === 0) return;
  const attribute = others.some(({ user_name_folded }) => user_name_folded === fold(person.user_name)) ? 'userName' : 'externalId';
  throw new Refusal('conflict', `Another user of this directory has this ${attribute}.`);
}

/** The member of the workspace who signs in with an address. */
export async function memberWithAddress(tx: Tx, ctx: Ctx, address: string): Promise<string | null> {
  const [row] = await tx.$queryRaw<{ id: string }[]>`select u.id::text from users u join memberships m on m.user_id = u.id
    where u.email = ${address} and m.tenant_id = ${ctx.tenant_id}::uuid and m.removed_at is null`;
  return row?.id ?? null;
}

/** The address that an account signs in with; null unless it is, or was, a member's. */
export async function loginAddress(tx: Tx, userId: string): Promise<string | null> {
  const [row] = await tx.$queryRaw<{ email: string }[]>`select email from users where id = ${userId}::uuid`;
  return row?.email ?? null;
}

/** Whether a person has a record already. */
export const isLinked = async (tx: Tx, ctx: Ctx, userId: string): Promise<boolean> =>
  (await tx.scim_users.count({ where: { tenant_id: ctx.tenant_id, user_id: userId, deleted_at: null } })) > 0;
