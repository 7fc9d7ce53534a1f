import { type Ctx, spaceOf } from '#server/kernel/context.ts';
import { keyring } from '#server/platform/keys.ts';

type Place = Pick<Ctx, 'tenant_id' | 'sandbox'>;
type Stored = { id: string; value_ct: Uint8Array; cek_wrapped: Uint8Array; tmk_version: number };
type Sealed = { value_ct: Uint8Array<ArrayBuffer>; cek_wrapped: Uint8Array<ArrayBuffer>; tmk_version: number };

/** The sealed columns of the row `id`. @throws TenantKeyUnavailable */
export async function sealSecret(place: Place, id: string, secret: string): Promise<Sealed> {
  const bytes = Buffer.from(secret);
  try {
    return (await keyring().sealValue(placeOf(place, id), bytes)) as Sealed;
  } finally {
    bytes.fill(0);
  }
}

/** @throws TenantKeyUnavailable, DecryptFailed */
export async function openSecret(place: Place, { id, value_ct, cek_wrapped, tmk_version }: Stored): Promise<string> {
  const bytes = await keyring().openValue(placeOf(place, id), { value_ct, cek_wrapped, tmk_version });
  try {
    return bytes.toString('utf8');
  } finally {
    bytes.fill(0);
  }
}

const placeOf = ({ tenant_id, sandbox }: Place, row_id: string) =>
  ({ tenant_id, space: spaceOf(sandbox), purpose: 'inbound_webhook', row_id }) as const;
