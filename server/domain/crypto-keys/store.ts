import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import type { KeyType } from '#server/kernel/key-types.ts';
import type { MANAGERS, MODES, VERSION_STATES } from './schema.ts';

/** A row of the table, in which constraints and `createKey` keep the words to those of the schema. */
export type KeyRow = Omit<Prisma.crypto_keysGetPayload<object>, keyof Words> & Words;
type Words = { key_type: KeyType; mode: (typeof MODES)[number]; managed_by: (typeof MANAGERS)[number] };
export type VersionRow = Omit<Prisma.crypto_key_versionsGetPayload<{ select: typeof WITHOUT_MATERIAL }>, 'status'> & {
  status: (typeof VERSION_STATES)[number];
};

/** Nothing that manages a key reads what is sealed. */
export const WITHOUT_MATERIAL = {
  id: true,
  key_id: true,
  version: true,
  status: true,
  public_key_spki: true,
  created_by: true,
  created_at: true,
  retired_at: true,
  destroyed_at: true,
  destroy_after: true,
  encrypt_count: true,
} as const;

/**
 * By ID or by name, exactly as it is written: no name looks like an ID. A policy that is narrowed to keys compares the same two spellings.
 * @throws Refusal not_found, for deleted keys too
 */
export async function keyByRef(tx: Tx, ctx: Ctx, ref: string): Promise<KeyRow> {
  const row = await tx.crypto_keys.findFirst({
    where: { ...own(ctx), deleted_at: null, ...(isUuid(ref) ? { id: ref.toLowerCase() } : { name: ref }) },
  });
  if (!row) throw notFound();
  return row as KeyRow;
}

/** As by reference, holding the row until the transaction ends: everything that moves versions of one key runs one after the other. */
export async function lockedKey(tx: Tx, ctx: Ctx, ref: string): Promise<KeyRow> {
  const { id } = await keyByRef(tx, ctx, ref);
  await tx.$queryRaw`select 1 from crypto_keys where id = ${id}::uuid for no key update`;
  return keyByRef(tx, ctx, id);
}

/** Every version of a key, newest first. */
export const versionsOf = (tx: Tx, ctx: Ctx, keyId: string): Promise<VersionRow[]> =>
  tx.crypto_key_versions.findMany({
    where: { ...own(ctx), key_id: keyId },
    orderBy: { version: 'desc' },
    select: WITHOUT_MATERIAL,
  }) as Promise<VersionRow[]>;

/** One version, by its number as a path spells it. @throws Refusal not_found */
export async function versionByNumber(tx: Tx, ctx: Ctx, keyId: string, text: string): Promise<VersionRow> {
  const row = VERSION_NUMBER.test(text)
    ? await tx.crypto_key_versions.findFirst({ where: { ...own(ctx), key_id: keyId, version: Number(text) }, select: WITHOUT_MATERIAL })
    : null;
  if (!row) throw notFound();
  return row as VersionRow;
}
const VERSION_NUMBER = /^[1-9][0-9]{0,8}$/;

/** What makes a version destroyed: material and public part are gone, the row stays as a marker. */
export const ERASED = (now: Date, by: string | null) => ({
  status: 'destroyed',
  value_ct: null,
  cek_wrapped: null,
  tmk_version: null,
  public_key_spki: null,
  destroy_after: null,
  destroyed_at: now,
  destroyed_by: by,
});

/** Erases all material of the space before its rows go, so that no page of the table keeps it live. */
export const eraseAllVersions = (tx: Tx, ctx: Ctx) =>
  tx.crypto_key_versions.updateMany({ where: { ...own(ctx), status: { not: 'destroyed' } }, data: ERASED(ctx.now, null) });

/** The person behind a change; null for machines. */
export const personOf = ({ actor }: Ctx): string | null => (actor.type === 'member' ? actor.id : null);
