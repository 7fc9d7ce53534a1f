import { isDeepStrictEqual } from 'node:util';
import { copyJson, isExact } from '#server/kernel/lossless-json.ts';
import type { Entry, KindName } from './document.ts';
import type { Remote, Row } from './remote.ts';

/** What a resource needs to be there before it: found in the same file or in the workspace. */
export type Reference = { kind: KindName; name: string; at: string };

/** Says something that a file can't hold, such as a key that the service made. */
export type Note = (text: string) => void;

/**
 * One kind of resource. Entries that these functions exchange are whole: every member that is managed has a value, in one spelling, with names in place
 * of IDs. So two of them are equal exactly when the resources are.
 */
export type Kind = {
  name: KindName;
  /** What is in the workspace. */
  read: (row: Row, remote: Remote, note: Note) => Promise<Entry>;
  /** What the file asks for; `current` is what is there. Members that the file leaves out have their defaults, unless the kind says otherwise. */
  whole: (entry: Entry, current: Entry | undefined, remote: Remote) => Promise<Entry>;
  /** The entry as a file would say it: without members that have their defaults. */
  brief: (entry: Entry) => Entry;
  references: (entry: Entry) => Reference[];
  /** Why the change can't be made, told before anything is changed. */
  problems?: (wanted: Entry, current: Entry | undefined, env: Readonly<Record<string, string | undefined>>) => string[];
  /** Tells `made` the ID as soon as there is one: what follows may fail. */
  create: (wanted: Entry, context: Making, made: (id: string) => void) => Promise<void>;
  update: (id: string, wanted: Entry, current: Entry, context: Making) => Promise<void>;
  /** What has to wait until resources of later kinds exist; called after `create` or `update`. */
  finish?: (id: string, wanted: Entry, context: Making) => Promise<void>;
};

export type Making = { remote: Remote; env: Readonly<Record<string, string | undefined>> };

export type Change = { field: string; from: unknown; to: unknown };

/** The members that differ, by their paths; `undefined` where one side has none. Lists are compared as a whole. */
export function changesBetween(from: Entry | undefined, to: Entry | undefined): Change[] {
  const [before, after] = [flat(from), flat(to)];
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((field) => !isDeepStrictEqual(before.get(field), after.get(field)))
    .map((field) => ({ field, from: before.get(field), to: after.get(field) }));
}

function flat(entry: Entry | undefined): Map<string, unknown> {
  const leaves = new Map<string, unknown>();
  const visit = (value: unknown, path: string) => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value) && !isExact(value))
      for (const [name, one] of Object.entries(value)) visit(one, path === '' ? name : `${path}.${name}`);
    else if (value !== undefined) leaves.set(path, value);
  };
  visit(entry, '');
  return leaves;
}

/** Members of `wanted` whose values differ from those of `current`, among `fields`. */
export const differing = (fields: readonly string[], wanted: Record<string, unknown>, current: Record<string, unknown>): string[] =>
  fields.filter((field) => !isDeepStrictEqual(wanted[field], current[field]));

export const pick = (from: Record<string, unknown>, fields: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(fields.filter((field) => from[field] !== undefined).map((field) => [field, from[field]]));

/** `entry` without members that are as in `defaults`. */
export const without = (entry: Entry, defaults: Record<string, unknown>): Entry =>
  Object.fromEntries(
    Object.entries(entry).filter(([name, value]) => value !== undefined && !(name in defaults && isDeepStrictEqual(value, defaults[name]))),
  ) as Entry;

/** Every text of a value through `change`, on every level. */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  return mapLeaves(value, '', (_, leaf) => (typeof leaf === 'string' ? change(leaf) : leaf));
}

/** A copy with every text, number, boolean and null through `change`, which is told the name it stands under. Numbers keep their digits, names their order. */
export function mapLeaves(value: unknown, under: string, change: (name: string, leaf: unknown) => unknown): unknown {
  const visit = (one: unknown, name: string): unknown => {
    if (typeof one !== 'object' || one === null || isExact(one)) return change(name, one);
    const members = one as Record<string, unknown>;
    for (const key of Object.keys(members)) members[key] = visit(members[key], Array.isArray(one) ? name : key);
    return one;
  };
  return visit(copyJson(value), under);
}

/** A name in place of an ID. What this credential can't see keeps its ID, which no other workspace knows: the note says so. */
export async function named(remote: Remote, kind: KindName, id: unknown, note: Note, what: string): Promise<string | null> {
  if (typeof id !== 'string') return null;
  const name = await remote.nameOf(kind, id);
  if (name === undefined) note(`${what} has the ID ${id}, which this credential can't see. It is left out.`);
  return name ?? null;
}

/** A time in the spelling that the service answers; what is none is left for it to refuse. */
export const isoTime = (text: unknown): unknown => {
  const time = Date.parse(String(text));
  return Number.isNaN(time) ? text : new Date(time).toISOString();
};
