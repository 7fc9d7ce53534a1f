import { TenantKeyUnavailable } from '#server/crypto/keyring.ts';
import { type Issuer, openIssuer } from '#server/crypto/pki/authority.ts';
import { type Ctx, spaceOf } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { keyring } from '#server/platform/keys.ts';

type Space = Pick<Ctx, 'tenant_id' | 'sandbox'>;
type Bytes = Uint8Array<ArrayBuffer>;
export type SealedKey = { value_ct: Bytes; cek_wrapped: Bytes; tmk_version: number };

/** Seals a private key (PKCS #8 DER) for the row it will have, and wipes it. @throws Refusal tenant_sealed */
export async function sealKey(space: Space, rowId: string, privateKey: Buffer): Promise<SealedKey> {
  try {
    return await keyring().sealValue(placeOf(space, rowId), privateKey).catch(whenSealed);
  } finally {
    privateKey.fill(0);
  }
}

type Stored = { id: string; certificate: Uint8Array; value_ct: Bytes | null; cek_wrapped: Bytes | null; tmk_version: number | null };

/** A root or an intermediate that can sign. @throws Refusal tenant_sealed */
export async function openAuthority(space: Space, { id, certificate, value_ct, cek_wrapped, tmk_version }: Stored): Promise<Issuer> {
  if (!value_ct || !cek_wrapped || tmk_version === null) throw new Error(`the key of the authority ${id} is erased`);
  const key = await keyring().openValue(placeOf(space, id), { value_ct, cek_wrapped, tmk_version }).catch(whenSealed);
  try {
    return openIssuer(certificate, key);
  } finally {
    key.fill(0);
  }
}

const placeOf = ({ tenant_id, sandbox }: Space, row_id: string) =>
  ({ tenant_id, space: spaceOf(sandbox), purpose: 'pki_key', row_id }) as const;

function whenSealed(error: unknown): never {
  if (error instanceof TenantKeyUnavailable)
    throw new Refusal('tenant_sealed', "This workspace's encryption key is unavailable. Nothing was signed. Try again later.", {
      retryAfter: 30,
      cause: error,
    });
  throw error;
}
