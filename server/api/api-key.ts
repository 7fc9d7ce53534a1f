import { hasDigest } from '#server/crypto/tokens.ts';
import type { PlanName } from '#server/domain/plans/schema.ts';
import { isServableStatus, settingsOf } from '#server/domain/tenants/schema.ts';
import { compileRanges } from '#server/kernel/address.ts';
import { type Capability, capabilitiesOfKey } from '#server/kernel/capabilities.ts';
import { type HotCtx, spaceOf } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { stampUse } from '#server/platform/credential-usage.ts';
import { sql } from '#server/platform/sql.ts';
import type { Edge } from './edge.ts';

/** An API key with what its workspace's standing says about it. */
export type KeyRow = {
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

export type KeyLimit = { id: string; requests: number; window_sec: number };

export async function keyRow(keyId: string): Promise<KeyRow | undefined> {
  const { rows } = await sql().query<KeyRow>({
    name: 'key-by-id',
    text: `select k.id, k.key_id, k.tenant_id, k.sandbox, k.name, k.digest, k.active, k.role_ids, k.scoped, k.scopes, k.expires_at, k.revoke_at, k.ip_allowlist,
      k.rate_limit_requests, k.rate_limit_window_sec, t.subscription_plan, t.subscription_status, t.settings, t.deleted_at
      from api_keys k join tenants t on t.id = k.tenant_id where k.key_id = $1`,
    values: [keyId],
  });
  return rows[0];
}

/** Whether this text is the key's and the key has not ended. */
export const isValidKey = (row: KeyRow | undefined, text: string, now: Date): row is KeyRow =>
  row !== undefined && hasDigest(text, row.digest) && row.active && !past(row.expires_at, now) && !past(row.revoke_at, now);

const past = (at: Date | null, now: Date) => at !== null && at <= now;

/** What of a key, or of a token and the key behind it, decides whether it may be used here. */
type Placed = Pick<KeyRow, 'sandbox' | 'ip_allowlist' | 'subscription_status' | 'deleted_at'>;

/** Steps 7 to 9 of the order of checks (interface rule 01 §2) for a valid credential: its space, the caller's address, the workspace's standing. */
export function refusalOfKey(
  row: Placed,
  edge: Edge,
  what: 'key' | 'token' = 'key',
): { refusal: Refusal; of: 'space' | 'address' | 'workspace' } | null {
  if (spaceOf(row.sandbox) !== edge.space) {
    const message =
      edge.space === 'live'
        ? `This is a Test ${what}. The Live API only accepts Live ${what}s.`
        : `This is a Live ${what}. The Test API only accepts Test ${what}s.`;
    return { of: 'space', refusal: new Refusal('wrong_key_type', message) };
  }
  if (row.ip_allowlist.length > 0 && !(edge.ip && compileRanges(row.ip_allowlist)(edge.ip)))
    return { of: 'address', refusal: new Refusal('forbidden', `This ${what} can't be used from this IP address.`) };
  if (!isServableStatus(row.subscription_status) || row.deleted_at) {
    const message = `This workspace's subscription is ${row.subscription_status.replace('_', ' ')}.`;
    return { of: 'workspace', refusal: new Refusal('subscription_inactive', message) };
  }
  return null;
}

/** What follows from a row alone: the gateway serves thousands of calls a second from one that it keeps. */
function ofRow(row: KeyRow): Derived {
  let found = derived.get(row);
  if (!found) {
    found = { capabilities: capabilitiesOfKey(row), legacy_key_auth: settingsOf(row.settings).legacy_key_auth };
    derived.set(row, found);
  }
  return found;
}
type Derived = { capabilities: ReadonlySet<Capability>; legacy_key_auth: 'enabled' | 'disabled' };
const derived = new WeakMap<KeyRow, Derived>();

/** The context of a call with this key, but for the Prisma client. */
export const contextOfKey = (row: KeyRow, edge: Edge, now: Date): HotCtx => ({
  tenant_id: row.tenant_id,
  sandbox: row.sandbox,
  plan: row.subscription_plan,
  actor: {
    type: 'api_key',
    id: row.id,
    key_id: row.key_id,
    label: row.name,
    role_ids: row.role_ids,
    capabilities: ofRow(row).capabilities,
  },
  request_id: edge.request_id,
  ip: edge.ip,
  user_agent: edge.user_agent,
  now,
  warnings: [],
});

/** The key's own rate limit; null when it has none. */
export const limitOfKey = (row: KeyRow): KeyLimit | null =>
  row.rate_limit_requests === null ? null : { id: row.id, requests: row.rate_limit_requests, window_sec: row.rate_limit_window_sec ?? 60 };

export const legacyKeyAuthOf = (row: KeyRow): 'enabled' | 'disabled' => ofRow(row).legacy_key_auth;

/** Stamps the last use of a caller's credential; a key works through the tokens that were minted from it. */
export function stampCaller(ctx: HotCtx): void {
  const { actor } = ctx;
  void stampUse(ctx, [actor.id, actor.type === 'oauth_token' ? actor.source_key?.id : null], ctx.ip, ctx.now);
}
