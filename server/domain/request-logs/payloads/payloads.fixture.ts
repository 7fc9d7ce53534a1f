import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { keyring } from '#server/platform/keys.ts';
import { payloadPlace, SIDES, type Side, type StoredPayload } from './stored.shared.ts';

/** A payload as the gateway stores one. */
export const PAYLOAD: Record<Side, StoredPayload> = {
  request: { headers: [{ name: 'Content-Type', value: 'application/json' }], body: '{"order":"kept-request"}', encoding: 'text' },
  response: { headers: [{ name: 'content-type', value: 'application/json' }], body: '{"answer":"kept-response"}', encoding: 'text' },
};

type Place = Pick<Ctx, 'tenant_id' | 'sandbox'>;

/** Stores a payload of a logged call. */
export async function keepPayload(
  { tenant_id, sandbox }: Place,
  request_id: string,
  { payload = PAYLOAD, ts = new Date(Date.now() - 60_000), body_withheld = null as string | null } = {},
): Promise<void> {
  for (const side of SIDES) {
    const id = newId();
    const kept = payload[side];
    const value = await keyring().sealValue(payloadPlace({ id, tenant_id, sandbox }), Buffer.from(JSON.stringify(kept)));
    const told = { content_type: 'application/json', body_bytes: BigInt(kept.body?.length ?? 0), truncated: false, body_withheld };
    await db().log_payloads.create({ data: { id, tenant_id, sandbox, request_id, side, ts, ...told, ...value } });
  }
}
