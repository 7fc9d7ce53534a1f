import { type ApiField, type ApiOperation, kindOf } from '#components/explorer/document.ts';

/** A field of an operation as it is named on a line: `per_page` is `--per-page`. */
export type Flag = { name: string; place: 'path' | 'query' | 'headers' | 'body'; field: ApiField; isSecret: boolean };
/** An operation as it is typed: `api_keys.list` is `api-keys list`, `routes.environments.put` is `routes environments put`. */
export type Command = { words: readonly string[]; op: ApiOperation; flags: ReadonlyMap<string, Flag> };

/** What works with every operation. */
export const COMMON_FLAGS = ['help', 'json', 'output'] as const;
export const BUILT_IN = ['help', 'clear', 'history'] as const;

/** `per_page`, `routeId` and `If-Match` as words of a line. */
export const spelled = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase();

/** Every operation as a command; there is no other list of them. */
export const commandsOf = (operations: readonly ApiOperation[]): Command[] =>
  operations.map((op) => ({ words: op.id.split('.').map(spelled), op, flags: flagsOf(op) }));

/** The first words of all commands. */
export const familiesOf = (commands: readonly Command[]): string[] => [...new Set(commands.map(({ words }) => words[0] ?? ''))].sort();

/** The commands that begin with these words. */
export const under = (commands: readonly Command[], words: readonly string[]): Command[] =>
  commands.filter((command) => words.every((word, i) => command.words[i] === word));

/** The line that asks for help on just these. */
export function helpLine(commands: readonly Command[]): string {
  const [first, ...others] = commands.map(({ words }) => words);
  const end = first?.findIndex((word, i) => others.some((words) => words[i] !== word)) ?? 0;
  return ['help', ...(first ?? []).slice(0, end === -1 ? undefined : end)].join(' ');
}

/** What stands in its path, in order. */
export const positionsOf = ({ op }: Command): string[] => [...op.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');

function flagsOf(op: ApiOperation): Map<string, Flag> {
  const flags = new Map<string, Flag>();
  const places = [
    ['path', op.inPath],
    ['query', op.inQuery],
    ['body', op.inBody],
    ['headers', op.inHeader],
  ] as const;
  for (const [place, fields] of places)
    for (const field of fields) {
      const isSecret = place === 'body' && kindOf(field.schema) === 'secret';
      flags.set(spelled(field.name), { name: field.name, place, field, isSecret });
    }
  return flags;
}

/** The flag that was meant: `--per_page` too, `--search` for `--q`, and `--value-from-prompt` for a secret that is asked for anyway. */
export function flagOf({ flags }: Command, typed: string): Flag | undefined {
  const name = spelled(typed);
  const asked = flags.get(name.replace(FROM_PROMPT, ''));
  return flags.get(name) ?? (name === 'search' ? flags.get('q') : asked?.isSecret ? asked : undefined);
}

/** What a flag that takes no value ends with. */
export const FROM_PROMPT = /-from-prompt$/;

/** Longer words are no slip of the finger. */
const LONGEST_WORD = 40;

/** The known word that was probably meant; undefined when none is near. */
export function nearest(typed: string, known: readonly string[]): string | undefined {
  const word = spelled(typed).slice(0, LONGEST_WORD + 1);
  if (word === '' || word.length > LONGEST_WORD) return undefined;
  const begins = known.filter((one) => one.startsWith(word));
  if (begins.length === 1) return begins[0];
  const [best] = known.map((one) => ({ one, far: distance(word, one) })).sort((a, b) => a.far - b.far);
  return best && best.far <= Math.max(1, Math.floor(best.one.length / 3)) ? best.one : undefined;
}

/** Letters to change, add, drop or swap (optimal string alignment). */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number) => rows[i]?.[j] ?? 0;
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let least = Math.min(at(i - 1, j) + 1, (row[j - 1] ?? 0) + 1, at(i - 1, j - 1) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, at(i - 2, j - 2) + 1);
      row.push(least);
    }
  }
  return at(a.length, b.length);
}
