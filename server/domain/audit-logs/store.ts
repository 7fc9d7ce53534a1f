import { Prisma } from '#server/generated/prisma/client.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { madeAt } from '#server/kernel/ids.ts';
import { recall, remember } from '#server/kernel/known-totals.ts';
import { containing, FEW, GLANCES } from '#server/kernel/listing.ts';

export type AuditFilters = {
  action?: string | undefined;
  action_prefix?: string | undefined;
  resource_type?: string | undefined;
  resource_id?: string | undefined;
  actor_id?: string | undefined;
  from?: string | undefined;
  /** Ends of a time that are not part of it. */
  until?: string | undefined;
  since?: string | undefined;
  to?: string | undefined;
  ip?: string | undefined;
  q?: string | undefined;
  store?: 'general' | 'critical' | undefined;
  request_id?: string | undefined;
};

/** Where an entry stands in the merged order; the two stores draw `seq` from one sequence. */
export type AuditKey = { seq: bigint; at: Date; store: 'general' | 'critical'; settled: boolean };

type Place = {
  order: 'newest' | 'oldest' | 'feed';
  limit: number;
  offset?: number;
  /** newest: entries older than this one */
  before?: { at: Date; seq: bigint } | undefined;
  /** feed: entries after this one */
  after?: bigint | undefined;
  /** feed: younger entries are not settled */
  watermark?: Date;
};

/**
 * Keys of both stores in one order. Each store gives at most offset + limit of its own from an index, so a page never reads more than it skips,
 * and the wide rows are fetched for the page alone. `settled`: nothing with a smaller seq can still be committed, and it is older than the watermark.
 */
export async function keysOf(tx: Tx, ctx: Ctx, filters: AuditFilters, place: Place): Promise<AuditKey[]> {
  const { limit, offset = 0 } = place;
  const order = ORDERS[place.order];
  const settled =
    place.order === 'feed' ? Prisma.sql`seq <= ${await horizon(tx)} and at <= ${place.watermark ?? ctx.now}` : Prisma.sql`true`;
  const columns = Prisma.sql`seq, at, store, ${settled} as settled`;
  const parts = (await branches(tx, ctx, filters)).map(
    (rows) => Prisma.sql`(select ${columns} from (${rows}) r where ${placeCondition(place)} order by ${order} limit ${offset + limit})`,
  );
  return tx.$queryRaw<AuditKey[]>`select * from (${Prisma.join(parts, ' union all ')}) k order by ${order} offset ${offset} limit ${limit}`;
}

const ORDERS = { newest: Prisma.sql`at desc, seq desc`, oldest: Prisma.sql`at, seq`, feed: Prisma.sql`seq` };

/** The highest number below which no open transaction can bring an entry. Asked first; the rows are read in a later statement. */
async function horizon(tx: Tx): Promise<bigint> {
  const [row] = await tx.$queryRaw<{ seq: bigint }[]>`select feed_horizon('audit_logs') as seq`;
  return row?.seq ?? 0n;
}

function placeCondition({ before, after }: Place): Prisma.Sql {
  if (before) return Prisma.sql`(at, seq) < (${before.at}, ${before.seq})`;
  return after === undefined ? Prisma.sql`true` : Prisma.sql`seq > ${after}`;
}

/** How many entries pass the filters: counted, or as they were counted when neither store had another entry or one less. */
export async function countMatching(tx: Tx, ctx: Ctx, filters: AuditFilters): Promise<number> {
  const key = JSON.stringify([
    'audit',
    ctx.tenant_id,
    ctx.sandbox,
    Object.entries(filters)
      .filter(([, value]) => value !== undefined)
      .sort(),
  ]);
  // Asked before anything is counted. The chain only ever grows, so its length is its version.
  const [state] = await tx.$queryRaw<
    { version: bigint; chain: bigint }[]
  >`select coalesce(max(version) filter (where kind = ${KINDS.general}), 0) as version,
    coalesce(max(n) filter (where kind = ${KINDS.critical}), 0) as chain from row_counts where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox}`;
  // What a transaction of a change sees of its own may be undone, and the chain be as long again with another entry.
  const version = state && !ctx.tx ? (state.version << 64n) + state.chain : undefined;
  const known = recall(key);
  if (known && known.version === version) return known.total;
  const parts = (await branches(tx, ctx, filters)).map((rows) => Prisma.sql`select count(*) as n from (${rows}) r`);
  const [row] = await tx.$queryRaw<{ n: number }[]>`select sum(n)::float8 as n from (${Prisma.join(parts, ' union all ')}) c`;
  const total = row?.n ?? 0;
  if (version !== undefined) remember(key, version, total);
  return total;
}

/** How many entries of a stretch of time: counted, or all less those outside, whichever turns out to be few. */
export async function countInTime(tx: Tx, ctx: Ctx, { from, to, store }: Pick<AuditFilters, 'from' | 'to' | 'store'>): Promise<number> {
  const sum = (parts: readonly Prisma.Sql[], most: Prisma.Sql) =>
    Prisma.sql`(${Prisma.join([Prisma.sql`0`, ...parts.map((rows) => Prisma.sql`(select count(*) from (${rows} ${most}) r)`)], ' + ')})::float8`;
  const inside = await branches(tx, ctx, { from, to, store });
  const outside = [
    ...(from === undefined ? [] : await branches(tx, ctx, { until: from, store })),
    ...(to === undefined ? [] : await branches(tx, ctx, { since: to, store })),
  ];
  const kinds = store ? [KINDS[store]] : Object.values(KINDS);
  const all = Prisma.sql`(select coalesce(sum(n), 0) from row_counts where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox}
    and kind = any(${kinds}))::float8`;
  for (const most of GLANCES) {
    const up = Prisma.sql`limit ${most}`;
    const [row] = await tx.$queryRaw<
      { inside: number; outside: number; all: number }[]
    >`select ${sum(inside, up)} as inside, ${sum(outside, up)} as outside, ${all} as all`;
    if (row && row.inside < most) return row.inside;
    if (row && row.outside < most) return row.all - row.outside;
  }
  const [row] = await tx.$queryRaw<{ n: number }[]>`select ${all} - ${sum(outside, Prisma.empty)} as n`;
  return row?.n ?? 0;
}

const KINDS = { general: 'audit_logs', critical: 'audit_log_critical' } as const;

type Facet = { kind: 'action' | 'resource_type' | 'actor'; value: string; label: string | null; count: number };

/** The most frequent actions, types and actors among the newest `of` entries that pass. */
export async function facetsOf(tx: Tx, ctx: Ctx, filters: AuditFilters, of: number): Promise<Facet[]> {
  const parts = (await branches(tx, ctx, filters)).map(
    (rows) => Prisma.sql`(select action, resource_type, actor_id, actor_label, at from (${rows}) r order by at desc limit ${of})`,
  );
  return tx.$queryRaw<Facet[]>`
    with alike as materialized (
      select action, resource_type, actor_id, max(actor_label) as label, count(*) as n
      from (select * from (${Prisma.join(parts, ' union all ')}) u order by at desc limit ${of}) newest group by action, resource_type, actor_id),
    counted as (
      select 'action' as kind, action as value, null::text as label, sum(n) as n from alike group by action
      union all select 'resource_type', resource_type, null, sum(n) from alike group by resource_type
      union all select 'actor', coalesce(actor_id, 'system'), max(label), sum(n) from alike group by actor_id
    )
    select kind, value, label, n::int as count from (select *, row_number() over (partition by kind order by n desc, value) as place from counted) c
    where place <= 50 order by kind, n desc, value`;
}

/** The rows of the space in each store the filters ask for. Both filter on an equal tenant and space first, which every index begins with. */
async function branches(tx: Tx, ctx: Ctx, { q, ...filters }: AuditFilters): Promise<Prisma.Sql[]> {
  const inGeneral = q === undefined ? Prisma.sql`true` : await found(tx, ctx, q);
  const inCritical =
    q === undefined
      ? Prisma.sql`true`
      : Prisma.sql`lower(concat_ws(E'\n', details ->> 'name', resource_id, actor_id)) like lower(${containing(q)})`;
  const general = Prisma.sql`select seq, created_at as at, 'general' as store, action, resource_type, actor_id, actor_label from audit_logs
    where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and ${matching(filters, Prisma.sql`created_at`)} and ${inGeneral}`;
  const critical = Prisma.sql`select seq, at, 'critical' as store, action, resource_type, actor_id, null::text as actor_label from audit_log_critical
    where tenant_id = ${ctx.tenant_id}::uuid and coalesce((details ->> 'sandbox')::boolean, false) = ${ctx.sandbox} and ${matching(filters, Prisma.sql`at`)} and ${inCritical}`;
  if (filters.store) return [filters.store === 'general' ? general : critical];
  return [general, critical];
}

/**
 * By what a look-up found while that is little, else entry by entry until the page is full. Both answer alike: that a look-up found too much is kept
 * in mind for a while only to spare the next page another one.
 */
async function found(tx: Tx, ctx: Ctx, q: string): Promise<Prisma.Sql> {
  const pattern = containing(q);
  const each = Prisma.sql`audit_search_text(details, resource_id, actor_label) like lower(${pattern})`;
  const key = JSON.stringify(['timeline', ctx.tenant_id, ctx.sandbox, q]);
  if (recall(key)) return each;
  const [few] = await tx.$queryRaw<{ seqs: bigint[] }[]>`select array(select matching_audit_entries(${pattern}, ${FEW + 1})) as seqs`;
  if (few && few.seqs.length <= FEW) return Prisma.sql`seq = any(${few.seqs})`;
  remember(key, 0n, FEW);
  return each;
}

function matching(f: Omit<AuditFilters, 'q' | 'store'>, at: Prisma.Sql): Prisma.Sql {
  const conditions = [
    f.action === undefined ? null : Prisma.sql`action = ${f.action}`,
    f.action_prefix === undefined ? null : Prisma.sql`starts_with(action, ${f.action_prefix})`,
    f.resource_type === undefined ? null : Prisma.sql`resource_type = ${f.resource_type}`,
    f.resource_id === undefined ? null : Prisma.sql`resource_id = ${f.resource_id}`,
    f.actor_id === undefined ? null : f.actor_id === 'system' ? Prisma.sql`actor_id is null` : Prisma.sql`actor_id = ${f.actor_id}`,
    f.from === undefined ? null : Prisma.sql`${at} >= ${new Date(f.from)}`,
    f.to === undefined ? null : Prisma.sql`${at} <= ${new Date(f.to)}`,
    f.until === undefined ? null : Prisma.sql`${at} < ${new Date(f.until)}`,
    f.since === undefined ? null : Prisma.sql`${at} > ${new Date(f.since)}`,
    f.ip === undefined ? null : Prisma.sql`ip_address = ${f.ip}`,
    f.request_id === undefined ? null : ofRequest(f.request_id, at),
  ].filter((c) => c !== null);
  return conditions.length === 0 ? Prisma.sql`true` : Prisma.join(conditions, ' and ');
}

/** Ids of requests carry the time they were made: entries are looked for around it, in the index, and not from the beginning. */
function ofRequest(id: string, at: Prisma.Sql): Prisma.Sql {
  const made = madeAt(id);
  const same = Prisma.sql`request_id = ${id}`;
  return made
    ? Prisma.sql`${same} and ${at} between ${new Date(made.getTime() - HOUR_MS)} and ${new Date(made.getTime() + HOUR_MS)}`
    : same;
}
const HOUR_MS = 3_600_000;

/** An entry of either store, before anybody decides who may see its details. */
export type AuditRow = {
  id: string;
  seq: bigint;
  store: 'general' | 'critical';
  action: string;
  resource_type: string;
  resource_id: string | null;
  details: Record<string, unknown>;
  ip_address: string | null;
  created_at: Date;
  sandbox: boolean;
  actor: { type: string | null; id: string | null; label: string | null };
  request_id: string | null;
  user_agent: string | null;
  sequence_number: string | null;
};

/** The rows behind keys, in the order of the keys. */
export async function rowsOf(tx: Tx, ctx: Ctx, keys: readonly Pick<AuditKey, 'seq' | 'store'>[]): Promise<AuditRow[]> {
  const seqs = (store: AuditKey['store']) => keys.filter((k) => k.store === store).map((k) => k.seq);
  const general = seqs('general');
  const critical = seqs('critical');
  const rows = [
    ...(general.length > 0
      ? (await tx.audit_logs.findMany({ where: { tenant_id: ctx.tenant_id, seq: { in: general } } })).map(fromGeneral)
      : []),
    ...(critical.length > 0 ? await fromCritical(tx, ctx, critical) : []),
  ];
  const bySeq = new Map(rows.map((row) => [row.seq, row]));
  return keys.flatMap((k) => bySeq.get(k.seq) ?? []);
}

type GeneralRow = Prisma.audit_logsGetPayload<object>;

/** An entry of the general store as readers of both stores take it. */
export const fromGeneral = (row: GeneralRow): AuditRow => ({
  id: row.id,
  seq: row.seq,
  store: 'general',
  action: row.action,
  resource_type: row.resource_type,
  resource_id: row.resource_id,
  details: row.details as Record<string, unknown>,
  ip_address: row.ip_address,
  created_at: row.created_at,
  sandbox: row.sandbox,
  actor: { type: row.actor_type, id: row.actor_id, label: row.actor_label },
  request_id: row.request_id,
  user_agent: row.user_agent,
  sequence_number: null,
});

/** The chain holds ids and never names of people: labels are looked up when somebody reads (interface rule 61 §6). */
async function fromCritical(tx: Tx, ctx: Ctx, seqs: bigint[]): Promise<AuditRow[]> {
  const rows = await tx.audit_log_critical.findMany({ where: { tenant_id: ctx.tenant_id, seq: { in: seqs } } });
  const ids = [...new Set(rows.flatMap((r) => r.actor_id ?? []))];
  const users = ids.length === 0 ? [] : await tx.users.findMany({ where: { id: { in: ids } }, select: { id: true, email: true } });
  const apiKeys =
    ids.length === users.length
      ? []
      : await tx.api_keys.findMany({ where: { tenant_id: ctx.tenant_id, id: { in: ids } }, select: { id: true, name: true } });
  const known = new Map<string, { type: string | null; label: string | null }>();
  for (const user of users) known.set(user.id, { type: 'user', label: user.email });
  for (const key of apiKeys) known.set(key.id, { type: 'api_key', label: key.name });
  return rows.map((row) => {
    const who = row.actor_id === null ? { type: 'system', label: 'system' } : (known.get(row.actor_id) ?? { type: null, label: null });
    const actor = { type: who.type, id: row.actor_id, label: who.label };
    const details = row.details as Record<string, unknown>;
    return {
      id: row.id,
      seq: row.seq,
      store: 'critical',
      action: row.action,
      resource_type: row.resource_type,
      resource_id: row.resource_id,
      details: { ...details, actor, request_id: row.request_id },
      ip_address: row.ip_address,
      created_at: row.at,
      sandbox: details.sandbox === true,
      actor,
      request_id: row.request_id,
      user_agent: row.user_agent,
      sequence_number: String(row.sequence_number),
    };
  });
}
