import type { Ctx } from '#server/kernel/context.ts';
import { own } from '#server/kernel/context.ts';
import { type Db, inTransaction, read, type Tx } from '#server/kernel/database.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { inBackground } from '#server/platform/background.ts';
import type { AdminUse } from '#server/platform/databases/engine.ts';
import { DatabaseFault } from '#server/platform/databases/fault.ts';
import { log } from '#server/platform/log.ts';
import { sql } from '#server/platform/sql.ts';
import { sentenceOf } from './refusals.ts';
import { accessOf, withDatabase } from './sessions.ts';
import { type ConnectionRow, connectionByName } from './store.ts';
import { builtInTemplate } from './templates.shared.ts';

export type Checked = {
  ok: boolean;
  latency_ms: number;
  server_version: string | null;
  missing_privileges: string[];
  orphans: string[];
  error: string | null;
};
/** `orphans` is null where nobody could look for them. */
type Found = Omit<Checked, 'orphans'> & { orphans: string[] | null };

/** Connects, logs in and looks at what the admin may do and whom it finds. A database that can't be reached is an answer, not a failure. @throws Refusal not_found */
export async function testConnection(ctx: Ctx, { connection }: { connection: string }): Promise<Checked> {
  const row = await read(ctx, (tx) => connectionByName(tx, ctx, connection));
  const found = await check(ctx, row);
  return mutate(ctx, async (tx) => {
    await store(tx, ctx, row, found);
    const { ok, latency_ms } = found;
    const orphans = found.orphans ?? [];
    return audited(
      { ...found, orphans },
      {
        action: 'update',
        resource_type: 'dyn_db_connection',
        resource_id: row.id,
        name: row.name,
        details: { trigger: 'test', ok, latency_ms, orphans: orphans.length },
      },
    );
  });
}

/** The same after a connection was written; what it finds is on its page a moment later. */
export function checkSoon(ctx: Ctx, row: ConnectionRow): void {
  const { tx: _, expects: __, step_up: ___, ...caller } = ctx;
  inBackground('dyn-db-check', async () => {
    const later: Ctx = { ...caller, warnings: [], now: new Date() };
    for (let attempt = 0; attempt < 10; attempt++) {
      // The answer to the write may still be on its way to its commit.
      const current = await read(later, (tx) =>
        tx.dyn_db_connections.findFirst({ where: { ...own(later), id: row.id, deleted_at: null } }),
      );
      if (current) return storeAlone(later, current as ConnectionRow, await check(later, current as ConnectionRow));
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  });
}

async function check(ctx: Ctx, row: ConnectionRow): Promise<Found> {
  const began = performance.now();
  const found = { server_version: null, missing_privileges: [] as string[], orphans: null, error: null };
  try {
    const { access, use } = await read(ctx, async (tx) => ({ access: await accessOf(tx, ctx, row), use: await useOf(tx, ctx, row) }));
    return await withDatabase(ctx, access, async (session) => {
      const latency_ms = Math.round(performance.now() - began);
      // A token of RDS logs in as the user itself, who manages nobody.
      if (row.execution_mode === 'iam') return { ...found, ok: true, latency_ms, server_version: session.serverVersion, orphans: [] };
      const missing = [...(await session.missingPrivileges(use))];
      // Whoever lacks privileges may not see users either, which must not hide what it lacks.
      const orphans = await session.mintedUsers().then(withoutLease, (error: unknown) => {
        if (missing.length > 0 && error instanceof DatabaseFault && error.type === 'database_error') return null;
        throw error;
      });
      return {
        ...{ ok: missing.length === 0, latency_ms, server_version: session.serverVersion, missing_privileges: missing, orphans },
        error: missing.length > 0 ? lackingOf(missing) : null,
      };
    });
  } catch (error) {
    return { ...found, ok: false, latency_ms: Math.round(performance.now() - began), error: sentenceOf(error) };
  }
}

/** Roles of statements of their own show what they lack when a user is minted. */
async function useOf(tx: Tx, ctx: Ctx, { id, engine }: ConnectionRow): Promise<AdminUse> {
  const writers = await tx.dyn_db_roles.count({
    where: { ...own(ctx), connection_id: id, template: builtInTemplate('readwrite', engine)?.name ?? null },
  });
  return writers > 0 ? 'readwrite' : 'readonly';
}

/** As the page has it: this sentence, and below it what to do. */
const lackingOf = (missing: readonly string[]) => `The admin user lacks: ${missing.join('; ')}.`.slice(0, 500);

/** Of users named like ours, those that no live lease of this deployment knows: another connection may lead to the same server. */
async function withoutLease(users: readonly string[]): Promise<string[]> {
  if (users.length === 0) return [];
  const { rows } = await sql().query<{ username: string }>(
    'select username from dyn_db_leases where username = any($1) and ended_at is null',
    [users],
  );
  const known = new Set(rows.map(({ username }) => username));
  return users.filter((user) => !known.has(user));
}

/** Past the row's own time, which is that of people's edits. What can't be looked at keeps the orphans it had. */
async function store(tx: Tx, ctx: Ctx, row: ConnectionRow, found: Found): Promise<void> {
  const status = found.ok ? 'ok' : 'failing';
  await tx.$executeRaw`update dyn_db_connections set status = ${status}, last_check_at = ${ctx.now}, last_error = ${found.error}
    where id = ${row.id}::uuid and tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox}`;
  if (found.orphans !== null)
    await tx.$executeRaw`update dyn_db_connections set orphans = ${found.orphans}::text[], orphans_checked_at = ${ctx.now}
      where id = ${row.id}::uuid and tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox}`;
}

const storeAlone = (ctx: Ctx, row: ConnectionRow, found: Found) => inTransaction(ctx, (tx) => store(tx, ctx, row, found));

const AT_ONCE = 5;

/** The daily look at every connection: users of ours without a lease are told of, and never dropped (interface rule 44 §6.4). @returns orphans found */
export async function scanForOrphans(db: Db, now: Date, signal: AbortSignal): Promise<{ connections: number; orphans: number }> {
  const rows = (await db.dyn_db_connections.findMany({
    where: { deleted_at: null, execution_mode: { not: 'iam' } },
    orderBy: { id: 'asc' },
  })) as ConnectionRow[];
  const total = { connections: 0, orphans: 0 };
  const work = rows.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const row of work) {
        if (signal.aborted) return;
        const ctx = systemContext(db, { tenant_id: row.tenant_id, sandbox: row.sandbox, now, label: 'orphan scan' });
        const found = await check(ctx, row);
        await storeAlone(ctx, row, found).catch((error: unknown) =>
          log.warn({ err: error, connection: row.id }, 'a check could not be stored'),
        );
        total.connections += 1;
        total.orphans += found.orphans?.length ?? 0;
      }
    }),
  );
  return total;
}
