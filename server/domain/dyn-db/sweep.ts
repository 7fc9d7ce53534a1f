import { raise } from '#server/domain/events/service.ts';
import { dispatch } from '#server/domain/mail/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { inTransaction, read, type Tx } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import type { Lease, LeaseOutcome } from '#server/kernel/lease.ts';
import { type AuditEntry, writeAudits } from '#server/kernel/mutate.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { db } from '#server/platform/db.ts';
import { log } from '#server/platform/log.ts';
import { CLAIM_MS, dueAt, ended, entryOf, factsOf, isClaimed, revocationFailed, UNCLAIMED } from './lease-states.ts';
import { drop } from './minting.ts';
import { sentenceOf } from './refusals.ts';
import { type Access, accessOf, withDatabase } from './sessions.ts';
import { connectionById, type LeaseRow } from './store.ts';

/** Sessions on one connection, and connections at once. */
const SESSIONS = 5;
const CONNECTIONS_AT_ONCE = 10;
/** No session begins another lease after so long: the rest is left to the next sweep. */
const TURN_MS = 40_000;

type Run = { signal: AbortSignal; now: Date };

/**
 * Removes the users of due leases, those of one connection over a few sessions. What fails is written to the lease, with the time of its next attempt;
 * nothing that is done here twice does harm. @returns leases that there was no time for
 */
export async function removeDue(leases: readonly Lease[], { signal, now }: Run): Promise<ReadonlySet<string>> {
  const rows = (await db().dyn_db_leases.findMany({
    where: { id: { in: leases.map(({ resource_id }) => resource_id) } },
  })) as unknown as LeaseRow[];
  const due = rows.filter((row) => (dueAt(row, now) ?? NEVER) <= now && (row.phase !== 'renewing' || row.expires_at <= now));
  const lanes = [...Map.groupBy(due, (row) => `${row.connection_id} ${row.target.user_host ?? ''}`).values()].values();
  const left = new Set<string>();
  await Promise.all(
    Array.from({ length: CONNECTIONS_AT_ONCE }, async () => {
      for (const lane of lanes)
        for (const id of await clearLane(lane, now, signal).catch((error: unknown) => {
          log.error({ err: error, connection: lane[0]?.connection_id }, 'the leases of a connection could not be swept');
          return lane.map((row) => row.id);
        }))
          left.add(id);
    }),
  );
  return left;
}
const NEVER = new Date(8.64e15);

/** The leases of one connection: claimed together, and what became of them committed together. */
async function clearLane(lane: readonly LeaseRow[], now: Date, signal: AbortSignal): Promise<string[]> {
  const [{ tenant_id, sandbox, connection_id, target }] = lane as [LeaseRow];
  const ctx = systemContext(db(), { tenant_id, sandbox, now, label: 'lease expiry' });
  const claim = newId();
  const mine = await claimed(ctx, lane, claim);
  if (mine.length === 0) return [];
  const outcomes = new Map<string, Outcome>();
  try {
    const access = await read(ctx, async (tx) => {
      const connection = await connectionById(tx, ctx, connection_id);
      if (!connection) return null;
      // Users of MySQL have the host that they were made with.
      const connect_options = target.user_host
        ? { ...connection.connect_options, user_host: target.user_host }
        : connection.connect_options;
      return accessOf(tx, ctx, { ...connection, connect_options });
    });
    const work = mine.filter(({ execution_mode }) => execution_mode !== 'iam');
    for (const row of mine) if (row.execution_mode === 'iam' || !access) outcomes.set(row.id, { gone: true });
    if (access) await overSessions(ctx, access, work, outcomes, signal);
  } catch (error) {
    for (const row of mine) if (!outcomes.has(row.id)) outcomes.set(row.id, { error: sentenceOf(error) });
  }
  await record(ctx, mine, claim, outcomes);
  return mine.filter(({ id }) => !outcomes.has(id)).map(({ id }) => id);
}

type Outcome = { gone: true } | { error: string };

/** Those that nobody else took meanwhile, as they are now. */
async function claimed(ctx: Ctx, lane: readonly LeaseRow[], claim: string): Promise<LeaseRow[]> {
  const ids = lane.map(({ id }) => id);
  return inTransaction(ctx, async (tx) => {
    await tx.$queryRaw`select 1 from dyn_db_leases where id = any(${ids}::uuid[]) order by id for update skip locked`;
    const until = new Date(ctx.now.getTime() + CLAIM_MS);
    const taken = await tx.$queryRaw<{ id: string }[]>`
      update dyn_db_leases set claimed_by = ${claim}::uuid, claimed_until = ${until}, phase = 'revoking',
        status = case status when 'errored' then status else 'renewing' end, attempts = case phase when 'revoking' then attempts else 0 end
      where id in (select id from dyn_db_leases where id = any(${ids}::uuid[]) and ended_at is null and (claimed_until is null or claimed_until <= ${ctx.now})
        order by id for update skip locked) returning id`;
    const rows = await tx.dyn_db_leases.findMany({
      where: { ...own(ctx), id: { in: taken.map(({ id }) => id) } },
      orderBy: { expires_at: 'asc' },
    });
    return rows as unknown as LeaseRow[];
  });
}

/** A server that can't be reached is asked once: the error of one session is that of all that are left. */
async function overSessions(
  ctx: Ctx,
  access: Access,
  rows: readonly LeaseRow[],
  outcomes: Map<string, Outcome>,
  signal: AbortSignal,
): Promise<void> {
  const queue = rows.values();
  const until = Date.now() + TURN_MS;
  let lost: string | undefined;
  const session = async () => {
    let one = queue.next();
    while (!one.done && lost === undefined && Date.now() < until && !signal.aborted) {
      let at: LeaseRow | undefined;
      try {
        await withDatabase(ctx, access, async (opened) => {
          for (; !one.done && Date.now() < until && !signal.aborted; one = queue.next()) {
            at = one.value;
            await drop(opened, at);
            outcomes.set(at.id, { gone: true });
          }
        });
      } catch (error) {
        // Without a lease that it was about, it could not even log in.
        if (!at || outcomes.has(at.id)) lost = sentenceOf(error);
        else outcomes.set(at.id, { error: sentenceOf(error) });
        if (at && !one.done && one.value === at) one = queue.next();
      }
    }
    if (!one.done && lost === undefined) return;
    if (!one.done) outcomes.set(one.value.id, { error: lost as string });
  };
  await Promise.all(Array.from({ length: Math.min(SESSIONS, rows.length) }, session));
  if (lost !== undefined) for (const { id } of rows) if (!outcomes.has(id)) outcomes.set(id, { error: lost });
}

async function record(ctx: Ctx, rows: readonly LeaseRow[], claim: string, outcomes: ReadonlyMap<string, Outcome>): Promise<void> {
  const mails = await inTransaction(ctx, async (tx) => {
    const entries: AuditEntry[] = [];
    const mails: string[] = [];
    for (const row of rows) {
      const outcome = outcomes.get(row.id);
      if (!outcome) {
        await tx.dyn_db_leases.updateMany({
          where: { id: row.id, ...own(ctx), claimed_by: claim },
          data: { ...UNCLAIMED, next_attempt_at: ctx.now },
        });
        continue;
      }
      if ('error' in outcome) {
        const setback = await revocationFailed(tx, ctx, row, claim, outcome);
        entries.push(...setback.entries);
        mails.push(...setback.mails);
      } else if (await ended(tx, ctx, row, claim, row.ends_as)) {
        entries.push(
          entryOf(row.ends_as === 'revoked' ? 'revoke' : 'delete', row, {
            trigger: row.ends_as === 'expired' ? 'expiry' : 'sweeper',
            status: row.ends_as,
          }),
        );
        if (row.ends_as === 'expired') await raise(tx, ctx, [{ type: 'dyn_db.lease.expired', source_id: row.id, data: factsOf(row) }]);
      }
    }
    await writeAudits(tx, ctx, entries);
    return mails;
  });
  for (const id of mails) dispatch(ctx.db, id);
}

/** When each is due again. A claim that lapsed during a renewal leaves the lease as it was; connections that a reset deleted go with their last lease. */
export async function settleDue(tx: Tx, due: readonly Lease[], now: Date): Promise<LeaseOutcome> {
  const ids = due.map(({ resource_id }) => resource_id);
  await tx.$executeRaw`update dyn_db_leases set phase = 'none', status = case status when 'errored' then status else 'active' end, claimed_by = null, claimed_until = null
    where id = any(${ids}::uuid[]) and phase = 'renewing' and claimed_until <= ${now} and expires_at > ${now}`;
  const rows = (await tx.dyn_db_leases.findMany({ where: { id: { in: ids } } })) as unknown as LeaseRow[];
  const next = new Map<string, Date>();
  let acted = 0;
  for (const row of rows) {
    const at = dueAt(row, now);
    if (at) next.set(row.id, at);
    if (!at || (row.phase === 'revoking' && !isClaimed(row, now))) acted += 1;
  }
  const over = [...new Set(rows.filter(({ ended_at }) => ended_at !== null).map(({ connection_id }) => connection_id))];
  await tx.$executeRaw`delete from dyn_db_connections c where c.id = any(${over}::uuid[]) and c.deleted_at is not null
    and not exists (select from dyn_db_leases l where l.connection_id = c.id and l.ended_at is null)`;
  return { next, acted };
}
