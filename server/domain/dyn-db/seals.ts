import { whenSealed } from '#server/domain/secrets/service.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { keyring } from '#server/platform/keys.ts';

/** What opens a server, sealed for the row it will have. */
export type SealedRow = { id: string; value_ct: Uint8Array<ArrayBuffer>; cek_wrapped: Uint8Array<ArrayBuffer>; tmk_version: number };
export type SshKey = { private_key: string; passphrase?: string | undefined };

type Purpose = 'dyn_db_admin' | 'ssh_key';

/** Seals before a transaction opens, so that no lock waits for a key. @throws Refusal tenant_sealed */
export const sealPassword = (ctx: Ctx, password: string): Promise<SealedRow> => seal(ctx, 'dyn_db_admin', password);
export const sealSshKey = (ctx: Ctx, key: SshKey): Promise<SealedRow> => seal(ctx, 'ssh_key', JSON.stringify(key));

async function seal(ctx: Ctx, purpose: Purpose, text: string): Promise<SealedRow> {
  const id = newId();
  const bytes = Buffer.from(text);
  try {
    return {
      id,
      ...(await keyring()
        .sealValue(placeOf(ctx, purpose, id), bytes)
        .catch(whenSealed)),
    };
  } finally {
    bytes.fill(0);
  }
}

/** Makes a sealed password the current one; the earlier one and a pending one are gone. */
export async function putPassword(tx: Tx, ctx: Ctx, connectionId: string, sealed: SealedRow): Promise<void> {
  await tx.dyn_db_passwords.deleteMany({ where: { ...own(ctx), connection_id: connectionId } });
  await insertPassword(tx, ctx, connectionId, sealed, 'current');
}

export const insertPassword = (tx: Tx, ctx: Ctx, connectionId: string, sealed: SealedRow, state: 'current' | 'pending') =>
  tx.dyn_db_passwords.create({
    data: { ...own(ctx), ...sealed, connection_id: connectionId, state, created_at: ctx.now },
    select: { id: true },
  });

export async function putSshKey(tx: Tx, ctx: Ctx, connectionId: string, sealed: SealedRow): Promise<void> {
  await tx.dyn_db_ssh_keys.deleteMany({ where: { ...own(ctx), connection_id: connectionId } });
  await tx.dyn_db_ssh_keys.create({
    data: { ...own(ctx), ...sealed, connection_id: connectionId, created_at: ctx.now },
    select: { id: true },
  });
}

/** The passwords that the server may know, the likeliest first: a second one stands beside the current while it is being set. */
export async function openPasswords(tx: Tx, ctx: Ctx, connectionId: string): Promise<string[]> {
  const rows = await tx.dyn_db_passwords.findMany({ where: { ...own(ctx), connection_id: connectionId }, orderBy: { state: 'asc' } });
  return openAll(ctx, rows);
}

export const openAll = (ctx: Ctx, rows: readonly SealedRow[]): Promise<string[]> =>
  Promise.all(rows.map((row) => open(ctx, 'dyn_db_admin', row)));

export async function openSshKey(tx: Tx, ctx: Ctx, connectionId: string): Promise<SshKey | null> {
  const row = await tx.dyn_db_ssh_keys.findFirst({ where: { ...own(ctx), connection_id: connectionId } });
  return row ? (JSON.parse(await open(ctx, 'ssh_key', row)) as SshKey) : null;
}

async function open(ctx: Ctx, purpose: Purpose, row: { id: string; value_ct: Uint8Array; cek_wrapped: Uint8Array; tmk_version: number }) {
  const { id, value_ct, cek_wrapped, tmk_version } = row;
  const bytes = await keyring()
    .openValue(placeOf(ctx, purpose, id), { value_ct, cek_wrapped, tmk_version })
    .catch(whenSealed);
  try {
    return bytes.toString('utf8');
  } finally {
    bytes.fill(0);
  }
}

const placeOf = (ctx: Ctx, purpose: Purpose, row_id: string) =>
  ({ tenant_id: ctx.tenant_id, space: spaceOf(ctx.sandbox), purpose, row_id }) as const;
