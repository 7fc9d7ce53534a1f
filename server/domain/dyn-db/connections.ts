import type { z } from 'zod';
import { withinPlan } from '#server/domain/plans/service.ts';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { onUnique } from '#server/kernel/conflicts.ts';
import { auditActor, type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { type AuditEntry, audited, mutate } from '#server/kernel/mutate.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import { checkSoon } from './checks.ts';
import { confirmPlaces, movedPlaces } from './moves.ts';
import { assertAgent, assertAuthorities, assertConnection, assertExternalId, assertTarget, assertTtls } from './rules.ts';
import type { CreateDynDbConnection, UpdateDynDbConnection } from './schema.ts';
import { putPassword, putSshKey, sealPassword, sealSshKey } from './seals.ts';
import { assertSshKey } from './ssh-keys.ts';
import { assertNoLiveLeases, type ConnectionRow, connectionByName, lockedConnection } from './store.ts';

/** The list has no pages. */
export const MOST_CONNECTIONS = 100;

/** Every connection of the space by name, with how many of its users may exist. */
export const listConnections = (ctx: Ctx) =>
  read(ctx, async (tx) => {
    const rows = await tx.dyn_db_connections.findMany({ where: { ...own(ctx), deleted_at: null }, orderBy: { name: 'asc' } });
    return shown(tx, ctx, rows as ConnectionRow[]);
  });

/** @throws Refusal not_found */
export const getConnection = (ctx: Ctx, { connection }: { connection: string }) =>
  read(ctx, async (tx) => {
    const [row] = await shown(tx, ctx, [await connectionByName(tx, ctx, connection)]);
    return row as NonNullable<typeof row>;
  });

async function shown(tx: Tx, ctx: Ctx, rows: readonly ConnectionRow[]) {
  const connection_id = { in: rows.map(({ id }) => id) };
  const leases = await tx.dyn_db_leases.groupBy({
    by: ['connection_id', 'status'],
    where: { ...own(ctx), connection_id, ended_at: null },
    _count: true,
  });
  const roles = await tx.dyn_db_roles.groupBy({ by: ['connection_id'], where: { ...own(ctx), connection_id }, _count: true });
  const passwords = new Set(
    (await tx.dyn_db_passwords.findMany({ where: { ...own(ctx), connection_id }, select: { connection_id: true } })).map(
      (row) => row.connection_id,
    ),
  );
  return rows.map((row) => {
    const of = leases.filter((lease) => lease.connection_id === row.id);
    const sum = (counted: typeof of) => counted.reduce((n, { _count }) => n + _count, 0);
    return {
      ...row,
      has_admin_password: passwords.has(row.id),
      role_count: roles.find(({ connection_id: of_role }) => of_role === row.id)?._count ?? 0,
      live_leases: sum(of),
      errored_leases: sum(of.filter(({ status }) => status === 'errored')),
    };
  });
}

/**
 * The database need not answer: whoever provisions creates connections before networks exist. A check in the background sets the status.
 * @throws Refusal validation_error, plan_limit, conflict, tenant_sealed
 */
export async function createConnection(ctx: Ctx, input: z.output<typeof CreateDynDbConnection>) {
  assertConnection(ctx, input);
  const ttls = {
    default_ttl_seconds: input.default_ttl_seconds ?? Math.min(3_600, input.max_ttl_seconds ?? 3_600),
    max_ttl_seconds: input.max_ttl_seconds ?? 86_400,
  };
  assertTtls(ttls);
  const { admin_password, ssh_private_key, ssh_passphrase, connect_options = {}, ...fields } = input;
  if (ssh_private_key !== undefined) await assertSshKey(ctx.tenant_id, ssh_private_key, ssh_passphrase);
  const password = admin_password === undefined ? null : await sealPassword(ctx, admin_password);
  const key = ssh_private_key === undefined ? null : await sealSshKey(ctx, { private_key: ssh_private_key, passphrase: ssh_passphrase });
  const row = await mutate(ctx, async (tx) => {
    await assertExternalId(tx, ctx, connect_options);
    await assertAgent(tx, ctx, fields.agent_id);
    await assertRoom(tx, ctx);
    await withinPlan(tx, ctx, 'dyn_db_connections');
    const data = { ...own(ctx), ...fields, ...ttls, connect_options: connect_options as Prisma.InputJsonObject };
    const created = (await tx.dyn_db_connections
      .create({ data: { ...data, id: newId(), created_by: auditActor(ctx.actor).id, created_at: ctx.now, updated_at: ctx.now } })
      .catch(onUnique('A connection with this name already exists.'))) as ConnectionRow;
    if (password) await putPassword(tx, ctx, created.id, password);
    if (key) await putSshKey(tx, ctx, created.id, key);
    const { engine, execution_mode, host, port, database_name } = created;
    return audited(created, entryOf('create', created, { details: { engine, execution_mode, host, port, database_name } }));
  });
  checkSoon(ctx, row);
  return row;
}

async function assertRoom(tx: Tx, ctx: Ctx): Promise<void> {
  await holdLock(tx, `${ctx.tenant_id}:dyn_db_connections:${ctx.sandbox}`);
  if ((await tx.dyn_db_connections.count({ where: { ...own(ctx), deleted_at: null } })) >= MOST_CONNECTIONS)
    throw new Refusal('plan_limit', `A space has at most ${MOST_CONNECTIONS} database connections. Delete one that is no longer used.`);
}

const FIELDS = [
  'host',
  'port',
  'database_name',
  'admin_username',
  'default_ttl_seconds',
  'max_ttl_seconds',
  'connect_options',
  'agent_id',
  'enabled',
] as const;
/** These say nothing about how the server is reached, so that a change of one needs no new check. */
const UNCHECKED: ReadonlySet<string> = new Set(['default_ttl_seconds', 'max_ttl_seconds', 'enabled']);
/** Users that exist could no longer be found if one of these changed. */
const PLACE = ['host', 'port', 'database_name'] as const;

/**
 * The admin's password never follows to another host, port or agent, or to a server whose certificate is checked less, unless it is given again or its move
 * confirmed. @throws Refusal not_found, validation_error, in_use, tenant_sealed, what `confirmMove` throws
 */
export async function updateConnection(ctx: Ctx, input: z.output<typeof UpdateDynDbConnection>) {
  const { connection, admin_password, name: _, engine: __, execution_mode: ___, ...fields } = input;
  const password = admin_password === undefined ? null : await sealPassword(ctx, admin_password);
  const row = await mutate(ctx, async (tx) => {
    const before = await lockedConnection(tx, ctx, connection);
    const after = { ...before, ...fields } as ConnectionRow;
    assertFits(ctx, before, input, after);
    await assertExternalId(tx, ctx, after.connect_options);
    await assertAgent(tx, ctx, fields.agent_id);
    if (PLACE.some((field) => before[field] !== after[field])) await assertNoLiveLeases(tx, ctx, { connection_id: before.id });
    const move = await confirmPlaces(tx, ctx, before, {
      moved: movedPlaces(before, after),
      given: password !== null,
      again: ['admin_password'],
      route: 'dyn_db.update',
    });
    const { connect_options, ...rest } = fields;
    const options = connect_options === undefined ? {} : { connect_options: connect_options as Prisma.InputJsonObject };
    const saved = (await tx.dyn_db_connections.update({
      where: { id: before.id, ...own(ctx) },
      data: { ...rest, ...options, updated_at: ctx.now },
    })) as ConnectionRow;
    if (password) await putPassword(tx, ctx, saved.id, password);
    const changes = changesOf(before, fields, FIELDS);
    const toggled = changes.some(({ field }) => field === 'enabled');
    const others = changes.filter(({ field }) => field !== 'enabled');
    const edit = entryOf('update', saved, { changes: others, details: { ...(password ? { admin_password: 'changed' } : {}), ...move } });
    if (!toggled) return audited(saved, edit);
    return audited(saved, entryOf(saved.enabled ? 'enable' : 'disable', saved), others.length > 0 || password ? [edit] : []);
  });
  if (FIELDS.some((field) => !UNCHECKED.has(field) && fields[field] !== undefined) || password) checkSoon(ctx, row);
  return { updated: row.name };
}

function assertFits(ctx: Ctx, before: ConnectionRow, input: z.output<typeof UpdateDynDbConnection>, after: ConnectionRow): void {
  for (const field of ['admin_username', 'admin_password'] as const)
    if (input[field] !== undefined && before.execution_mode === 'iam')
      throw new Refusal('validation_error', `${field}: must be left out with execution_mode iam`);
  if (input.agent_id !== undefined && before.execution_mode !== 'agent_tunnel')
    throw new Refusal('validation_error', `agent_id: must be left out with execution_mode ${before.execution_mode}`);
  assertTtls(after);
  assertTarget(ctx, after);
  assertAuthorities(input.connect_options);
}

/** Its roles go with it. @throws Refusal not_found, in_use */
export const deleteConnection = (ctx: Ctx, { connection }: { connection: string }) =>
  mutate(ctx, async (tx) => {
    const row = await lockedConnection(tx, ctx, connection);
    await assertNoLiveLeases(tx, ctx, { connection_id: row.id });
    const roles = await tx.dyn_db_roles.count({ where: { ...own(ctx), connection_id: row.id } });
    await tx.dyn_db_connections.delete({ where: { id: row.id, ...own(ctx) } });
    return audited({ deleted: true as const, name: row.name }, entryOf('delete', row, { details: { roles } }));
  });

/** An entry about a connection. */
export const entryOf = (action: AuditEntry['action'], row: ConnectionRow, more: Partial<AuditEntry> = {}): AuditEntry => ({
  action,
  resource_type: 'dyn_db_connection',
  resource_id: row.id,
  name: row.name,
  ...more,
});
