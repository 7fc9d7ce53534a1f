import { CliError } from '../exit.ts';
import { type Entry, KIND_NAMES, type KindName } from './document.ts';
import { literalCredentials } from './literals.ts';
import { KINDS } from './plan.ts';
import { ambiguous, inParallel, type Remote } from './remote.ts';

export type Exported = { document: Record<string, unknown>; notes: string[] };

/**
 * The workspace as a file that makes the same one out of an empty one: sorted by name, without IDs and without values of secrets.
 * @throws CliError for two resources of one name, and for a route that holds a credential
 */
export async function exportOf(remote: Remote, space: 'live' | 'test', only: readonly KindName[] = KIND_NAMES): Promise<Exported> {
  const notes: string[] = [];
  const document: Record<string, unknown> = { format: 1, space };
  for (const kind of KIND_NAMES) {
    if (!only.includes(kind)) continue;
    const rows = await remote.rows(kind);
    for (const row of rows) {
      const same = rows.filter(({ name }) => name === row.name);
      if (same.length > 1) throw ambiguous(kind, row.name, same);
    }
    const entries = await inParallel(rows, async (row) => {
      const entry = KINDS[kind].brief(await KINDS[kind].read(row, remote, (text) => notes.push(`${kind}[${row.name}] ${text}`)));
      refuseLiterals(kind, entry);
      return entry;
    });
    if (entries.length > 0) document[kind] = entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  }
  return { document, notes: [...new Set(notes)].sort() };
}

function refuseLiterals(kind: KindName, entry: Entry): void {
  const [field] = literalCredentials(kind, entry);
  if (field === undefined) return;
  throw new CliError(`${kind}[${entry.name}].${field} holds a credential, which would stand in the file.`, {
    next_step: 'Store it as a secret and write {{secret:NAME}} in the route. The route’s page in the dashboard offers it.',
  });
}
