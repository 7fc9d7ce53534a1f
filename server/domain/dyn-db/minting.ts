import type { z } from 'zod';
import { endWithin } from '#server/custody/backing.ts';
import { effectiveLimit } from '#server/custody/plan-limits.ts';
import { withinPlan } from '#server/domain/plans/service.ts';
import type { Prisma } from '#server/generated/prisma/client.ts';
import type { AuditEntry } from '#server/kernel/audit-entry.ts';
import { auditActor, type Ctx, own } from '#server/kernel/context.ts';
import { inTransaction, read, type Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate, writeAudits } from '#server/kernel/mutate.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import { moreRoom } from '#server/kernel/plan-limits.ts';
import type { DatabaseSession } from '#server/platform/databases/engine.ts';
import { log } from '#server/platform/log.ts';
import { takeFromMonth } from '#server/platform/monthly-meter.ts';
import { throttled } from '#server/platform/throttle.ts';
import { iamToken } from './iam.ts';
import { CLAIM_MS, ended, entryOf, revocationFailed } from './lease-states.ts';
import { creationOf, revocationOf, revocationTemplateOf } from './minted-user.ts';
import { activate, directPlanRows } from './plan-rows.ts';
import { portOf, sentenceOf } from './refusals.ts';
import type { MintDynDbCredential } from './schema.ts';
import { type Access, accessOf, forgotten, openingOf, withDatabase } from './sessions.ts';
import { type ConnectionRow, connectionByName, type LeaseRow, type RoleRow, roleByName } from './store.ts';
import { transactionWords } from './transaction-words.shared.ts';
import { effectiveTtl, maxTtl } from './ttl.shared.ts';
import { mintedPassword, mintedUsername } from './usernames.ts';

/** Live leases of one connection. */
export const MOST_LEASES = 500;
const MINTS_A_MINUTE = 60;

type Input = z.output<typeof MintDynDbCredential>;
export type Plan = { access: Access; connection: ConnectionRow; role: RoleRow; ttl: number; most: number };

/**
 * A new user on the database, with its lease. The lease and its audit entry are committed before the database is touched, so that a crash at any moment
 * leaves a row from which the user is removed again (interface rule 44 §5).
 */
export async function mintCredential(ctx: Ctx, input: Input) {
  const plan = await planned(ctx, input);
  const giveBack = await admitted(ctx, plan);
  const opening = plan.connection.execution_mode === 'iam' ? undefined : openingOf(ctx, plan.access);
  const lease = await mutate(ctx, async (tx) => {
    const { row, entry } = await insertLease(tx, ctx, plan, usernameFor(plan, ctx.now));
    return audited(row, entry);
  }).catch(async (error: unknown) => {
    if (opening !== undefined) forgotten(opening);
    await giveBack();
    throw error;
  });
  return handedOut(ctx, plan, lease, opening);
}

/** With tokens of RDS no user is made: the credential is the user that the connection names. */
export const usernameFor = ({ connection, role }: Pick<Plan, 'connection' | 'role'>, now: Date): string =>
  connection.execution_mode === 'iam' ? (connection.iam_db_user ?? '') : mintedUsername(role.name, now);

/** The role and the connection, and what opens it. @throws Refusal not_found, connection_disabled, tenant_sealed */
export async function planned(ctx: Ctx, { connection: name, role: roleName, ttl_seconds }: Input): Promise<Plan> {
  const quick = ctx.tx ? undefined : await directPlanRows(ctx, name, roleName);
  const { connection, role, access } = quick ?? (await planRows(ctx, name, roleName));
  assertEnabled(connection);
  const where = { connection, role, iam: connection.execution_mode === 'iam', sandbox: ctx.sandbox };
  return { access, connection, role, ttl: effectiveTtl(where, ttl_seconds), most: maxTtl(where) };
}

const planRows = (ctx: Ctx, name: string, roleName: string) =>
  read(ctx, async (tx) => {
    const connection = await connectionByName(tx, ctx, name);
    const role = await roleByName(tx, ctx, connection.id, roleName);
    return { connection, role, access: await accessOf(tx, ctx, connection) };
  });

function assertEnabled({ enabled, name }: ConnectionRow): void {
  if (!enabled) throw new Refusal('connection_disabled', `The connection ${name} is disabled. Enable it to mint credentials.`);
}

/** Counts the mint. @throws Refusal rate_limit_exceeded, rate_limited to people, plan_limit */
export async function admitted(ctx: Ctx, { connection }: Pick<Plan, 'connection'>): Promise<() => Promise<void>> {
  const rule = { what: 'dyn-db-mint', subject: connection.id, limit: MINTS_A_MINUTE, window_sec: 60 };
  const giveBack = await throttled([rule], ctx.now, ctx.actor.type === 'member' ? 'rate_limited' : 'rate_limit_exceeded');
  if (ctx.sandbox) return giveBack;
  const limit = await effectiveLimit(ctx, 'dyn_db_mints');
  const { allowed, giveBack: giveMonthBack } = await takeFromMonth(ctx.tenant_id, 'dyn_db_mints', 1, limit, ctx.now);
  if (!allowed) {
    await giveBack();
    throw new Refusal(
      'plan_limit',
      `The ${ctx.plan} plan allows ${limit} database credentials a month, and all were minted. Wait for the next month or ${moreRoom(ctx.plan)}.`,
    );
  }
  return async () => {
    giveMonthBack();
    await giveBack();
  };
}

/** The lease, claimed by whoever is about to make its user. @throws Refusal not_found, connection_disabled, plan_limit, lease_limit */
export async function insertLease(
  tx: Tx,
  ctx: Ctx,
  { connection, role, ttl, most }: Plan,
  username: string,
): Promise<{ row: LeaseRow; entry: AuditEntry }> {
  // Neither may go, nor the connection be moved, while this commits.
  const [there] = await tx.$queryRaw<{ enabled: boolean }[]>`
    select c.enabled from dyn_db_connections c join dyn_db_roles r on r.connection_id = c.id
    where c.id = ${connection.id}::uuid and c.tenant_id = ${ctx.tenant_id}::uuid and c.deleted_at is null and r.id = ${role.id}::uuid for share`;
  if (!there) throw new Refusal('conflict', 'The connection or role was deleted meanwhile.');
  assertEnabled({ ...connection, enabled: there.enabled });
  await withinPlan(tx, ctx, 'dyn_db_leases');
  await holdLock(tx, `${ctx.tenant_id}:dyn_db_lease_number:${ctx.sandbox}`);
  const [next] = await tx.$queryRaw<{ number: number; now: Date; live: number }[]>`
    select coalesce(max(number), 0) + 1 as number, clock_timestamp()::timestamptz(3) as now,
      (select count(*)::int from dyn_db_leases where connection_id = ${connection.id}::uuid and ended_at is null) as live
    from dyn_db_leases where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox}`;
  const { number, now, live } = next as NonNullable<typeof next>;
  if (live >= MOST_LEASES)
    throw new Refusal('lease_limit', `A connection has at most ${MOST_LEASES} live leases. Revoke some, or wait until they expire.`);
  const minter = auditActor(ctx.actor);
  const expires_at = await endWithin(tx, ctx, after(now, ttl));
  const ttl_seconds = Math.max(Math.floor((expires_at.getTime() - now.getTime()) / 1_000), 0);
  const iam = connection.execution_mode === 'iam';
  const target = {
    database: connection.database_name,
    ...(connection.engine === 'mysql' ? { user_host: connection.connect_options.user_host ?? '%' } : {}),
  };
  const row = (await tx.dyn_db_leases.create({
    data: {
      ...own(ctx),
      ...{ id: newId(), number, connection_id: connection.id, role_id: role.id, connection_name: connection.name, role_name: role.name },
      ...{
        engine: connection.engine,
        execution_mode: connection.execution_mode,
        username,
        status: 'renewing',
        phase: 'creating',
        ends_as: 'failed',
      },
      ...{ ttl_seconds, issued_at: now, expires_at, max_expires_at: await endWithin(tx, ctx, after(now, most)), renewable: !iam },
      ...{ claimed_by: newId(), claimed_until: new Date(now.getTime() + CLAIM_MS) },
      revocation_sql: iam ? null : revocationTemplateOf(connection, role),
      target: target as Prisma.InputJsonObject,
      ...{ minted_by_type: minter.type, minted_by_id: minter.id, minted_by_label: minter.label, minted_from: ctx.ip },
    },
  })) as unknown as LeaseRow;
  return { row, entry: entryOf('create', row, { username, ttl: ttl_seconds, expires_at: row.expires_at.toISOString() }) };
}

const after = (moment: Date, seconds: number) => new Date(moment.getTime() + seconds * 1_000);

/** Makes the user of a committed lease. What fails takes back what was done, now or by the sweeper. */
export async function handedOut(ctx: Ctx, plan: Plan, lease: LeaseRow, opening?: Promise<DatabaseSession>) {
  const { connection, role } = plan;
  const iam = connection.execution_mode === 'iam';
  const password = iam
    ? await iamToken(ctx, plan.access).catch((error: unknown) => undone(ctx, plan, lease, error, false))
    : mintedPassword();
  if (!iam) await created(ctx, plan, lease, password, opening);
  await activated(ctx, plan, lease);
  return {
    ...{ username: lease.username, password, expires_at: lease.expires_at, lease_id: lease.number },
    ...{ connection_name: connection.name, role_name: role.name, host: connection.host, port: portOf(connection) },
    ...{ database_name: connection.database_name, engine: connection.engine, ttl_seconds: lease.ttl_seconds, renewable: lease.renewable },
  };
}

async function created(ctx: Ctx, plan: Plan, lease: LeaseRow, password: string, opening?: Promise<DatabaseSession>): Promise<void> {
  let touched = false;
  try {
    const statements = creationOf(plan.connection, plan.role, { username: lease.username, password, expires_at: lease.expires_at });
    const work = async (session: DatabaseSession) => {
      touched = true;
      session.conceal({ names: [lease.username], passwords: [password] });
      await session.createUser({ username: lease.username, password }, statements, ownsTransactions(plan.connection, statements));
    };
    await withDatabase(ctx, plan.access, work, opening);
  } catch (error) {
    await undone(ctx, plan, lease, error, touched);
  }
}

/** Of roles that were stored before such statements were refused. */
const ownsTransactions = ({ engine }: ConnectionRow, statements: readonly string[]): boolean =>
  engine !== 'mongo' && statements.some((statement) => transactionWords(statement, engine) !== null);

/** Transaction B. A lease that was taken over meanwhile, by the sweeper or a reset of Test, must leave no user. */
async function activated(ctx: Ctx, plan: Plan, lease: LeaseRow): Promise<void> {
  if (await activate(ctx, lease)) return;
  if (plan.connection.execution_mode !== 'iam') await withDatabase(ctx, plan.access, (session) => drop(session, lease));
  throw new Refusal('conflict', 'The lease was revoked before its user was ready.');
}

/** Drops once what may have been made. @throws what went wrong in the first place */
async function undone(ctx: Ctx, plan: Plan, lease: LeaseRow, error: unknown, touched: boolean): Promise<never> {
  const claim = lease.claimed_by as string;
  try {
    if (touched) await withDatabase(ctx, plan.access, (session) => drop(session, lease));
    await inTransaction(ctx, (tx) => ended(tx, ctx, lease, claim, 'failed'));
  } catch (failed) {
    // Our own database may be away too: then the claim lapses, and the sweeper drops the user.
    await inTransaction(ctx, async (tx) => {
      await tx.dyn_db_leases.updateMany({ where: { id: lease.id, ...own(ctx), claimed_by: claim }, data: { phase: 'revoking' } });
      const { entries } = await revocationFailed(tx, ctx, lease, claim, { error: sentenceOf(failed) });
      await writeAudits(tx, ctx, entries);
    }).catch((cause: unknown) => log.warn({ err: cause, lease: lease.id }, 'a failed mint is left to the sweeper'));
  }
  throw error;
}

/** Removes the user of a lease; one that doesn't exist is removed. */
export async function drop(session: DatabaseSession, lease: LeaseRow): Promise<void> {
  session.conceal({ names: [lease.username] });
  await session.dropUser(lease.username, revocationOf(lease));
}
