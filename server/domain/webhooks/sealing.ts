import { mintToken } from '#server/crypto/tokens.ts';
import { mintStandardSecret } from '#server/crypto/transit/standard-secret.ts';
import { type Ctx, spaceOf } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { keyring } from '#server/platform/keys.ts';
import type { HmacFormat } from './options.shared.ts';

/** What a webhook presents to its receiver besides its signature. */
export type Presented = { auth_config: AuthConfig; request_headers: Record<string, string> };
export type AuthConfig = { username?: string; password?: string; token?: string; name?: string; value?: string };

type Place = Pick<Ctx, 'tenant_id' | 'sandbox'>;
type Purpose = 'webhook_secret' | 'webhook_auth' | 'webhook_payload';
export type Sealed = { id: string; value_ct: Uint8Array<ArrayBuffer>; cek_wrapped: Uint8Array<ArrayBuffer>; tmk_version: number };
type Stored = { id: string; value_ct: Uint8Array; cek_wrapped: Uint8Array; tmk_version: number };

/** The sealed columns of a new row, with its ID. @throws TenantKeyUnavailable */
export async function sealText(place: Place, purpose: Purpose, text: string, id = newId()): Promise<Sealed> {
  const bytes = Buffer.from(text);
  try {
    return { id, ...((await keyring().sealValue(placeOf(place, purpose, id), bytes)) as Omit<Sealed, 'id'>) };
  } finally {
    bytes.fill(0);
  }
}

/** @throws TenantKeyUnavailable, DecryptFailed */
export async function openText(place: Place, purpose: Purpose, row: Stored): Promise<string> {
  const { value_ct, cek_wrapped, tmk_version } = row;
  const bytes = await keyring().openValue(placeOf(place, purpose, row.id), { value_ct, cek_wrapped, tmk_version });
  try {
    return bytes.toString('utf8');
  } finally {
    bytes.fill(0);
  }
}

export const openPresented = async (place: Place, row: Stored): Promise<Presented> =>
  JSON.parse(await openText(place, 'webhook_auth', row)) as Presented;

const placeOf = ({ tenant_id, sandbox }: Place, purpose: Purpose, row_id: string) =>
  ({ tenant_id, space: spaceOf(sandbox), purpose, row_id }) as const;

/** A new signing secret, in the spelling that libraries of the format read. */
export const freshSecret = (format: HmacFormat): string =>
  format === 'standard-webhooks' ? mintStandardSecret() : mintToken('webhook_secret').token;
