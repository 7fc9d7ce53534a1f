import type { Entry } from './document.ts';
import { differing, type Kind, pick, without } from './kind.ts';

const DEFAULTS = { description: null, color: '#6366f1' };
const FIELDS = ['display_name', 'description', 'color', 'is_default'];

/** `qa_eu` -> `Qa Eu`, as the service names what has no display name. */
const displayName = (name: string) =>
  name
    .split(/[-_]+/)
    .filter(Boolean)
    .map((word) => word[0]?.toUpperCase() + word.slice(1))
    .join(' ') || name;

/** Which one is the default is only compared where the file says it: it becomes false by itself when another one is made the default. */
export const environments: Kind = {
  name: 'environments',
  read: async (row) => ({ name: row.name, ...pick(row, FIELDS) }),
  whole: async (entry, current) => ({
    ...DEFAULTS,
    display_name: displayName(entry.name),
    ...entry,
    ...(typeof entry.color === 'string' ? { color: entry.color.toLowerCase() } : {}),
    is_default: entry.is_default ?? current?.is_default ?? false,
  }),
  brief: (entry) => without(entry, { ...DEFAULTS, display_name: displayName(entry.name), is_default: false }),
  references: () => [],
  create: async (wanted, { remote }, made) => {
    const body = { name: wanted.name, ...pick(wanted, FIELDS) };
    made((await remote.send<{ id: string }>('POST', '/environments', { body })).id);
  },
  update: async (id, wanted, current, { remote }) => {
    const fields = differing(FIELDS, wanted, current).filter((field) => field !== 'is_default' || wanted.is_default === true);
    if (fields.length > 0) await remote.send('PATCH', '/environments/{id}', { path: { id }, body: pick(wanted, fields) });
  },
};

/** Environments in the order of their making: the one that becomes the default comes last, when the others have been changed. */
export const defaultLast = (a: Entry, b: Entry): number => Number(a.is_default === true) - Number(b.is_default === true);
