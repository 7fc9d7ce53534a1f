import { grouped } from '#server/kernel/numbers.ts';
import type { Filter } from '../filter/filter.ts';
import { parseValueFilter } from '../filter/parse.ts';
import { badRequest, ScimProblem } from '../problem.ts';
import type { Attribute, ResourceType, Schema } from '../schema/attribute.ts';
import { partOf, resolve, schemaOf } from '../schema/resolve.ts';

export type Op = 'add' | 'replace' | 'remove';

/** What a PATCH path names (RFC 7644 §3.5.2): `attribute`, `attribute.part`, `list[filter]`, `list[filter].part`, or a schema as a whole. */
export type PatchPath =
  | { kind: 'attribute'; attribute: Attribute; sub?: Attribute; filter?: Filter }
  | { kind: 'schema'; schema: Schema }
  /** An attribute of RFC 7643 that this service has no place for. */
  | { kind: 'unsupported'; name: string };

const MAX_LENGTH = 4_096;

/** @throws ScimProblem invalidPath */
export function parsePath(path: string, type: ResourceType): PatchPath {
  if (path.length > MAX_LENGTH) throw badRequest('invalidPath', `A path has at most ${grouped(MAX_LENGTH)} characters.`);
  const open = path.indexOf('[');
  if (open !== -1) return valuePath(path, open, type);
  const found = resolve(type, path);
  if (found) return { kind: 'attribute', attribute: found.attribute, ...(found.sub ? { sub: found.sub } : {}) };
  const schema = schemaOf(type, path);
  if (schema) return { kind: 'schema', schema };
  if (isTolerated(path, type)) return { kind: 'unsupported', name: path };
  throw unknownPath(path);
}

function valuePath(path: string, open: number, type: ResourceType): PatchPath {
  const close = path.lastIndexOf(']');
  const rest = path.slice(close + 1);
  const found = resolve(type, path.slice(0, open));
  if (!found?.attribute.multiValued || found.sub || close < open || (rest !== '' && !rest.startsWith('.'))) throw unknownPath(path);
  const { attribute } = found;
  const sub = rest === '' ? undefined : partOf(attribute, rest.slice(1));
  if (rest !== '' && !sub) throw unknownPath(path);
  try {
    return { kind: 'attribute', attribute, ...(sub ? { sub } : {}), filter: parseValueFilter(path.slice(open + 1, close), attribute) };
  } catch (error) {
    if (error instanceof ScimProblem) throw badRequest('invalidPath', `The value filter of the path can't be understood. ${error.message}`);
    throw error;
  }
}

function isTolerated(path: string, type: ResourceType): boolean {
  const [name = '', part, ...more] = path.toLowerCase().split('.');
  if (more.length > 0) return false;
  if (part === undefined) return type.tolerated.some((one) => one.toLowerCase() === name);
  const attribute = type.schema.attributes.find((one) => one.name.toLowerCase() === name);
  return attribute?.tolerated?.some((one) => one.toLowerCase() === part) ?? false;
}

const unknownPath = (path: string) =>
  badRequest(
    'invalidPath',
    `There is no attribute ${JSON.stringify(path.length > 100 ? `${path.slice(0, 100)}…` : path)}. Remove it from the attribute mapping of the directory.`,
  );
