import type { Material } from '#server/crypto/transit/material.ts';
import { webhookMaterial } from '#server/crypto/transit/webhook-formats.ts';
import { keyById } from '#server/custody/keys.ts';
import { material } from '#server/custody/material.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { ownQuery, ownRows } from '#server/platform/own-rows.ts';
import type { HmacFormat } from './options.shared.ts';
import { openText } from './sealing.ts';

/** What signs an attempt; `previous` while a secret or key is being replaced. */
export type SigningKeys = { current: Material; previous?: Material | undefined };
/** A delivery is never sent unsigned. */
export class SigningKeyUnavailable extends Error {
  override readonly name = 'SigningKeyUnavailable';
}

type Space = Pick<Ctx, 'tenant_id' | 'sandbox'>;
type Webhook = { id: string; hmac_key_id: string | null; hmac_format: HmacFormat };

/** @throws SigningKeyUnavailable when the key is destroyed, disabled or out of reach */
export async function signingKeys(space: Space, webhook: Webhook, secrets: readonly SecretRow[], now: Date): Promise<SigningKeys> {
  try {
    return webhook.hmac_key_id === null
      ? await ownSecrets(space, webhook, secrets, now)
      : await keyVersions(space, webhook.hmac_key_id, now);
  } catch (error) {
    if (error instanceof SigningKeyUnavailable) throw error;
    throw new SigningKeyUnavailable(error instanceof Refusal ? error.message : 'The signing secret could not be opened.', { cause: error });
  }
}

/** A secret as it lies sealed; the current one has no end. */
export type SecretRow = {
  id: string;
  webhook_id: string;
  value_ct: Buffer;
  cek_wrapped: Buffer;
  tmk_version: number;
  expires_at: Date | null;
};

async function ownSecrets(space: Space, { id, hmac_format }: Webhook, secrets: readonly SecretRow[], now: Date): Promise<SigningKeys> {
  const rows = secrets.filter(({ webhook_id }) => webhook_id === id);
  const open = async (row: SecretRow | undefined) => row && webhookMaterial(await openText(space, 'webhook_secret', row), hmac_format);
  const current = await open(rows.find(({ expires_at }) => expires_at === null));
  if (!current) throw new SigningKeyUnavailable('The webhook has no signing secret.');
  return { current, previous: await open(rows.find(({ expires_at }) => expires_at !== null && expires_at > now)) };
}

/** The version before signs along for a day, like a secret that was rotated (interface rule 60 §4). */
const OVERLAP_MS = 24 * 3_600_000;

async function keyVersions(space: Space, keyId: string, now: Date): Promise<SigningKeys> {
  const key = await keyById(space, keyId);
  if (!key) throw new SigningKeyUnavailable('The crypto key that signs this webhook no longer exists.');
  const current = await material(key, key.current_version);
  const [version] = await ownRows<{ created_at: Date }>(space, VERSION, keyId, key.current_version);
  const recent = version !== undefined && now.getTime() - version.created_at.getTime() < OVERLAP_MS;
  // A version that can't be used any more simply doesn't sign along.
  const previous = recent && key.current_version > 1 ? await material(key, key.current_version - 1).catch(() => undefined) : undefined;
  return { current, previous };
}

const VERSION = ownQuery(
  'webhook-key-version',
  'select created_at from crypto_key_versions where tenant_id = $1 and sandbox = $2 and key_id = $3::uuid and version = $4::int',
);
