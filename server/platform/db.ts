import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from '#server/generated/prisma/client.ts';
import type { Db } from '#server/kernel/database.ts';
import { CONNECTIONS, patience } from '#server/kernel/fair-queue.ts';
import { processState } from '#server/kernel/process-state.ts';
import { openPool } from './healing-pool.ts';
import { closeListeners } from './notify.ts';
import { closeSql, connection } from './sql.ts';

const held = processState('database', (): { prisma?: Db | undefined } => ({}));

/** The Prisma client of this process; connects at first use. For the domain, never for a data plane. */
export function db(): Db {
  held.prisma ??= new PrismaClient({
    adapter: new PrismaPg(openPool({ ...connection(), max: CONNECTIONS, connectionTimeoutMillis: patience.ms }), {
      statementNameGenerator: statementName,
      disposeExternalPool: true,
    }),
    // Prisma's own 2 and 5 s also end a transaction that does nothing but wait for a busy machine.
    transactionOptions: { maxWait: patience.ms, timeout: 20_000 },
  });
  return held.prisma;
}

export async function closeDb(): Promise<void> {
  await Promise.all([held.prisma?.$disconnect(), closeListeners(), closeSql()]);
  held.prisma = undefined;
}

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
