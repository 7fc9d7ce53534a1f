import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { PrismaClient } from '#server/generated/prisma/client.ts';
import type { Db } from '#server/kernel/database.ts';
import { CONNECTIONS } from '#server/kernel/turns.ts';
import { env } from './env.ts';

let prisma: Db | undefined;
let pool: pg.Pool | undefined;

/** The Prisma client of this process; connects at first use. For the domain, never for a data plane. */
export function db(): Db {
  prisma ??= new PrismaClient({ adapter: new PrismaPg({ ...connection(), max: CONNECTIONS }, { statementNameGenerator: statementName }) });
  return prisma;
}

/** Raw connections for hot paths and bulk work: named statements, no ORM. */
export function sql(): pg.Pool {
  if (!pool) {
    pool = new pg.Pool({ ...connection(), max: 6 });
    pool.on('error', () => {}); // an idle connection that dies is replaced at its next use
    // One that dies while it is lent fails its query; the event it emits besides would end the process.
    pool.on('connect', (client) => client.on('error', () => {}));
  }
  return pool;
}

export async function closeDb(): Promise<void> {
  await Promise.all([prisma?.$disconnect(), pool?.end()]);
  prisma = undefined;
  pool = undefined;
}

export const connection = (): pg.PoolConfig => ({
  connectionString: env.DATABASE_URL,
  connectionTimeoutMillis: 5_000,
  idleTimeoutMillis: 30_000,
  keepAlive: true,
});

const names = new Map<string, string>();
/** Named prepared statements save a parse per query; the set is bounded by the code, not by the data. */
function statementName({ sql }: { sql: string }): string {
  let name = names.get(sql);
  if (!name) {
    name = `p${names.size}`;
    names.set(sql, name);
  }
  return name;
}
