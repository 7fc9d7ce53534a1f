import type { Family } from '#server/kernel/family.ts';

// What a person makes that acts by itself must be in the register (`made` of the families): else it survives them unseen.

/** A table as PostgreSQL has it. */
export type TableShape = { name: string; columns: readonly string[] };

/** A column that holds a secret of ours, or what proves one. */
const CREDENTIAL = /^(?:digest|token_digest|token_hash|secret_ct|value_ct)$/;

/**
 * Tables with a credential that no family registers and that no reason excuses, registered tables whose maker isn't recorded, and families that mint
 * something of which nothing is registered. `reasons` are by table, or by family.
 */
export function unregistered(
  families: readonly Family[],
  tables: readonly TableShape[],
  reasons: Readonly<Record<string, string>>,
): string[] {
  const made = families.flatMap((family) => family.made ?? []);
  const shapes = new Map(tables.map((table) => [table.name, new Set(table.columns)]));
  const isRegistered = (table: string) => made.some((entry) => entry.table === table || entry.by?.includes(` ${table} `));
  const found: string[] = [];
  for (const { tables: own = [] } of families)
    for (const { name } of own) {
      const columns = [...(shapes.get(name) ?? [])];
      if (!columns.some((column) => CREDENTIAL.test(column)) || reasons[name] !== undefined) continue;
      if (!isRegistered(name)) found.push(`${name}: holds a credential and is not registered`);
    }
  for (const { table } of made) if (!shapes.get(table)?.has('made_by')) found.push(`${table}: record_maker is missing in its migration`);
  for (const { name, operations = {}, made: own = [] } of families) {
    const mints = Object.values(operations).some((row: { kind?: string }) => row.kind === 'mint');
    if (mints && own.length === 0 && reasons[name] === undefined) found.push(`${name}: mints and registers nothing`);
  }
  return found;
}
