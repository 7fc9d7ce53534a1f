import { newId } from '#server/kernel/ids.ts';
import { processState } from '#server/kernel/process-state.ts';
import { ownQuery, ownRows } from '#server/platform/own-rows.ts';
import { ownSql } from '#server/platform/sql.ts';
import { type Lru, lru } from '../credentials/lru.ts';

/** A person or system that calls are attributed to (interface rule 50 §10). */
export type AttributedUser = { id: string; external_id: string; display_name: string | null; team: string | null; enabled: boolean };
type Space = { tenantId: string; sandbox: boolean };
type Known = { user: Promise<AttributedUser | null>; until: number };

/** As long as other configuration may be old. */
const TTL_MS = 2_000;
const MOST_KNOWN = 20_000;
const TOUCH_MS = 60_000;
/** Users of a space that first sight creates; more are attributed without a row of their own. */
const MOST_USERS = 100_000;

const state = processState('ai-users', (): { known: Lru<Known>; touched: Lru<number> } => ({
  known: lru(MOST_KNOWN),
  touched: lru(MOST_KNOWN),
}));

/** The user of an external ID; null when the directory has none. Rejects when the database is away. */
export function findUser({ tenantId, sandbox }: Space, externalId: string): Promise<AttributedUser | null> {
  const key = `${tenantId}:${sandbox}:${externalId}`;
  const known = state.known.get(key);
  if (known && known.until > performance.now()) return known.user;
  const user = ownRows<AttributedUser>({ tenant_id: tenantId, sandbox }, BY_EXTERNAL_ID, externalId).then(([row]) => row ?? null);
  user.catch(() => state.known.delete(key));
  state.known.set(key, { user, until: performance.now() + TTL_MS });
  return user;
}

const BY_EXTERNAL_ID = ownQuery(
  'ai-user',
  'select id, external_id, display_name, team, enabled from ai_attributed_users where tenant_id = $1 and sandbox = $2 and external_id = $3',
);

/** Notes that users were seen, at most once a minute each, and makes rows for those that are new. */
export async function touchUsers({ tenantId, sandbox }: Space, externalIds: readonly string[], now: Date): Promise<void> {
  const due = [...new Set(externalIds)].filter((id) => {
    const key = `${tenantId}:${sandbox}:${id}`;
    if ((state.touched.get(key) ?? 0) > performance.now()) return false;
    state.touched.set(key, performance.now() + TOUCH_MS);
    return true;
  });
  if (due.length === 0) return;
  // In one order always, so that two gateways never wait for each other in a circle.
  const users = due.sort().map((external_id) => ({ id: newId(), external_id }));
  await ownSql().query({ name: 'ai-users-seen', text: SEEN, values: [tenantId, sandbox, JSON.stringify(users), now, MOST_USERS] });
}

const SEEN = `with own as materialized (
    select set_config('app.tenant_id', $1::uuid::text, true) as tenant, set_config('app.sandbox', $2::boolean::text, true) as sandbox),
  room as materialized (select count(*) < $5 as free from own cross join lateral (
    select from ai_attributed_users where tenant_id = $1::uuid and sandbox = $2::boolean and own.tenant is not null limit $5) u)
  insert into ai_attributed_users as u (id, tenant_id, sandbox, external_id, first_seen_at, last_seen_at, created_at, updated_at)
  select r.id, $1::uuid, $2::boolean, r.external_id, $4, $4, $4, $4
  from own cross join room cross join json_to_recordset($3::json) as r (id uuid, external_id text)
  where own.tenant is not null and own.sandbox is not null
    and (room.free or exists (select from ai_attributed_users k where k.tenant_id = $1::uuid and k.sandbox = $2::boolean and k.external_id = r.external_id))
  order by r.external_id
  on conflict (tenant_id, sandbox, external_id) do update set first_seen_at = coalesce(u.first_seen_at, excluded.first_seen_at),
    last_seen_at = greatest(u.last_seen_at, excluded.last_seen_at)`;
