import { TenantKeyUnavailable } from '#server/crypto/keyring.ts';
import { type Ctx, spaceOf } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { keyring } from '#server/platform/keys.ts';

/** What a channel sends to and what it shows there. Only ever sealed or on its way. */
export type ChannelSecrets = { url?: string; token?: string; signing_secret?: string };

type Place = Pick<Ctx, 'tenant_id' | 'sandbox'>;
const placeOf = ({ tenant_id, sandbox }: Place, id: string) =>
  ({ tenant_id, space: spaceOf(sandbox), purpose: 'alert_channel', row_id: id }) as const;

/** The sealed columns of a channel. Before the transaction opens, so that no lock waits for a key. @throws Refusal tenant_sealed */
export async function sealSecrets(place: Place, id: string, secrets: ChannelSecrets) {
  const bytes = Buffer.from(JSON.stringify(secrets));
  try {
    const { value_ct, cek_wrapped, tmk_version } = await keyring().sealValue(placeOf(place, id), bytes).catch(whenSealed);
    return { value_ct: new Uint8Array(value_ct), cek_wrapped: new Uint8Array(cek_wrapped), tmk_version };
  } finally {
    bytes.fill(0);
  }
}

type Sealed = { id: string; value_ct: Uint8Array | null; cek_wrapped: Uint8Array | null; tmk_version: number | null };

/** @throws Refusal tenant_sealed */
export async function openSecrets(place: Place, { id, value_ct, cek_wrapped, tmk_version }: Sealed): Promise<ChannelSecrets> {
  if (!value_ct || !cek_wrapped || tmk_version === null) return {};
  const sealed = { value_ct: Buffer.from(value_ct), cek_wrapped: Buffer.from(cek_wrapped), tmk_version };
  const bytes = await keyring().openValue(placeOf(place, id), sealed).catch(whenSealed);
  try {
    return JSON.parse(bytes.toString('utf8')) as ChannelSecrets;
  } finally {
    bytes.fill(0);
  }
}

function whenSealed(error: unknown): never {
  if (!(error instanceof TenantKeyUnavailable)) throw error;
  throw new Refusal('tenant_sealed', "This workspace's key is sealed, so the channel's credentials can't be stored or used.", {
    cause: error,
  });
}
