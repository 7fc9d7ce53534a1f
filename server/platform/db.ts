import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { PrismaClient } from '#server/generated/prisma/client.ts';
import type { Db } from '#server/kernel/database.ts';
import { CONNECTIONS } from '#server/kernel/fair-queue.ts';
import { processState } from '#server/kernel/process-state.ts';
import { env } from './env.ts';

const held = processState('database', (): { prisma?: Db | undefined; pool?: pg.Pool | undefined } => ({}));

/** The Prisma client of this process; connects at first use. For the domain, never for a data plane. */
export function db(): Db {
  held.prisma ??= new PrismaClient({
    adapter: new PrismaPg({ ...connection(), max: CONNECTIONS }, { statementNameGenerator: statementName }),
  });
  return held.prisma;
}

/** Raw connections for hot paths and bulk work: named statements, no ORM. */
export function sql(): pg.Pool {
  if (!held.pool) {
    const pool = new pg.Pool({ ...connection(), max: 6 });
    held.pool = pool;
    pool.on('error', () => {}); // an idle connection that dies is replaced at its next use
    // One that dies while it is lent fails its query; the event it emits besides would end the process.
    pool.on('connect', (client) => client.on('error', () => {}));
  }
  return held.pool;
}

export async function closeDb(): Promise<void> {
  await Promise.all([held.prisma?.$disconnect(), held.pool?.end()]);
  held.prisma = undefined;
  held.pool = undefined;
}

export const connection = (): pg.PoolConfig => ({
  connectionString: env.DATABASE_URL,
  connectionTimeoutMillis: 5_000,
  idleTimeoutMillis: 30_000,
  keepAlive: true,
});

const names = processState('statement-names', () => new Map<string, string>());
/** Named prepared statements save a parse per query; the set is bounded by the code, not by the data. */
function statementName({ sql }: { sql: string }): string {
  let name = names.get(sql);
  if (!name) {
    name = `p${names.size}`;
    names.set(sql, name);
  }
  return name;
}
