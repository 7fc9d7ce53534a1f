import fs from 'node:fs';
import path from 'node:path';

// Branches add migrations at the same time, so a database may get two of them in either order. Both orders must work, which these rules are for.

export type Migration = { name: string; sql: string };

/** Migrations before this time have names without a family. */
const NAMED_SINCE = '20261122190000';
/** Timestamps that were used twice before that was checked. */
const SHARED_TIMESTAMPS = ['20261121143000', '20261121160000', '20261121213000'];

export const migrations = (folder = 'prisma/migrations'): Migration[] =>
  fs
    .readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => ({ name, sql: fs.readFileSync(path.join(folder, name, 'migration.sql'), 'utf8') }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));

/** The families a migration may belong to: folders of the domain, and `platform` for what all share. */
export const families = (folder = 'server/domain'): string[] => [
  'platform',
  ...fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? entry.name.replaceAll('-', '_') : [])),
];

/** One sentence per rule that a migration breaks. */
export const migrationProblems = (all: readonly Migration[], known: readonly string[]): string[] => [
  ...all.flatMap(({ name }) => nameProblem(name, known) ?? []),
  ...timestampProblems(all),
  ...functionProblems(all, known),
];

function nameProblem(name: string, known: readonly string[]): string | undefined {
  if (timestamp(name) < NAMED_SINCE || familyOf(name, known)) return undefined;
  return `prisma/migrations/${name}: name it <timestamp>_<family>_<what>, with a time of 14 digits and one of the families ${known.join(', ')}`;
}

function timestampProblems(all: readonly Migration[]): string[] {
  const shared = [...Map.groupBy(all, ({ name }) => timestamp(name))].filter(
    ([time, of]) => of.length > 1 && !SHARED_TIMESTAMPS.includes(time),
  );
  return shared.map(
    ([time, of]) =>
      `prisma/migrations: ${of.map(({ name }) => name).join(' and ')} share the timestamp ${time}; rename the one that isn't on main`,
  );
}

/**
 * A function that a migration creates belongs to its family; another family's migration must not replace or drop it. Functions from before NAMED_SINCE
 * belong to `platform`. `-- replaces <function>: <reason>` in the migration allows it.
 */
function functionProblems(all: readonly Migration[], known: readonly string[]): string[] {
  const owners = new Map<string, string>();
  return all.flatMap(({ name, sql }) => {
    const family = (timestamp(name) >= NAMED_SINCE && familyOf(name, known)) || 'platform';
    const allowed = new Set([...sql.matchAll(/^--\s*replaces\s+(\w+):[ \t]*\S/gim)].map(([, one = '']) => one.toLowerCase()));
    return changedFunctions(sql).flatMap(({ called, dropped }) => {
      const owner = owners.get(called);
      if (dropped) owners.delete(called);
      else if (!owner) owners.set(called, family);
      if (!owner || owner === family || allowed.has(called)) return [];
      return `prisma/migrations/${name} ${dropped ? 'drops' : 'replaces'} the function ${called} of ${owner}: change it in a migration of ${owner}, or write "-- replaces ${called}: <reason>"`;
    });
  });
}

/** Functions that a migration creates, replaces, alters or drops, in its order. */
function changedFunctions(sql: string): { called: string; dropped: boolean }[] {
  const code = sql.replace(/--.*$/gm, '');
  return [
    ...code.matchAll(/\b(create|create\s+or\s+replace|alter|drop)\s+(?:function|procedure|aggregate)\s+(?:if\s+exists\s+)?([^;$(]+)/gi),
  ].flatMap(([, verb = '', names = '']) => {
    const dropped = verb.toLowerCase() === 'drop';
    const list = dropped ? names.split(',') : [names];
    return list.flatMap((one) => {
      const called = /^\s*(?:"?public"?\.)?"?(\w+)"?/.exec(one)?.[1]?.toLowerCase();
      return called ? [{ called, dropped }] : [];
    });
  });
}

const timestamp = (name: string): string => name.split('_')[0] ?? '';

/** The family in a migration's name; undefined when there is none. */
function familyOf(name: string, known: readonly string[]): string | undefined {
  const rest = /^\d{14}_([a-z0-9_]+)$/.exec(name)?.[1];
  return rest === undefined ? undefined : known.filter((family) => rest.startsWith(`${family}_`)).sort((a, b) => b.length - a.length)[0];
}
