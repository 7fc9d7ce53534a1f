import { Prisma } from '#server/generated/prisma/client.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import type { Family, Table } from '#server/kernel/family.ts';

/** Deletes what families declare to be deleted on a reset of the caller's space. @returns rows of each kind that a plan limits */
export async function deleteSpace(tx: Tx, ctx: Ctx, families: readonly Family[]): Promise<Record<string, number>> {
  const tables = families.flatMap(({ tables = [] }) => tables);
  for (const { wipe } of tables) await wipe?.(tx, ctx);
  const counts: Record<string, number> = {};
  for (const { name } of inOrder(tables.filter(({ reset }) => reset === 'delete')))
    counts[name] = await tx.$executeRaw`
      delete from ${Prisma.raw(`"${name}"`)} where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox}`;
  const limited = families.flatMap(({ resources = [] }) => resources.flatMap(({ limit }) => limit ?? []));
  return Object.fromEntries(limited.flatMap((limit) => (limit in counts ? [[limit, counts[limit] ?? 0]] : [])));
}

/** Tables before those that their rows refer to. @throws Error for a circle */
export function inOrder(tables: readonly Table[]): Table[] {
  const ordered: Table[] = [];
  let left = tables;
  while (left.length > 0) {
    const free = left.filter(({ name }) => !left.some((other) => other.name !== name && other.before?.includes(name)));
    if (free.length === 0) throw new Error(`Tables refer to each other in a circle: ${left.map(({ name }) => name).join(', ')}`);
    ordered.push(...free);
    left = left.filter((table) => !free.includes(table));
  }
  return ordered;
}
