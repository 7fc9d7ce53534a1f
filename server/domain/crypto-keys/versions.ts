import { TenantKeyUnavailable } from '#server/crypto/keyring.ts';
import { newMaterial } from '#server/crypto/transit/new-material.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { KEY_TYPES, type KeyType } from '#server/kernel/key-types.ts';
import { processState } from '#server/kernel/process-state.ts';
import { keyring } from '#server/platform/keys.ts';
import { personOf } from './store.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** Fresh material, sealed for the row it will have; `id` is that row's id and part of what was sealed. */
export type NewVersion = { id: string; value_ct: Bytes; cek_wrapped: Bytes; tmk_version: number; public_key_spki: Bytes | null };

/**
 * Generates and seals. Call it before the transaction opens: an RSA key takes up to seconds, and no lock should wait for it.
 * @throws Refusal tenant_sealed
 */
export async function newVersion(ctx: Pick<Ctx, 'tenant_id' | 'sandbox'>, type: KeyType): Promise<NewVersion> {
  const id = newId();
  const { secret, spki } = KEY_TYPES[type].kind === 'rsa' ? await inTurn(ctx.tenant_id, () => newMaterial(type)) : await newMaterial(type);
  try {
    const place = { tenant_id: ctx.tenant_id, space: spaceOf(ctx.sandbox), purpose: 'transit_key', row_id: id } as const;
    const sealed = await keyring().sealValue(place, secret).catch(whenSealed);
    return { id, ...sealed, public_key_spki: spki };
  } finally {
    secret.fill(0);
  }
}

/** RSA keys of one workspace that may wait to be generated. */
const MOST_WAITING = 8;
const generating = processState('rsa-generation', () => new Map<string, { last: Promise<unknown>; waiting: number }>());

/**
 * One after the other for each workspace: a key takes a thread for seconds, and a process has few of them for everything that is slow, of everybody.
 * @throws Refusal dependency_unavailable
 */
async function inTurn<T>(owner: string, work: () => Promise<T>): Promise<T> {
  const line = generating.get(owner) ?? { last: Promise.resolve(), waiting: 0 };
  if (line.waiting > MOST_WAITING)
    throw new Refusal('dependency_unavailable', 'This workspace is generating too many RSA keys at once. Nothing was stored. Try again.', {
      retryAfter: 5,
    });
  generating.set(owner, line);
  line.waiting++;
  const mine = line.last.then(work);
  line.last = mine.catch(() => {});
  try {
    return await mine;
  } finally {
    line.waiting--;
    if (line.waiting === 0) generating.delete(owner);
  }
}

/** Writes a version as the active one; there must be no other. */
export const insertVersion = (tx: Tx, ctx: Ctx, keyId: string, version: number, made: NewVersion) =>
  tx.crypto_key_versions.create({
    data: { ...own(ctx), ...made, key_id: keyId, version, created_by: personOf(ctx), created_at: ctx.now },
    select: { id: true },
  });

function whenSealed(error: unknown): never {
  if (error instanceof TenantKeyUnavailable)
    throw new Refusal('tenant_sealed', "This workspace's encryption key is unavailable. Nothing was stored. Try again later.", {
      retryAfter: 30,
      cause: error,
    });
  throw error;
}
