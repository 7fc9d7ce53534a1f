import type { SealedPlace } from '#server/crypto/aad.ts';
import { keyring } from '#server/platform/keys.ts';

/** How long an event can be delivered, and delivered again. */
export const EVENT_LIFE_MS = 14 * 24 * 3_600_000;

/** An event as a driver reads it. */
export type EventRow = {
  id: string;
  tenant_id: string;
  sandbox: boolean;
  type: string;
  source_id: string | null;
  /** What filters may match; null for events that have nothing to match. */
  facts?: unknown;
  occurred_at: Date;
  expires_at: Date;
  payload_ct: Uint8Array | null;
  cek_wrapped: Uint8Array | null;
  tmk_version: number | null;
};

type Owner = Pick<EventRow, 'id' | 'tenant_id' | 'sandbox'>;

/** The columns of an event's data, sealed under the workspace's key. */
export async function sealPayload(event: Owner, data: Readonly<Record<string, unknown>>) {
  const plaintext = Buffer.from(JSON.stringify(data));
  try {
    const { value_ct: payload_ct, cek_wrapped, tmk_version } = await keyring().sealValue(placeOf(event), plaintext);
    return { payload_ct, cek_wrapped, tmk_version, payload_bytes: plaintext.length };
  } finally {
    plaintext.fill(0);
  }
}

/** The data of a sealed event. @throws TenantKeyUnavailable, DecryptFailed */
export async function eventData(event: EventRow): Promise<Record<string, unknown>> {
  const { payload_ct, cek_wrapped, tmk_version } = event;
  if (!payload_ct || !cek_wrapped || tmk_version === null) return {};
  const plaintext = await keyring().openValue(placeOf(event), { value_ct: payload_ct, cek_wrapped, tmk_version });
  try {
    return JSON.parse(plaintext.toString('utf8')) as Record<string, unknown>;
  } finally {
    plaintext.fill(0);
  }
}

const placeOf = ({ id, tenant_id, sandbox }: Owner): SealedPlace => ({
  tenant_id,
  space: sandbox ? 'test' : 'live',
  purpose: 'webhook_payload',
  row_id: id,
});
