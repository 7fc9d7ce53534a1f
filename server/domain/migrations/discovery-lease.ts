import { raise } from '#server/domain/events/service.ts';
import { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { type Db, inTransaction, type Tx } from '#server/kernel/database.ts';
import { settle } from './settling.ts';

export type Run = { db: Db /** A context with the time of now. */; ctx: () => Ctx; migrationId: string; owner: string };
export type Failure = { permanent: boolean; details: { code: string; message: string; provider_request_id?: string } };

/** The migration was canceled, or another worker reads it. */
export class LeaseLost extends Error {}

const LEASE_MS = 60_000;
const MOST_ATTEMPTS = 5;
/** Pauses after a failure, in seconds. */
const PAUSES = [10, 30, 90, 300];

/** Makes a migration this worker's, if it is nobody's. The first one to take it starts it. */
export async function takeLease(db: Db, id: string, owner: string, now: Date) {
  const { count } = await db.secret_migrations.updateMany({
    where: {
      id,
      mode: { in: ['pull', 'both'] },
      status: { in: ['pending', 'discovering'] },
      pull_finished_at: null,
      AND: [
        { OR: [{ lease_expires_at: null }, { lease_expires_at: { lt: now } }] },
        { OR: [{ next_attempt_at: null }, { next_attempt_at: { lte: now } }] },
      ],
    },
    data: { lease_owner: owner, lease_expires_at: new Date(now.getTime() + LEASE_MS), last_heartbeat_at: now },
  });
  if (count === 0) return null;
  await db.secret_migrations.updateMany({
    where: { id, lease_owner: owner, status: 'pending' },
    data: { status: 'discovering', cursor: Prisma.DbNull },
  });
  await db.secret_migrations.updateMany({ where: { id, lease_owner: owner, started_at: null }, data: { started_at: now } });
  await db.secret_migrations.updateMany({ where: { id, lease_owner: owner, run_started_at: null }, data: { run_started_at: now } });
  return db.secret_migrations.findFirst({ where: { id, lease_owner: owner } });
}

/** Says that this worker is alive. @throws LeaseLost */
export async function beat({ db, migrationId, owner }: Run): Promise<void> {
  const now = new Date();
  const { count } = await db.secret_migrations.updateMany({
    where: { id: migrationId, lease_owner: owner, status: 'discovering' },
    data: { lease_expires_at: new Date(now.getTime() + LEASE_MS), last_heartbeat_at: now },
  });
  if (count === 0) throw new LeaseLost();
}

type Held = { discovered_count: number };

/** A change that happens only while this worker holds the migration and it still discovers; whoever cancels waits for it. @throws LeaseLost */
export function underLease<T>({ ctx, migrationId, owner }: Run, work: (tx: Tx, row: Held) => Promise<T>): Promise<T> {
  return inTransaction(ctx(), async (tx) => {
    const [row] = await tx.$queryRaw<Held[]>`
      select discovered_count from secret_migrations where id = ${migrationId}::uuid and lease_owner = ${owner} and status = 'discovering' for update`;
    if (!row) throw new LeaseLost();
    return work(tx, row);
  });
}

const FREE = { lease_owner: null, lease_expires_at: null } as const;

/** Everything is read: people decide now. With an open capture window the migration goes on discovering. */
export function finished(run: Run): Promise<void> {
  return underLease(run, async (tx) => {
    const ctx = run.ctx();
    const row = await tx.secret_migrations.update({
      where: { id: run.migrationId },
      data: {
        ...FREE,
        ...{ pull_finished_at: ctx.now, cursor: Prisma.DbNull, attempts: 0, error_details: Prisma.DbNull, updated_at: ctx.now },
      },
      select: { id: true, mode: true, provider: true },
    });
    if (row.mode === 'both') return;
    if (row.provider === 'env_file') await endGrantNow(tx, ctx, row.id);
    await settle(tx, ctx, row.id);
  });
}

/** The text of a file is in its items now, so the file itself is due to be wiped. */
const endGrantNow = (tx: Tx, ctx: Ctx, migrationId: string) =>
  tx.secret_migration_credentials.updateMany({ where: { ...own(ctx), migration_id: migrationId }, data: { expires_at: ctx.now } });

/** Lets another worker go on at once. */
export const giveBack = async ({ db, migrationId, owner }: Run): Promise<void> =>
  void (await db.secret_migrations.updateMany({ where: { id: migrationId, lease_owner: owner }, data: FREE }));

/** Tries again later, at most five times in a row; what the store refuses for good fails at once. */
export function failed(run: Run, { permanent, details }: Failure): Promise<void> {
  return underLease(run, async (tx) => {
    const ctx = run.ctx();
    const row = await tx.secret_migrations.findFirstOrThrow({ where: { ...own(ctx), id: run.migrationId } });
    const attempts = row.attempts + 1;
    const over = permanent || attempts >= MOST_ATTEMPTS;
    const pause = (PAUSES[attempts - 1] ?? 300) * 1_000;
    await tx.secret_migrations.update({
      where: { id: row.id },
      data: {
        ...FREE,
        ...{ attempts, error_details: details, updated_at: ctx.now },
        ...(over ? { status: 'failed' } : { next_attempt_at: new Date(ctx.now.getTime() + pause) }),
      },
      select: { id: true },
    });
    if (over) await raise(tx, ctx, [{ type: 'migration.failed', source_id: row.id, data: { migration_id: row.id, code: details.code } }]);
  }).catch((error: unknown) => {
    if (!(error instanceof LeaseLost)) throw error;
  });
}
