import { classifyCredential, hasDigest } from '#server/crypto/tokens.ts';
import type { PlanName } from '#server/domain/plans/schema.ts';
import { isServableStatus, settingsOf } from '#server/domain/tenants/schema.ts';
import { compileRanges } from '#server/kernel/address.ts';
import { capabilitiesOfKey } from '#server/kernel/capabilities.ts';
import { type Ctx, spaceOf } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { writeAudit } from '#server/kernel/mutate.ts';
import { processState } from '#server/kernel/process-state.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import type { Edge } from './edge.ts';

export type Authenticated = {
  ctx: Ctx;
  limit: { id: string; requests: number; window_sec: number } | null;
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
  if (!row || !hasDigest(text, row.digest) || !row.active || past(row.expires_at, now) || past(row.revoke_at, now)) throw invalidKey();

  const ctx: Ctx = {
    db: db(),
    tenant_id: row.tenant_id,
    sandbox: row.sandbox,
    plan: row.subscription_plan,
    actor: {
      type: 'api_key',
      id: row.id,
      key_id: row.key_id,
      label: row.name,
      role_ids: row.role_ids,
      capabilities: capabilitiesOfKey(row),
    },
    request_id: edge.request_id,
    ip: edge.ip,
    user_agent: edge.user_agent,
    now,
    warnings: [],
  };
  if (spaceOf(row.sandbox) !== edge.space)
    throw new Refusal(
      'wrong_key_type',
      edge.space === 'live'
        ? 'This is a Test key. The Live API only accepts Live keys.'
        : 'This is a Live key. The Test API only accepts Test keys.',
    );
  if (row.ip_allowlist.length > 0 && !(edge.ip && compileRanges(row.ip_allowlist)(edge.ip))) {
    await recordRefusedAddress(ctx, row);
    throw new Refusal('forbidden', "This key can't be used from this IP address.");
  }
  if (!isServableStatus(row.subscription_status) || row.deleted_at)
    throw new Refusal('subscription_inactive', `This workspace's subscription is ${row.subscription_status.replace('_', ' ')}.`);
  stampUse(ctx);
  return {
    ctx,
    limit:
      row.rate_limit_requests === null
        ? null
        : { id: row.id, requests: row.rate_limit_requests, window_sec: row.rate_limit_window_sec ?? 60 },
    legacy_key: true,
    legacy_key_auth: settingsOf(row.settings).legacy_key_auth,
  };
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

const past = (at: Date | null, now: Date) => at !== null && at <= now;

type KeyRow = {
  id: string;
  key_id: string;
  tenant_id: string;
  sandbox: boolean;
  name: string;
  digest: Uint8Array;
  active: boolean;
  role_ids: string[];
  scoped: boolean;
  scopes: string[];
  expires_at: Date | null;
  revoke_at: Date | null;
  ip_allowlist: string[];
  rate_limit_requests: number | null;
  rate_limit_window_sec: number | null;
  subscription_plan: PlanName;
  subscription_status: string;
  settings: unknown;
  deleted_at: Date | null;
};

async function keyRow(keyId: string): Promise<KeyRow | undefined> {
  const { rows } = await sql().query<KeyRow>({
    name: 'key-by-id',
    text: `select k.id, k.key_id, k.tenant_id, k.sandbox, k.name, k.digest, k.active, k.role_ids, k.scoped, k.scopes, k.expires_at, k.revoke_at, k.ip_allowlist,
      k.rate_limit_requests, k.rate_limit_window_sec, t.subscription_plan, t.subscription_status, t.settings, t.deleted_at
      from api_keys k join tenants t on t.id = k.tenant_id where k.key_id = $1`,
    values: [keyId],
  });
  return rows[0];
}

/** At most once a minute per key, outside the request's own work; a lost stamp loses nothing. */
function stampUse(ctx: Ctx): void {
  const now = ctx.now.getTime();
  const id = ctx.actor.id as string;
  if (now - (stamped.get(id) ?? 0) < 60_000) return;
  if (stamped.size > 50_000) stamped.clear();
  stamped.set(id, now);
  void sql()
    .query({
      name: 'stamp-use',
      text: `insert into credential_usage (id, tenant_id, sandbox, last_used_at, last_used_ip) values ($1, $2, $3, $4, $5)
        on conflict (id) do update set last_used_at = excluded.last_used_at, last_used_ip = excluded.last_used_ip`,
      values: [id, ctx.tenant_id, ctx.sandbox, ctx.now, ctx.ip],
    })
    .catch(() => stamped.delete(id));
}
const stamped = processState('stamped-credentials', () => new Map<string, number>());

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
