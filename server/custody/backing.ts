import { compileRanges } from '#server/kernel/address.ts';
import { type Capability, capabilitiesOfKey, type MemberRole, memberCapabilities } from '#server/kernel/capabilities.ts';
import { type Ctx, keyBehind } from '#server/kernel/context.ts';
import type { PolicyCaller } from '#server/kernel/policy-callers.ts';
import { expandScopes } from '#server/kernel/scopes.ts';
import type { Tx } from '#server/kernel/tx.ts';

// A token that a credential minted is worth no more than that credential is now. Every plane that accepts such a token reads `backing` with the token's row
// and asks `backingFault`. Access tokens are judged likewise with their own row (`oauth-grants/access-tokens.ts`), which has the same key in it.

/** The credential that minted a token, as it is now. All null: it is gone. */
export type Backing = {
  /** The API key that minted it, or that the minting client mirrors. `ends_at` is epoch milliseconds; null: it has no end. */
  key: {
    id: string;
    live: boolean;
    ends_at: number | null;
    role_ids: string[];
    scoped: boolean;
    scopes: string[];
    ip_allowlist: string[];
  } | null;
  client: { id: string; live: boolean; allowed_scopes: string[] } | null;
  /** `role` is null once they have left the workspace or their account is disabled. */
  person: { id: string; role: MemberRole | null; reveal_secrets: boolean } | null;
};

/**
 * A column `backing` for a query by digest: null when nothing is known to have minted the row. `minter` and `tenant` are SQL expressions of the row: the ID of
 * the API key, OAuth client or person that minted it, as a uuid, and its workspace.
 */
export const backingColumn = (minter: string, tenant: string): string => `case when ${minter} is not null then (select jsonb_build_object(
    'key', case when bk.id is not null then jsonb_build_object('id', bk.id, 'live', bk.active and bk.revoked_at is null,
      'ends_at', floor(extract(epoch from least(bk.expires_at, bk.revoke_at)) * 1000), 'role_ids', bk.role_ids, 'scoped', bk.scoped, 'scopes', bk.scopes,
      'ip_allowlist', bk.ip_allowlist) end,
    'client', case when bc.id is not null then jsonb_build_object('id', bc.id, 'live', bc.active and bc.revoked_at is null, 'allowed_scopes', bc.allowed_scopes) end,
    'person', (select jsonb_build_object('id', bu.id, 'role', case when bu.disabled_at is null then bm.role end, 'reveal_secrets', coalesce(bm.reveal_secrets, false))
      from users bu left join memberships bm on bm.user_id = bu.id and bm.tenant_id = ${tenant} and bm.removed_at is null where bu.id = ${minter} limit 1))
  from (select ${minter} as id) minter
    left join oauth_clients bc on bc.id = minter.id and bc.tenant_id = ${tenant}
    left join api_keys bk on bk.id = coalesce(bc.source_api_key_id, minter.id) and bk.tenant_id = ${tenant}) end as backing`;

/** What minting such a token takes, and whether the tokens of a person end with their membership. */
export type BackingRule = { needs: Capability; people: 'end' | 'stay' };

/**
 * Why a token isn't accepted: the credential that minted it has ended, is disabled or no longer holds what minting takes (`ended`), or may not be used from
 * this address (`address`). Null when it may be used. Pass `ip` undefined for tokens made to be used from anywhere.
 */
export function backingFault(
  backing: Backing | null,
  { needs, people }: BackingRule,
  { now, ip }: { now: number; ip: string | null | undefined },
): 'ended' | 'address' | null {
  if (backing === null) return null;
  const { key, client, person } = backing;
  if (client && !client.live) return 'ended';
  if (key) {
    if (!key.live || (key.ends_at !== null && key.ends_at <= now) || !capabilitiesOfKey(key).has(needs)) return 'ended';
    if (ip === undefined || key.ip_allowlist.length === 0) return null;
    return ip !== null && rangesOf(key)(ip) ? null : 'address';
  }
  if (client) return expandScopes(client.allowed_scopes).has(needs) ? null : 'ended';
  if (!person) return 'ended';
  if (people === 'stay') return null;
  return person.role !== null && memberCapabilities(person.role, person).has(needs) ? null : 'ended';
}

const compiled = new WeakMap<object, (ip: string) => boolean>();
function rangesOf(key: NonNullable<Backing['key']>): (ip: string) => boolean {
  const known = compiled.get(key) ?? compileRanges(key.ip_allowlist);
  compiled.set(key, known);
  return known;
}

/** What tenant policies see of a caller whose token another credential minted: what binds that credential binds the token. */
export function subjectOf(backing: Backing | null): PolicyCaller {
  if (backing === null) return {};
  const { key, client, person } = backing;
  return {
    ...(key ? { api_key_id: key.id, key_role_ids: key.role_ids } : {}),
    ...(client ? { oauth_client_id: client.id } : {}),
    ...(person && !key && !client ? { user_id: person.id, ...(person.role ? { role: person.role } : {}) } : {}),
  };
}

/** When a token may end at the latest: with the key that mints it, whatever was asked for. Null: it has no end. */
export async function endWithin<Wanted extends Date | null>(tx: Tx, ctx: Ctx, wanted: Wanted): Promise<Wanted | Date> {
  const key = keyBehind(ctx.actor);
  if (!key) return wanted;
  const [row] = await tx.$queryRaw<{ ends_at: Date | null }[]>`
    select least(expires_at, revoke_at) as ends_at from api_keys where id = ${key.id}::uuid and tenant_id = ${ctx.tenant_id}::uuid`;
  const end = row?.ends_at ?? null;
  return end !== null && (wanted === null || end < wanted) ? end : wanted;
}
