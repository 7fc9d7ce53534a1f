import { classifyCredential } from '#server/crypto/tokens.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { writeAudit } from '#server/kernel/mutate.ts';
import { processState } from '#server/kernel/process-state.ts';
import { db } from '#server/platform/db.ts';
import {
  contextOfKey,
  isValidKey,
  type KeyLimit,
  type KeyRow,
  keyRow,
  legacyKeyAuthOf,
  limitOfKey,
  refusalOfKey,
  stampUse,
} from './api-key.ts';
import type { Edge } from './edge.ts';

export type Authenticated = {
  ctx: Ctx;
  limit: KeyLimit | null;
  /** Keys presented directly are refused on OAuth-only resources, and everywhere when the workspace says so. */
  legacy_key: boolean;
  legacy_key_auth: 'enabled' | 'disabled';
};

/**
 * Steps 5 to 9 of the order of checks (interface rule 01 §2): a credential is present, valid, of this space, from an allowed address, and its
 * workspace is servable. No cache: revocation works on the next request.
 */
export async function authenticate(headers: Headers, edge: Edge): Promise<Authenticated> {
  const text = presented(headers);
  const credential = classifyCredential(text);
  if (credential.kind !== 'api_key' && credential.kind !== 'access_key') throw invalidKey();
  const row = await keyRow(credential.key_id);
  const now = new Date();
  if (!isValidKey(row, text, now)) throw invalidKey();
  const ctx: Ctx = { ...contextOfKey(row, edge, now), db: db() };
  const refused = refusalOfKey(row, edge);
  if (refused?.of === 'address') await recordRefusedAddress(ctx, row);
  if (refused) throw refused.refusal;
  stampUse(ctx);
  return { ctx, limit: limitOfKey(row), legacy_key: true, legacy_key_auth: legacyKeyAuthOf(row) };
}

/** The one credential of a request (interface rule 01 §9). */
function presented(headers: Headers): string {
  // An empty header carries no credential, so it says nothing against the other one either.
  const authorization = headers.get('authorization') || null;
  const key = headers.get('x-api-key');
  const bearer = authorization === null ? null : /^Bearer +(\S+)$/i.exec(authorization.trim())?.[1];
  if (authorization !== null && !bearer && !key) throw invalidKey();
  // Whatever stands beside x-api-key in Authorization is a second credential, also when its scheme is none of ours.
  if (authorization !== null && key && bearer !== key)
    throw new Refusal('invalid_request', 'Authorization and x-api-key carry different credentials. Send only one.');
  const text = bearer ?? key;
  if (!text)
    throw new Refusal(
      'authentication_required',
      'Authentication required. Send an API key or access token as "Authorization: Bearer ...".',
      {
        headers: { 'www-authenticate': 'Bearer realm="api"' },
      },
    );
  return text;
}

const invalidKey = () =>
  new Refusal('invalid_api_key', 'The API key or access token is unknown, malformed, revoked or expired.', {
    headers: { 'www-authenticate': 'Bearer realm="api", error="invalid_token"' },
  });

/** One audit row per key and address in ten minutes (interface rule 20 §1.7). */
async function recordRefusedAddress(ctx: Ctx, row: KeyRow): Promise<void> {
  const mark = `${row.id}:${ctx.ip}`;
  if (ctx.now.getTime() - (refusedAddresses.get(mark) ?? 0) < 600_000) return;
  if (refusedAddresses.size > 10_000) refusedAddresses.clear();
  refusedAddresses.set(mark, ctx.now.getTime());
  await db().$transaction((tx) =>
    writeAudit(
      tx,
      { ...ctx, request_id: ctx.request_id || newId() },
      {
        action: 'login_failed',
        resource_type: 'api_key',
        resource_id: row.id,
        name: row.name,
        details: { reason: 'address', key_id: row.key_id },
      },
    ),
  );
}
const refusedAddresses = processState('refused-addresses', () => new Map<string, number>());
