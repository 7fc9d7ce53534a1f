import { TenantKeyUnavailable } from '#server/crypto/keyring.ts';
import { raise } from '#server/domain/events/service.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import type { Db, Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { keyring } from '#server/platform/keys.ts';

/** A value sealed for the row it will have; `id` is that row's id and part of what was sealed. */
export type SealedNewValue = { id: string; value_ct: Uint8Array<ArrayBuffer>; cek_wrapped: Uint8Array<ArrayBuffer>; tmk_version: number };

/** Superseded values stay restorable for so long, in milliseconds (interface rule 30 §8). */
export const KEPT_MS = 24 * 3_600_000;

/** Seals before the transaction opens, so that no lock waits for a key. @throws Refusal tenant_sealed */
export async function sealNewValue(ctx: Ctx, value: string | Uint8Array): Promise<SealedNewValue> {
  const id = newId();
  const bytes = Buffer.from(value as string);
  try {
    return { id, ...(await keyring().sealValue(placeOf(ctx, id), bytes).catch(whenSealed)) };
  } finally {
    bytes.fill(0);
  }
}

/**
 * Makes a sealed value the current one: one statement raises the version, whatever runs beside it, and the version it returns is the one this
 * call produced. The caller holds the lock on the secret. Undefined when `expected` (a version, or '*' for any) is not current.
 */
export async function writeValue(
  tx: Tx,
  ctx: Ctx,
  place: { secret_id: string; environment_name: string },
  value: SealedNewValue,
  expected?: number | '*',
): Promise<number | undefined> {
  const [row] =
    expected === undefined ? await upsertVersion(tx, ctx, place, value.id) : await raiseVersion(tx, ctx, place, value.id, expected);
  if (!row) return undefined;
  await tx.secret_values.updateMany({
    where: { ...own(ctx), secret_environment_id: row.id, superseded_at: null },
    data: { superseded_at: ctx.now },
  });
  await tx.secret_values.create({
    data: { ...own(ctx), ...value, secret_environment_id: row.id, value_version: row.value_version, created_at: ctx.now },
    select: { id: true },
  });
  if (row.value_version > 1) {
    const { id, name, secret_type } = await tx.secrets.findFirstOrThrow({
      where: { ...own(ctx), id: place.secret_id },
      select: { id: true, name: true, secret_type: true },
    });
    const data = { id, name, secret_type, environment: place.environment_name, value_version: row.value_version };
    await raise(tx, ctx, [{ type: 'secret.rotated', source_id: id, data }]);
  }
  return row.value_version;
}

/** The newest superseded value that is still kept, sealed anew for a row of its own; undefined when there is none. */
export async function resealPrevious(
  tx: Tx,
  ctx: Ctx,
  place: { secret_id: string; environment_name: string },
): Promise<SealedNewValue | undefined> {
  const kept = await tx.secret_values.findFirst({
    where: { ...own(ctx), environment: place, wiped_at: null, superseded_at: { gt: new Date(ctx.now.getTime() - KEPT_MS) } },
    orderBy: { value_version: 'desc' },
    select: { id: true, value_ct: true, cek_wrapped: true, tmk_version: true },
  });
  const { value_ct, cek_wrapped } = kept ?? {};
  if (!kept || !value_ct || !cek_wrapped) return undefined;
  const plain = await keyring()
    .openValue(placeOf(ctx, kept.id), { value_ct, cek_wrapped, tmk_version: kept.tmk_version })
    .catch(whenSealed);
  try {
    return await sealNewValue(ctx, plain);
  } finally {
    plain.fill(0);
  }
}

/** One version in plaintext, the caller's to wipe. @throws DecryptFailed, TenantKeyUnavailable, Error when it was wiped */
export async function openVersion(
  tx: Tx,
  ctx: Ctx,
  place: { secret_id: string; environment_name: string },
  version: number,
): Promise<Buffer> {
  const row = await tx.secret_values.findFirst({
    where: { ...own(ctx), environment: place, value_version: version },
    select: { id: true, value_ct: true, cek_wrapped: true, tmk_version: true },
  });
  const { value_ct, cek_wrapped } = row ?? {};
  if (!row || !value_ct || !cek_wrapped) throw new Error('the version that was to be revealed is gone');
  return keyring().openValue(placeOf(ctx, row.id), { value_ct, cek_wrapped, tmk_version: row.tmk_version });
}

/** Overwrites ciphertext and content keys before the rows go, so that no page of the table keeps them live. */
export const wipeValues = (tx: Tx, ctx: Ctx, environments: { secret_id: string; environment_name?: string }) =>
  tx.secret_values.updateMany({ where: { ...own(ctx), environment: environments, wiped_at: null }, data: WIPED(ctx.now) });

/**
 * The hourly job of all workspaces: wipes what was superseded 24 hours ago. Batches keep its locks short; rows locked by a restore are left for
 * the next run. Returns how many values were wiped.
 */
export async function wipeSuperseded(db: Db, now: Date, batch = 1_000): Promise<number> {
  const until = new Date(now.getTime() - KEPT_MS);
  for (let wiped = 0; ; ) {
    const n = await db.$executeRaw`
      update secret_values set value_ct = null, cek_wrapped = null, wiped_at = ${now}
      where id in (select id from secret_values where superseded_at <= ${until} and wiped_at is null limit ${batch} for update skip locked)`;
    wiped += n;
    if (n < batch) return wiped;
  }
}

/** Wipes every value of the space. */
export const wipeAllValues = (tx: Tx, ctx: Ctx) =>
  tx.secret_values.updateMany({ where: { ...own(ctx), wiped_at: null }, data: WIPED(ctx.now) });

const WIPED = (now: Date) => ({ value_ct: null, cek_wrapped: null, wiped_at: now });

const placeOf = (ctx: Ctx, rowId: string) =>
  ({ tenant_id: ctx.tenant_id, space: spaceOf(ctx.sandbox), purpose: 'secret_value', row_id: rowId }) as const;

/** The workspace's own key cannot be had: nothing is lost, and trying again may work (interface rule 31 §5). */
export function whenSealed(error: unknown): never {
  if (error instanceof TenantKeyUnavailable)
    throw new Refusal('tenant_sealed', "This workspace's encryption key is unavailable. Nothing was stored. Try again later.", {
      retryAfter: 30,
      cause: error,
    });
  throw error;
}

type Version = { id: string; value_version: number };

const upsertVersion = (
  tx: Tx,
  ctx: Ctx,
  { secret_id, environment_name }: { secret_id: string; environment_name: string },
  valueId: string,
) =>
  tx.$queryRaw<Version[]>`
    insert into secret_environments (id, tenant_id, sandbox, secret_id, environment_name, value_version, current_value_id, created_at, updated_at)
    values (${newId()}::uuid, ${ctx.tenant_id}::uuid, ${ctx.sandbox}, ${secret_id}::uuid, ${environment_name}, 1, ${valueId}::uuid, ${ctx.now}, ${ctx.now})
    on conflict (secret_id, environment_name) do update
      set value_version = secret_environments.value_version + 1, current_value_id = excluded.current_value_id, updated_at = excluded.updated_at
    returning id, value_version`;

const raiseVersion = (
  tx: Tx,
  ctx: Ctx,
  { secret_id, environment_name }: { secret_id: string; environment_name: string },
  valueId: string,
  expected: number | '*',
) =>
  tx.$queryRaw<Version[]>`
    update secret_environments set value_version = value_version + 1, current_value_id = ${valueId}::uuid, updated_at = ${ctx.now}
    where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and secret_id = ${secret_id}::uuid and environment_name = ${environment_name}
      and (${expected === '*'} or value_version = ${expected === '*' ? 0 : expected})
    returning id, value_version`;
