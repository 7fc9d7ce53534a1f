import type { ApiOperation } from '#components/explorer/document.ts';
import type { ListedOperation } from '#server/domain/explorer/schema.ts';
import { type Command, type Flag, positionsOf, spelled } from './commands.ts';
import { LineProblem } from './line-problem.ts';
import type { TypedCall } from './parse-call.ts';
import { isPrivate } from './redact-line.ts';

/** The list that the ids of a field come from. Environments are named in paths and bodies, not numbered. */
export type NameList = { op: ApiOperation; by: 'id' | 'name'; noun: string };
/** A thing as a line may name it: by its slug or name where no other has it, else by its id. */
export type Named = { id: string; names: string[]; title: string };
/** Asks a procedure of the dashboard, as the person; undefined where it has nothing for them. @throws LookupFailed */
export type Ask = (procedure: string, input: Record<string, unknown>) => Promise<unknown>;
export type Sources = { commands: readonly Command[]; listed: () => Promise<readonly ListedOperation[]>; ask: Ask };

/** A list that names are found in could not be asked, so nobody knows what the line means. */
export class LookupFailed extends Error {
  constructor(cause: unknown) {
    super('a name could not be looked up', { cause });
    this.name = 'LookupFailed';
  }
}

const MOST = 100;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
export const isId = (text: string): boolean => UUID.test(text);

/** Where the ids of a field are listed: the path before it, or the family its name speaks of. Undefined for a field that takes none. */
export function listOf({ op }: Command, { place, name }: Flag, commands: readonly Command[]): NameList | undefined {
  const at = (path: string) =>
    commands.find((one) => one.op.method === 'GET' && one.op.path === path && one.words.at(-1)?.startsWith('list'))?.op;
  const isEnvironment = /^env$|(?:^|_)environments?$/.test(name);
  const word = /(?:^|_)([a-z]+)(?:_ids?|Id)$/.exec(name)?.[1];
  const before = op.path.slice(0, op.path.indexOf(`/{${name}}`));
  // What is done with a thing may stand before its name: `issue/{role}` takes one of the `roles` beside it.
  const beside = `${before.slice(0, before.lastIndexOf('/'))}/${name}s`;
  const list =
    (place === 'path' ? (at(before) ?? at(beside)) : undefined) ??
    (isEnvironment ? at('/environments') : undefined) ??
    (word ? at(`/${word}s`) : undefined);
  if (!list) return undefined;
  return { op: list, by: isEnvironment ? 'name' : 'id', noun: spelled(list.tag).replace(/s$/, '').replaceAll('-', ' ') };
}

/** What the list holds that has `q` in it, the first hundred; `all` when there is no more. @throws LookupFailed */
export async function namesIn(
  list: NameList,
  parents: Record<string, string>,
  q: string,
  { listed, ask }: Sources,
): Promise<{ all: boolean; found: Named[] }> {
  const procedure = (await listed()).find(({ id }) => id === list.op.id)?.procedure;
  if (!procedure) return { all: false, found: [] };
  const takes = new Set(list.op.inQuery.map(({ name }) => name));
  const inPath = Object.fromEntries(list.op.inPath.flatMap(({ name }) => (parents[name] ? [[name, parents[name]]] : [])));
  if (Object.keys(inPath).length < list.op.inPath.length) return { all: false, found: [] };
  const input = { ...inPath, ...(takes.has('per_page') ? { per_page: MOST } : {}), ...(takes.has('q') && q ? { q: q.slice(0, 100) } : {}) };
  const answer = await ask(procedure, input);
  const rows = (Array.isArray(answer) ? answer : ((answer as { data?: unknown } | null)?.data ?? [])) as Record<string, unknown>[];
  return { all: rows.length < MOST, found: rows.flatMap((row) => namedBy(row) ?? []) };
}

const NAMES = ['slug', 'name', 'environment_name', 'environment', 'key', 'label', 'key_id'] as const;

function namedBy(row: Record<string, unknown>): Named | undefined {
  const names = NAMES.flatMap((key) => (typeof row[key] === 'string' && row[key] !== '' ? [row[key]] : []));
  const id = [row.id, row.client_id, names[0]].find((one) => typeof one === 'string');
  const title = row.name ?? row.label ?? names[0];
  return typeof id === 'string' ? { id, names: [...new Set(names)], title: typeof title === 'string' ? title : id } : undefined;
}

/** What stands on the line for one of them. */
export const wordFor = (one: Named, all: readonly Named[], by: NameList['by']): string =>
  (by === 'name' ? one.names[0] : one.names.find((name) => all.filter(({ names }) => names.includes(name)).length === 1)) ?? one.id;

/** The call with ids where names stood. What no list knows goes as it is: the service answers. @throws LineProblem for a name of two things, LookupFailed */
export async function withIds(command: Command, call: TypedCall, sources: Sources): Promise<TypedCall> {
  const path = await idsOf(command, call.path, sources);
  const resolved = { ...call, path, query: { ...call.query }, ...(call.body ? { body: { ...call.body } } : {}) };
  for (const flag of command.flags.values()) {
    const values = flag.place === 'query' ? resolved.query : flag.place === 'body' ? resolved.body : undefined;
    const value = values?.[flag.name];
    if (!values) continue;
    if (typeof value === 'string') values[flag.name] = await idOf(command, flag, value, path, sources);
    else if (Array.isArray(value) && value.every((one) => typeof one === 'string'))
      values[flag.name] = await Promise.all(value.map((one: string) => idOf(command, flag, one, path, sources)));
  }
  return resolved;
}

/** What stands in the path, each found below the one before it. */
export async function idsOf(command: Command, typed: Record<string, string>, sources: Sources): Promise<Record<string, string>> {
  const path: Record<string, string> = {};
  for (const name of positionsOf(command)) {
    const flag = [...command.flags.values()].find((one) => one.place === 'path' && one.name === name);
    const text = typed[name] ?? '';
    path[name] = flag && text !== '' ? await idOf(command, flag, text, path, sources) : text;
  }
  return path;
}

async function idOf(command: Command, flag: Flag, text: string, parents: Record<string, string>, sources: Sources): Promise<string> {
  if (isId(text) || isPrivate(text)) {
    if (flag.place === 'path' && isPrivate(text)) throw new LineProblem('That looks like a credential.', 'Enter a name or an ID.');
    return text;
  }
  const list = listOf(command, flag, sources.commands);
  if (!list || list.by === 'name') return text;
  const { found } = await namesIn(list, parents, text, sources);
  const same = (letters: (name: string) => string) => found.filter(({ names }) => names.some((name) => letters(name) === letters(text)));
  const exact = same((name) => name);
  const hits = exact.length > 0 ? exact : same((name) => name.toLowerCase());
  if (hits.length > 1)
    throw new LineProblem(
      `${hits.length} resources are named ${text}.`,
      `Take one by its id: ${hits
        .slice(0, 5)
        .map(({ id }) => id)
        .join(', ')}.`,
    );
  return hits[0]?.id ?? text;
}
