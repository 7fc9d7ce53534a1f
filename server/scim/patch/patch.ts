import { badRequest } from '../problem.ts';
import type { Attribute, ResourceType, Schema } from '../schema/attribute.ts';
import { assertEmpty, assertExtension, assertKnownSchemas, assertRequired, objectIn, readValue, type ScimObject } from '../schema/read.ts';
import { changeList, rememberingFold } from './lists.ts';
import { type Op, parsePath } from './path.ts';

/** An operation as it was sent. */
export type SentOperation = { op?: unknown; path?: unknown; value?: unknown };

/**
 * The resource after the operations of a PATCH, in their order (RFC 7644 §3.5.2), in the dialects of Entra ID and Okta too: `op` in any case, no path and
 * an object whose keys are paths, booleans as text. All or nothing: the given resource stays as it is.
 * @throws ScimProblem invalidPath, invalidValue, invalidSyntax, mutability, noTarget
 */
export function applyPatch(resource: ScimObject, operations: readonly SentOperation[], type: ResourceType): ScimObject {
  const patched = structuredClone(resource);
  const work: Work = { type, folded: rememberingFold(), changes: 0 };
  for (const sent of operations) {
    const op = opOf(sent);
    if (sent.path !== undefined && sent.path !== null) {
      if (typeof sent.path !== 'string') throw badRequest('invalidPath', 'path must be a text.');
      if (op !== 'remove' && sent.value === undefined) throw badRequest('invalidValue', `${op} needs a value.`);
      applyAt(patched, op, sent.path, sent.value, work);
    } else if (op === 'remove') throw badRequest('noTarget', 'remove needs a path.');
    else
      for (const [path, value] of Object.entries(objectIn(sent.value, 'The value of an operation without a path')))
        applyAt(patched, op, path, value, work);
  }
  assertRequired(patched, type);
  return patched;
}

/** What one PATCH shares: texts are folded once, and its changes are counted, because a body of a megabyte names tens of thousands of paths. */
type Work = { type: ResourceType; folded: (text: string) => string; changes: number };
const MOST_CHANGES = 250;

function opOf({ op }: SentOperation): Op {
  const name = typeof op === 'string' ? op.toLowerCase() : '';
  if (name === 'add' || name === 'replace' || name === 'remove') return name;
  throw badRequest('invalidSyntax', 'op must be add, replace or remove.');
}

function applyAt(resource: ScimObject, op: Op, text: string, value: unknown, work: Work): void {
  const { type } = work;
  if (++work.changes > MOST_CHANGES) throw badRequest('invalidValue', `A PATCH changes at most ${MOST_CHANGES} attributes.`);
  const path = parsePath(text, type);
  if (path.kind === 'schema') applySchema(resource, op, path.schema, value, work);
  else if (path.kind === 'unsupported') assertEmpty(type.schema.id, [path.name], path.name, value);
  else {
    const { attribute, sub, filter } = path;
    if (attribute.mutability === 'readOnly') assertSame(resource, attribute, sub, value, type);
    else if (!attribute.stored || sub?.stored === false) return;
    else if (attribute.multiValued) changeList(resource, op, { attribute, sub, filter, folded: work.folded }, value);
    else if (sub) changePart(resource, op, attribute, sub, value);
    else changeAttribute(resource, op, attribute, value);
  }
}

/** A URN as the path, or as a key, holds an object of attributes. */
function applySchema(resource: ScimObject, op: Op, schema: Schema, value: unknown, work: Work): void {
  if (op === 'remove' && schema === work.type.schema) throw badRequest('mutability', 'The core schema of a resource stays.');
  if (op === 'remove') return;
  if (schema !== work.type.schema) assertExtension(schema, value);
  else for (const [name, part] of Object.entries(objectIn(value, schema.id))) applyAt(resource, op, `${schema.id}:${name}`, part, work);
}

function changeAttribute(resource: ScimObject, op: Op, attribute: Attribute, value: unknown): void {
  const { name, type, required } = attribute;
  if (type === 'boolean') {
    // Taking the value away never deactivates anybody.
    if (op !== 'remove') set(resource, name, readValue(attribute, value ?? '', name));
  } else if (op === 'remove' || value === null) {
    if (required) throw badRequest('mutability', `${name} is required and can't be removed.`);
    delete resource[name];
  } else if (type === 'complex') set(resource, name, mergedParts(resource[name] as ScimObject | undefined, attribute, value));
  else set(resource, name, readValue(attribute, value, name));
}

/** What is left out of the new value of a complex attribute stays (RFC 7644 §3.5.2.3). */
function mergedParts(before: ScimObject | undefined, attribute: Attribute, value: unknown): ScimObject {
  const given = Object.keys(objectIn(value, attribute.name)).map((name) => name.toLowerCase());
  const kept = Object.entries(before ?? {}).filter(([name]) => !given.includes(name.toLowerCase()));
  return { ...Object.fromEntries(kept), ...(readValue(attribute, value, attribute.name) as ScimObject | undefined) };
}

function changePart(resource: ScimObject, op: Op, { name }: Attribute, sub: Attribute, value: unknown): void {
  const changed = { ...(resource[name] as ScimObject | undefined) };
  set(changed, sub.name, op === 'remove' ? undefined : readValue(sub, value, `${name}.${sub.name}`));
  set(resource, name, changed);
}

/** An absent value, and an object without members, is no member. */
function set(holder: ScimObject, name: string, value: unknown): void {
  if (value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)) delete holder[name];
  else holder[name] = value;
}

/** Some directories send read-only attributes along: the value that they have already, or none, changes nothing. @throws ScimProblem mutability */
function assertSame(resource: ScimObject, attribute: Attribute, sub: Attribute | undefined, value: unknown, type: ResourceType): void {
  const whole = resource[attribute.name];
  const current = sub ? (whole as ScimObject | undefined)?.[sub.name] : whole;
  if (value === null || (Array.isArray(value) && value.length === 0)) return;
  if (attribute.name === 'schemas' && Array.isArray(value)) assertKnownSchemas(value, type);
  else if (value === undefined || JSON.stringify(value) !== JSON.stringify(current))
    throw badRequest('mutability', `${attribute.name} is read-only.`);
}
