import { whenSealed } from '#server/domain/secrets/service.ts';
import { type Ctx, spaceOf } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { keyring } from '#server/platform/keys.ts';

type Stored = { id: string; value_ct: Uint8Array | null; cek_wrapped: Uint8Array | null; tmk_version: number | null };

/** The value of an item under the key of its own row. The plaintext stays the caller's to wipe. @throws TenantKeyUnavailable */
export const sealItem = (ctx: Ctx, id: string, bytes: Uint8Array) => keyring().sealValue(placeOf(ctx, id), bytes);

/** The value in plaintext, the caller's to wipe. @throws Refusal value_unavailable, tenant_sealed */
export async function openItem(ctx: Ctx, { id, value_ct, cek_wrapped, tmk_version }: Stored): Promise<Buffer> {
  if (!value_ct || !cek_wrapped || tmk_version === null) throw valueUnavailable();
  return keyring().openValue(placeOf(ctx, id), { value_ct, cek_wrapped, tmk_version }).catch(whenSealed);
}

export const valueUnavailable = () =>
  new Refusal('value_unavailable', 'This item has no value: it was decided, has expired, or could not be fetched.');

const placeOf = (ctx: Ctx, rowId: string) =>
  ({ tenant_id: ctx.tenant_id, space: spaceOf(ctx.sandbox), purpose: 'migration_item', row_id: rowId }) as const;
