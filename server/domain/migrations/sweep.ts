import { appendCritical } from '#server/domain/audit-logs/service.ts';
import { raise } from '#server/domain/events/service.ts';
import { postTeamMails } from '#server/domain/mail/service.ts';
import { migrationValuesSeen } from '#server/domain/mail/templates.ts';
import { type Db, inTransaction } from '#server/kernel/database.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { env } from '#server/platform/env.ts';
import { endCaptureWindows } from './capture.ts';
import { wipeExpiredGrants } from './credentials.ts';
import { completeIfDecided } from './deciding.ts';
import { ZEROED } from './store.ts';

const HOUR = 3_600_000;
const BATCH = 1_000;

/** Every five minutes: what nobody decided in time is gone, capture windows and grants that are over end, and people are told what is about to. */
export async function sweepMigrations(db: Db, now: Date) {
  return {
    expired: await expireItems(db, now),
    expiring: await announceExpiring(db, now),
    captures: await endCaptureWindows(db, now),
    grants: await wipeExpiredGrants(db, now),
    mails: await mailReveals(db, now),
  };
}

type Due = { id: string; tenant_id: string; sandbox: boolean; migration_id: string };

/** Each in a transaction of its own: the entry of the critical chain, then the value. What somebody holds is left for the next run. */
export async function expireItems(db: Db, now: Date, batch = BATCH): Promise<number> {
  let expired = 0;
  const due = await db.secret_migration_items.findMany({
    where: { status: { in: ['pending_review', 'approved'] }, expires_at: { lte: now } },
    select: { id: true, tenant_id: true, sandbox: true, migration_id: true },
    orderBy: { expires_at: 'asc' },
    take: batch,
  });
  for (const item of due) expired += await expire(db, item, now);
  return expired;
}

function expire(db: Db, { id, migration_id, tenant_id, sandbox }: Due, now: Date): Promise<number> {
  const ctx = systemContext(db, { tenant_id, sandbox, now, label: 'migration review' });
  return inTransaction(ctx, async (tx) => {
    const [free] = await tx.$queryRaw<object[]>`select 1 from secret_migrations where id = ${migration_id}::uuid for update skip locked`;
    const [row] = free
      ? await tx.$queryRaw<{ created_at: Date; source_ref: string }[]>`
          select created_at, source_ref from secret_migration_items
          where id = ${id}::uuid and status in ('pending_review', 'approved') and expires_at <= ${now} for update skip locked`
      : [];
    if (!row) return 0;
    await appendCritical(tx, ctx, {
      action: 'migration.item.expire',
      resource_type: 'secret_migration_item',
      resource_id: id,
      details: { migration_id, source_ref: row.source_ref, age_hours: Math.floor((now.getTime() - row.created_at.getTime()) / HOUR) },
    });
    await tx.secret_migration_items.update({
      where: { id },
      data: { ...ZEROED, status: 'expired', updated_at: now },
      select: { id: true },
    });
    await completeIfDecided(tx, ctx, migration_id);
    return 1;
  });
}

/** An event for each item in its last day, once. */
export async function announceExpiring(db: Db, now: Date): Promise<number> {
  const due = await db.secret_migration_items.findMany({
    where: {
      status: { in: ['pending_review', 'approved'] },
      expiring_told_at: null,
      expires_at: { gt: now, lte: new Date(now.getTime() + 24 * HOUR) },
    },
    select: { id: true, tenant_id: true, sandbox: true, migration_id: true, source_name: true, expires_at: true, created_at: true },
    take: BATCH,
  });
  let told = 0;
  for (const [place, items] of Map.groupBy(due, ({ tenant_id, sandbox }) => `${tenant_id} ${sandbox}`)) {
    const [tenant_id = '', sandbox] = place.split(' ');
    const ctx = systemContext(db, { tenant_id, sandbox: sandbox === 'true', now, label: 'migration review' });
    told += await inTransaction(ctx, async (tx) => {
      const marked = await tx.secret_migration_items.updateManyAndReturn({
        where: { id: { in: items.map(({ id }) => id) }, expiring_told_at: null, status: { in: ['pending_review', 'approved'] } },
        data: { expiring_told_at: now },
        select: { id: true, migration_id: true, source_name: true, expires_at: true },
      });
      await raise(
        tx,
        ctx,
        marked.map(({ id, migration_id, source_name, expires_at }) => ({
          type: 'migration.item.expiring' as const,
          source_id: id,
          data: { item_id: id, migration_id, source_name, expires_at: expires_at?.toISOString() ?? null },
        })),
      );
      return marked.length;
    });
  }
  return told;
}

type Seen = { migration_id: string; tenant_id: string; sandbox: boolean; person: string; workspace: string; slug: string; n: number };

/** One mail to the Owners for each reviewer and migration in an hour, with how many values that person looked at; none about an only Owner. */
async function mailReveals(db: Db, now: Date): Promise<number> {
  return db.$transaction(async (tx) => {
    const seen = await tx.$queryRaw<Seen[]>`
      with due as (
        select migration_id, user_id, reveals from secret_migration_notices
        where reveals > 0 and (told_at is null or told_at <= ${now}::timestamptz - interval '1 hour') for update skip locked),
      told as (
        update secret_migration_notices n set reveals = 0, told_at = ${now} from due
        where n.migration_id = due.migration_id and n.user_id = due.user_id
        returning n.migration_id, n.user_id, n.tenant_id, n.sandbox, due.reveals)
      select told.migration_id::text, told.tenant_id::text, told.sandbox, told.reveals as n, t.name as workspace, t.slug,
        coalesce(nullif(u.full_name, ''), u.email, 'A former member') as person
      from told join tenants t on t.id = told.tenant_id left join users u on u.id = told.user_id
      where t.deleted_at is null and exists (
        select from memberships m where m.tenant_id = told.tenant_id and m.role = 'owner' and m.removed_at is null and m.user_id <> told.user_id)`;
    for (const { tenant_id, sandbox, migration_id, slug, ...facts } of seen) {
      const letter = migrationValuesSeen(
        facts,
        `${env.PUBLIC_ADMIN_URL}/${slug}/${sandbox ? 'test' : 'live'}/migrations/${migration_id}?tab=activity`,
      );
      await postTeamMails(tx, { tenant_id, kind: 'migration_values_seen', to: ['owner'], letter, now });
    }
    return seen.length;
  });
}
