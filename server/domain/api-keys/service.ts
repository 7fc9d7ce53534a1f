import type { z } from 'zod';
import { mintAccessKey, mintApiKey } from '#server/crypto/tokens.ts';
import { requireFeature, withinPlan } from '#server/domain/plans/service.ts';
import { canonicalAddress } from '#server/kernel/address.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import { countListed, inOrder, listIds, stretchOf } from '#server/kernel/listing.ts';
import { audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { pageOf } from '#server/kernel/page.ts';
import { coveredGrants, coveredRoles, coveredScopes, inheritedRoles } from './grants.ts';
import { tellOfNewKey } from './notices.ts';
import type { CreateApiKey, ListApiKeys, RotateApiKey, UpdateApiKey } from './schema.ts';

const HOUR = 3_600_000;
const FIVE_YEARS = 5 * 365 * 24 * HOUR;
const SHOWN_ONCE = 'Store this API key now; it is not shown again.';

export function listApiKeys(ctx: Ctx, query: z.output<typeof ListApiKeys>) {
  return read(ctx, async (tx) => {
    const { active, key_type, ...asked } = query;
    const filters = [
      active !== undefined && { column: 'active', is: active, mostly: true },
      key_type !== undefined && { column: 'key_type', is: key_type, mostly: ctx.sandbox ? 'test' : 'standard' },
    ];
    const listing = { ...asked, table: 'api_keys', counted: 'api_keys_all', filters } as const;
    const { ids, total } =
      query.sort === 'last_used_at'
        ? await byLastUse(tx, ctx, query, await countListed(tx, ctx, listing))
        : await listIds(tx, ctx, listing);
    const rows = await tx.api_keys.findMany({ where: { ...own(ctx), id: { in: ids } } });
    return pageOf(inOrder(ids, await withUsage(tx, ctx, rows)), total, query);
  });
}

export const getApiKey = (ctx: Ctx, input: { id: string }) =>
  read(ctx, async (tx) => (await withUsage(tx, ctx, [await keyByRef(tx, ctx, input.id)]))[0]!);

/** A new key of this space: test keys in Test, standard or access keys in Live. The answer is the only place its text ever stands. */
export async function createApiKey(ctx: Ctx, input: z.output<typeof CreateApiKey>) {
  const access = input.key_type === 'access_key';
  if (access && ctx.sandbox) throw invalid('key_type', 'access keys exist in Live only');
  if (access) requireFeature(ctx, 'access_key');
  if (!access && input.scopes) throw invalid('scopes', 'only access keys carry scopes');
  if (!access && input.expires_at) throw invalid('expires_at', 'only access keys expire');
  recentSignIn(ctx);
  const role_ids = input.role_ids ? await coveredRoles(ctx, input.role_ids) : await inheritedRoles(ctx);
  const scopes = input.scopes ? await coveredScopes(ctx, input.scopes) : null;
  await coveredGrants(ctx, role_ids, scopes);
  let told = () => {};
  const made = await mutate(ctx, async (tx) => {
    await withinPlan(tx, ctx, 'api_keys');
    const created = await insertKey(tx, ctx, {
      name: input.name,
      access,
      role_ids,
      scopes,
      expires_at: input.expires_at ? expiry(ctx, input.expires_at) : null,
      ip_allowlist: addressList(ctx, input.ip_allowlist ?? []),
      ...limits(input, null),
    });
    told = await tellOfNewKey(tx, ctx, created);
    return audited(created, {
      action: 'create',
      resource_type: 'api_key',
      resource_id: created.id,
      name: created.name,
      details: { key_id: created.key_id, key_type: created.key_type, role_ids },
    });
  });
  told();
  return made;
}

/**
 * A caller changes keys up to its own grants (interface rule 24 §2): of a stronger key it may neither lift the address list nor move the end.
 * @throws Refusal privilege_escalation, conflict for a key that has ended
 */
export async function updateApiKey(ctx: Ctx, { id, ...input }: z.output<typeof UpdateApiKey>) {
  const role_ids = input.role_ids && (await coveredRoles(ctx, input.role_ids));
  const scopes = input.scopes && (await coveredScopes(ctx, input.scopes));
  return mutate(ctx, async (tx) => {
    const before = await lockedKey(tx, ctx, id);
    if (hasEnded(before, ctx.now)) throw new Refusal('conflict', 'The key is revoked or has expired.');
    await coveredGrants(ctx, before.role_ids, before.scoped ? before.scopes : null);
    const access = before.key_type === 'access_key';
    if (!access && (scopes || input.expires_at !== undefined)) throw invalid(scopes ? 'scopes' : 'expires_at', 'only access keys carry it');
    const data = {
      ...(input.name === undefined ? {} : { name: input.name }),
      ...(input.rate_limit_requests === undefined && input.rate_limit_window_sec === undefined ? {} : limits(input, before)),
      ...(input.ip_allowlist === undefined ? {} : { ip_allowlist: addressList(ctx, input.ip_allowlist) }),
      ...(role_ids === undefined ? {} : { role_ids }),
      ...(scopes === undefined ? {} : { scopes, scoped: true }),
      ...(input.expires_at === undefined ? {} : { expires_at: input.expires_at === null ? null : expiry(ctx, input.expires_at) }),
    };
    const granted = { ...before, ...data };
    await coveredGrants(ctx, granted.role_ids, granted.scoped ? granted.scopes : null);
    const moved = 'expires_at' in data ? { expiry_told: null } : {};
    const after = await tx.api_keys.update({ where: { id: before.id, ...own(ctx) }, data: { ...data, ...moved, updated_at: ctx.now } });
    const [row] = await withUsage(tx, ctx, [after]);
    return audited(row!, {
      action: 'update',
      resource_type: 'api_key',
      resource_id: after.id,
      name: after.name,
      changes: changesOf(before, after, Object.keys(data)),
      details: { key_id: after.key_id },
    });
  });
}

/**
 * A new key with the old one's grants; the old one works on until it is revoked or its time comes (interface rule 00, API key lifecycle). With
 * revoke_old_after_sec 0 the old one makes room for the new one: at the plan's limit a leaked key can still be replaced.
 */
export async function rotateApiKey(ctx: Ctx, input: z.output<typeof RotateApiKey>) {
  recentSignIn(ctx);
  let told = () => {};
  const made = await mutate(ctx, async (tx) => {
    const current = await lockedKey(tx, ctx, input.id);
    if (hasEnded(current, ctx.now)) throw new Refusal('conflict', 'The key is revoked already or has expired.');
    if (current.key_type === 'access_key') requireFeature(ctx, 'access_key');
    await coveredGrants(ctx, current.role_ids, current.scoped ? current.scopes : null);
    if (input.revoke_old_after_sec === 0)
      await tx.api_keys.update({
        where: { id: current.id, ...own(ctx) },
        data: { active: false, revoke_at: ctx.now, revoked_at: ctx.now, revoked_by: doer(ctx), updated_at: ctx.now },
      });
    await withinPlan(tx, ctx, 'api_keys');
    const created = await insertKey(tx, ctx, {
      name: current.name,
      access: current.key_type === 'access_key',
      role_ids: current.role_ids,
      scopes: current.scoped ? current.scopes : null,
      expires_at: current.expires_at,
      ip_allowlist: current.ip_allowlist,
      rate_limit_requests: current.rate_limit_requests,
      rate_limit_window_sec: current.rate_limit_window_sec,
      replaces_key_id: current.key_id,
    });
    if (input.revoke_old_after_sec)
      await tx.api_keys.update({
        where: { id: current.id, ...own(ctx) },
        data: { revoke_at: earlier(current.revoke_at, new Date(ctx.now.getTime() + input.revoke_old_after_sec * 1000)) },
      });
    told = await tellOfNewKey(tx, ctx, created);
    return audited(
      { ...created, replaces_key_id: current.key_id },
      {
        action: 'rotate',
        resource_type: 'api_key',
        resource_id: created.id,
        name: created.name,
        details: { key_id: created.key_id, replaces_key_id: current.key_id, revoke_old_after_sec: input.revoke_old_after_sec },
      },
    );
  });
  told();
  return made;
}

/** Permanent; a second call answers the same and writes nothing. A key never revokes itself. */
export function revokeApiKey(ctx: Ctx, input: { id: string }) {
  return mutate(ctx, async (tx) => {
    const row = await keyByRef(tx, ctx, input.id);
    const { actor } = ctx;
    if (actor.type === 'api_key' && actor.id === row.id)
      throw new Refusal('validation_error', 'A key cannot revoke itself. Use another credential.');
    if (actor.type === 'member' && actor.role === 'editor' && (row.created_by as { id?: string } | null)?.id !== actor.id)
      throw new Refusal('role_denied', 'An Editor may revoke only keys made by themselves.');
    const answer = { deleted: true as const, revoked: true as const };
    if (row.revoked_at) return unchanged(answer);
    await tx.api_keys.update({
      where: { id: row.id, ...own(ctx) },
      data: {
        active: false,
        revoked_at: ctx.now,
        revoked_by: doer(ctx),
        updated_at: ctx.now,
      },
    });
    return audited(answer, {
      action: 'revoke',
      resource_type: 'api_key',
      resource_id: row.id,
      name: row.name,
      details: { key_id: row.key_id },
    });
  });
}

const doer = ({ actor }: Ctx) => (actor.type === 'member' || actor.type === 'api_key' ? actor.id : null);

export type NewKey = {
  name: string;
  access: boolean;
  role_ids: string[];
  scopes: string[] | null;
  expires_at: Date | null;
  ip_allowlist: string[];
  rate_limit_requests: number | null;
  rate_limit_window_sec: number | null;
  replaces_key_id?: string;
  created_by?: { kind: string; id: string | null; label: string };
};

/** Mints and stores a key inside the caller's transaction; sign-up and the operator use it too. The caller audits. */
export async function insertKey(tx: Tx, ctx: Pick<Ctx, 'tenant_id' | 'sandbox' | 'actor' | 'now'>, input: NewKey) {
  const minted = input.access ? mintAccessKey() : mintApiKey(ctx.sandbox ? 'test' : 'live');
  const row = await tx.api_keys.create({
    data: {
      id: newId(),
      tenant_id: ctx.tenant_id,
      sandbox: ctx.sandbox,
      key_id: minted.key_id,
      key_prefix: minted.key_prefix,
      digest: new Uint8Array(minted.digest),
      key_type: input.access ? 'access_key' : ctx.sandbox ? 'test' : 'standard',
      name: input.name,
      role_ids: input.role_ids,
      scopes: input.scopes ?? [],
      scoped: input.scopes !== null,
      expires_at: input.expires_at,
      ip_allowlist: input.ip_allowlist,
      rate_limit_requests: input.rate_limit_requests,
      rate_limit_window_sec: input.rate_limit_window_sec,
      replaces_key_id: input.replaces_key_id ?? null,
      created_by: input.created_by ?? creator(ctx),
      created_at: ctx.now,
      updated_at: ctx.now,
    },
  });
  return {
    id: row.id,
    key_id: row.key_id,
    api_key: minted.token,
    key_prefix: row.key_prefix,
    key_type: row.key_type as 'standard' | 'test' | 'access_key',
    name: row.name,
    role_ids: row.role_ids,
    scopes: row.scoped ? row.scopes : null,
    expires_at: row.expires_at,
    message: SHOWN_ONCE,
  };
}

const CREATOR = { member: 'user', api_key: 'api_key', operator: 'operator', system: 'signup', anonymous: 'signup' } as const;
const creator = ({ actor }: Pick<Ctx, 'actor'>) => ({ kind: CREATOR[actor.type], id: actor.id, label: actor.label });

type KeyRow = Awaited<ReturnType<typeof keyByRef>>;

/** @throws Refusal not_found */
export async function keyByRef(tx: Tx, ctx: Ctx, ref: string) {
  const row = await tx.api_keys.findFirst({ where: { ...own(ctx), ...(isUuid(ref) ? { id: ref } : { key_id: ref }) } });
  if (!row) throw notFound();
  return row;
}

/** As by reference, holding the row until the transaction ends. */
export async function lockedKey(tx: Tx, ctx: Ctx, ref: string) {
  const { id } = await keyByRef(tx, ctx, ref);
  await tx.$queryRaw`select 1 from api_keys where id = ${id}::uuid for no key update`;
  return keyByRef(tx, ctx, id);
}

async function withUsage(tx: Tx, ctx: Ctx, rows: KeyRow[]) {
  const usage = new Map(
    (await tx.credential_usage.findMany({ where: { ...own(ctx), id: { in: rows.map((r) => r.id) } } })).map((u) => [u.id, u]),
  );
  return rows.map((row) => shape(row, ctx.now, usage.get(row.id)));
}

/** Inactive from the moment itself, whether or not the job that marks ended keys has come by. */
const hasEnded = (row: Pick<KeyRow, 'active' | 'expires_at' | 'revoke_at'>, now: Date): boolean =>
  !row.active || (row.expires_at !== null && row.expires_at <= now) || (row.revoke_at !== null && row.revoke_at <= now);

const earlier = (a: Date | null, b: Date): Date => (a !== null && a < b ? a : b);

function shape(row: KeyRow, now: Date, usage: { last_used_at: Date; last_used_ip: string | null } | undefined) {
  const ended = hasEnded({ ...row, active: true }, now);
  return {
    ...row,
    key_type: row.key_type as 'standard' | 'test' | 'access_key',
    active: row.active && !ended,
    scopes: row.scoped ? row.scopes : null,
    created_by: row.created_by as {
      kind: 'user' | 'api_key' | 'oauth_client' | 'operator' | 'signup';
      id: string | null;
      label: string;
    } | null,
    last_used_at: usage?.last_used_at ?? null,
    last_used_ip: usage?.last_used_ip ?? null,
    revoked_at: row.revoked_at ?? (ended ? (row.revoke_at ?? null) : null),
    oauth_client_id: row.key_id,
  };
}

/**
 * The ids of a page by last use; keys never used come after all others, by id. Two stretches, each from an index: in the order asked the one may end
 * within the page, so both give as many as the page needs at most.
 */
async function byLastUse(tx: Tx, ctx: Ctx, query: z.output<typeof ListApiKeys>, total: number): Promise<{ ids: string[]; total: number }> {
  const { skip, take, order, backwards } = stretchOf(query, total);
  const passes = `k.tenant_id = $1::uuid and k.sandbox = $2 and ($3::boolean is null or k.active = $3) and ($4::text is null or k.key_type = $4)`;
  const rows = await tx.$queryRawUnsafe<{ id: string }[]>(
    `select id from (
       (select k.id, u.last_used_at as at from credential_usage u join api_keys k on k.id = u.id
         where u.tenant_id = $1::uuid and u.sandbox = $2 and ${passes} order by u.last_used_at ${order}, u.id ${order} limit $5::bigint + $6::bigint)
       union all
       (select k.id, null from api_keys k where ${passes} and not exists (select from credential_usage u where u.id = k.id)
         order by k.id ${order} limit $5::bigint + $6::bigint)) p
     order by at ${order === 'asc' ? 'asc nulls first' : 'desc nulls last'}, id ${order} offset $5::bigint limit $6::bigint`,
    ctx.tenant_id,
    ctx.sandbox,
    query.active ?? null,
    query.key_type ?? null,
    skip,
    take,
  );
  const ids = rows.map((row) => row.id);
  return { ids: backwards ? ids.reverse() : ids, total };
}

/** A window without requests means nothing; requests alone mean per minute (interface rule 01 §8). */
function limits(
  input: { rate_limit_requests?: number | null | undefined; rate_limit_window_sec?: number | null | undefined },
  stored: KeyRow | null,
) {
  const requests = input.rate_limit_requests === undefined ? (stored?.rate_limit_requests ?? null) : input.rate_limit_requests;
  const window = input.rate_limit_window_sec === undefined ? (stored?.rate_limit_window_sec ?? null) : input.rate_limit_window_sec;
  if (requests === null && input.rate_limit_window_sec != null) throw invalid('rate_limit_window_sec', 'needs rate_limit_requests');
  return { rate_limit_requests: requests, rate_limit_window_sec: requests === null ? null : (window ?? 60) };
}

function addressList(ctx: Ctx, list: readonly string[]): string[] {
  return [
    ...new Set(
      list.map((entry) => {
        const address = canonicalAddress(entry);
        if (!address.ok) throw invalid('ip_allowlist', `${entry.slice(0, 64)} ${address.problem}`);
        if (address.warning) ctx.warnings.push(address.warning);
        return address.value;
      }),
    ),
  ];
}

function expiry(ctx: Ctx, text: string): Date {
  const at = new Date(text);
  const ahead = at.getTime() - ctx.now.getTime();
  if (ahead < HOUR || ahead > FIVE_YEARS) throw invalid('expires_at', 'must lie between one hour and five years ahead');
  return at;
}

/** From the dashboard making or rotating a key takes a sign-in of the last 12 hours (interface rule 20 §1.9). */
function recentSignIn(ctx: Ctx): void {
  if (ctx.actor.type === 'member' && ctx.now.getTime() - ctx.actor.signed_in_at.getTime() > 12 * HOUR)
    throw new Refusal('step_up_required', 'Sign in again before you make a key: your sign-in is older than 12 hours.', {
      extra: { requires_step_up: true, action_scope: 'api_key.create', allowed_methods: ['passkey', '2fa'] },
    });
}
