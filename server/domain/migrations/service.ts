import type { z } from 'zod';
import { appendCritical } from '#server/domain/audit-logs/service.ts';
import { environmentByName } from '#server/domain/environments/service.ts';
import { namedMembers } from '#server/domain/people/service.ts';
import { requireFeature } from '#server/domain/plans/service.ts';
import { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import { refuseStaticCredentials } from '#server/kernel/static-credentials.ts';
import { log } from '#server/platform/log.ts';
import { addJob } from '#server/platform/queue.ts';
import { endGrant, sealGrant } from './credentials.ts';
import { removeAllRoutes } from './db-routes.ts';
import { rejectAll } from './deciding.ts';
import { deniedOf } from './denying.ts';
import { type Described, described } from './provider-input.ts';
import { ProviderFault } from './providers/provider.ts';
import { isLive, MOST_LIVE } from './register.shared.ts';
import type { CreateMigration } from './schema.ts';
import { lockedMigration, migrationById, migrationNotFound } from './store.ts';
import { openStore, spentGrant } from './stores.ts';

export { acceptCaptured, type Captured } from './captured.ts';
export { denylistOf } from './denylist.ts';

const MOST_LISTED = 100;
const PROBE_MS = 20_000;

/** The most recent migrations, newest first. */
export const listMigrations = (ctx: Ctx) =>
  read(ctx, async (tx) => {
    const rows = await tx.secret_migrations.findMany({
      where: own(ctx),
      orderBy: [{ created_at: 'desc' }, { id: 'desc' }],
      take: MOST_LISTED,
    });
    return { migrations: rows as unknown as Shown[] };
  });

/** @throws Refusal migration_not_found */
export const getMigration = (ctx: Ctx, { id }: { id: string }) =>
  read(ctx, async (tx) => {
    const row = await migrationById(tx, ctx, id);
    const of = { ...own(ctx), migration_id: row.id };
    const undecided = { ...of, status: { in: ['pending_review', 'approved'] } };
    const [grant, next, rules_count, db_routes_count] = [
      await tx.secret_migration_credentials.findFirst({ where: of, select: { expires_at: true, wiped_at: true } }),
      await tx.secret_migration_items.aggregate({ where: undecided, _min: { expires_at: true } }),
      await tx.migration_intercept_rules.count({ where: of }),
      await tx.migration_db_routes.count({ where: of }),
    ];
    const [creator] = row.created_by ? await namedMembers(tx, ctx, { ids: [row.created_by], most: 1 }) : [];
    return {
      ...(row as unknown as Shown),
      credentials_expires_at: grant && !grant.wiped_at ? grant.expires_at : null,
      review_deadline: next._min.expires_at,
      rules_count,
      db_routes_count,
      created_by_name: creator?.name ?? null,
    };
  });

/** What the wire narrows: the columns are written from closed lists only. */
type Shown = Omit<
  Awaited<ReturnType<typeof migrationById>>,
  'provider' | 'mode' | 'status' | 'error_details' | 'scope' | 'credentials_summary'
> & {
  provider: 'env_file';
  mode: 'pull';
  status: 'pending';
  error_details: { code: string; message: string } | null;
  scope: Record<string, unknown>;
  credentials_summary: Record<string, string>;
};

/**
 * Judges the grant, probes it live and queues discovery. What refuses leaves nothing behind, not even an audit entry.
 * @throws Refusal static_credentials_rejected, provider_probe_failed, too_many_migrations, plan_feature, validation_error
 */
export async function createMigration(ctx: Ctx, input: z.output<typeof CreateMigration>) {
  refuseStaticCredentials({ ...input, content: undefined });
  const what = described(input, ctx.tenant_id);
  await deniedOf(input.denylist, [], { owner: ctx.tenant_id, field: 'denylist' });
  if (input.mode !== 'pull') requireFeature(ctx, 'byo_agent');
  await read(ctx, (tx) => assertRoom(tx, ctx, input));
  const grant = await probed(ctx, what);
  const id = newId();
  const sealed = await sealGrant(ctx, grant);
  const created = await mutate(ctx, async (tx) => {
    await holdLock(tx, `${ctx.tenant_id}:migrations:${ctx.sandbox}`);
    await assertRoom(tx, ctx, input);
    await appendCritical(tx, ctx, {
      action: 'migration.create',
      resource_type: 'secret_migration',
      resource_id: id,
      details: { provider: input.provider, mode: input.mode, scope: what.scope },
    });
    const row = await tx.secret_migrations.create({
      data: {
        ...own(ctx),
        id,
        provider: input.provider,
        mode: input.mode,
        region: what.region,
        scope: what.scope as Prisma.InputJsonValue,
        credentials_summary: what.summary,
        review_ttl_hours: input.review_ttl_hours,
        denylist: input.denylist,
        name_template: input.name_template,
        default_environment: input.default_environment ?? null,
        default_collection_id: input.default_collection_id ?? null,
        created_by: ctx.actor.id,
        created_at: ctx.now,
        updated_at: ctx.now,
      },
    });
    await tx.secret_migration_credentials.create({ data: { ...own(ctx), ...sealed, migration_id: id, created_at: ctx.now } });
    return unchanged({ id, status: 'pending' as const, provider: input.provider, mode: input.mode, created_at: row.created_at });
  });
  return input.mode === 'capture' ? created : startDiscovery(created);
}

/** @throws Refusal too_many_migrations, validation_error */
async function assertRoom(tx: Tx, ctx: Ctx, input: z.output<typeof CreateMigration>): Promise<void> {
  if (input.default_environment !== undefined && !(await environmentByName(tx, ctx, input.default_environment)))
    throw invalid('default_environment', 'no such environment');
  const { default_collection_id: id } = input;
  if (id && !(await tx.collections.findFirst({ where: { ...own(ctx), id }, select: { id: true } })))
    throw invalid('default_collection_id', 'no such collection');
  const live = await tx.secret_migrations.count({
    where: { tenant_id: ctx.tenant_id, status: { in: ['pending', 'discovering', 'awaiting_review'] } },
  });
  if (live >= MOST_LIVE)
    throw new Refusal('too_many_migrations', `${MOST_LIVE} migrations are already running or in review. Finish or cancel one first.`);
}

/** One page is listed and no value read. @throws Refusal provider_probe_failed */
async function probed(ctx: Ctx, { grant }: Described) {
  const place = { tenant_id: ctx.tenant_id, space: spaceOf(ctx.sandbox) };
  try {
    const spent = await spentGrant(grant, place);
    const store = await openStore(spent, place);
    try {
      await store.probe(AbortSignal.timeout(PROBE_MS));
    } finally {
      await store.close();
    }
    return spent;
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const fault =
      error instanceof ProviderFault ? error : new ProviderFault('unreachable', "The store didn't answer in time.", { cause: error });
    const reason = fault.reason === 'throttled' ? 'unreachable' : fault.reason;
    throw new Refusal('provider_probe_failed', `The store could not be read (${reason.replaceAll('_', ' ')}). ${fault.message}`, {
      extra: { reason },
      cause: fault,
    });
  }
}

/**
 * Starts discovery at once. The job that runs each minute finds the migration too, should the queue not take this one. At most one waits for each migration,
 * and one that finds somebody else at work ends at once.
 */
async function startDiscovery<T extends { id: string }>(migration: T): Promise<T> {
  const options = { job_key: `discover_migration:${migration.id}`, max_attempts: 3 };
  await addJob(null, 'discover_migration', { migration_id: migration.id }, options).catch((error: unknown) =>
    log.warn({ err: error, migration_id: migration.id }, 'discovery of a migration starts within a minute'),
  );
  return migration;
}

/**
 * Ends a migration: values are gone, rules and routes too, and applications read their store again. Secrets that were committed stay.
 * @throws Refusal migration_not_found, also once it has ended
 */
export function cancelMigration(ctx: Ctx, { id }: { id: string }) {
  return mutate(ctx, async (tx) => {
    const row = await lockedMigration(tx, ctx, id);
    if (row.status === 'completed' || row.status === 'cancelled') throw migrationNotFound();
    await appendCritical(tx, ctx, {
      action: 'migration.cancel',
      resource_type: 'secret_migration',
      resource_id: row.id,
      details: { from_status: row.status },
    });
    await removeAllRoutes(tx, ctx, row.id);
    await tx.migration_intercept_rules.deleteMany({ where: { ...own(ctx), migration_id: row.id } });
    await rejectAll(tx, ctx, row.id, 'cancelled');
    await endGrant(tx, ctx, row.id);
    await tx.secret_migrations.update({
      where: { id: row.id },
      data: { status: 'cancelled', completed_at: ctx.now, lease_owner: null, lease_expires_at: null, updated_at: ctx.now },
      select: { id: true },
    });
    return unchanged({ id: row.id, status: 'cancelled' as const });
  });
}

/** A failed migration begins anew; what it found stays and isn't fetched twice. @throws Refusal migration_not_found, conflict */
export async function retryMigration(ctx: Ctx, { id }: { id: string }) {
  const retried = await mutate(ctx, async (tx) => {
    const row = await lockedMigration(tx, ctx, id);
    if (row.status !== 'failed') throw new Refusal('conflict', `Only a failed migration can be retried. This one is ${named(row.status)}.`);
    const grant = await tx.secret_migration_credentials.findFirst({ where: { ...own(ctx), migration_id: row.id, wiped_at: null } });
    if (!grant || grant.expires_at <= ctx.now)
      throw new Refusal('conflict', 'The grant of this migration has expired. Create a new migration.');
    await assertLiveRoom(tx, ctx);
    await tx.secret_migrations.update({
      where: { id: row.id },
      data: {
        status: 'pending',
        error_details: Prisma.DbNull,
        attempts: 0,
        next_attempt_at: null,
        run_started_at: null,
        pull_finished_at: null,
        updated_at: ctx.now,
      },
      select: { id: true },
    });
    return audited(
      { id: row.id, status: 'pending' as const },
      { action: 'update', resource_type: 'secret_migration', resource_id: row.id, details: { change: 'retry' } },
    );
  });
  return startDiscovery(retried);
}

async function assertLiveRoom(tx: Tx, ctx: Ctx): Promise<void> {
  const live = await tx.secret_migrations.findMany({ where: { tenant_id: ctx.tenant_id }, select: { status: true } });
  if (live.filter(({ status }) => isLive(status)).length >= MOST_LIVE)
    throw new Refusal('too_many_migrations', `${MOST_LIVE} migrations are already running or in review. Finish or cancel one first.`);
}

const named = (status: string) => status.replaceAll('_', ' ');
