import { digest } from '#server/crypto/tokens.ts';
import { db } from '#server/platform/db.ts';
import { keyring } from '#server/platform/keys.ts';
import { capturePlace, type StoredCapture } from './stored.shared.ts';
import { structureOf } from './structure.shared.ts';

export const BODY = '{"card":{"number":"4111"},"amount":12}';

/** What the gateway does with a request for a link. */
export async function captureRequest(token: string, body = BODY): Promise<void> {
  const token_hash = new Uint8Array(digest(token));
  const row = await db().payload_captures.findUniqueOrThrow({ where: { token_hash } });
  const stored: StoredCapture = { method: 'POST', headers: [{ name: 'Content-Type', value: 'application/json' }], body };
  const sealed = await keyring().sealValue(capturePlace(row), Buffer.from(JSON.stringify(stored)));
  const told = { content_type: 'application/json', bytes: body.length, structure: structureOf(JSON.parse(body)) };
  await db().payload_captures.update({ where: { token_hash }, data: { state: 'captured', captured_at: new Date(), ...told, ...sealed } });
}
