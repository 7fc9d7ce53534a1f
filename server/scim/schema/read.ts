import { badRequest } from '../problem.ts';
import type { Attribute, ResourceType, Schema } from './attribute.ts';
import { named, partOf, schemaOf } from './resolve.ts';

/** A resource, or a complex value, in its SCIM form. */
export type ScimObject = Record<string, unknown>;

/** The most values of a multi-valued attribute. */
export const MOST_VALUES = 100;

/**
 * What the body of a POST or PUT says, with names as the schema spells them: read-only attributes, attributes that aren't stored, and attributes without a
 * value are left out (RFC 7643 §2.5, interface rule 23 §6.5).
 * @throws ScimProblem invalidSyntax without the schema, invalidPath for an attribute there is no place for, invalidValue
 */
export function readResource(body: ScimObject, type: ResourceType): ScimObject {
  assertSchemas(body, type);
  const resource: ScimObject = {};
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(body)) {
    const attribute = named([...type.common, ...type.schema.attributes], name);
    const extension = attribute ? undefined : type.extensions.find(({ id }) => id.toLowerCase() === name.toLowerCase());
    if (!attribute && !extension) {
      assertEmpty(type.schema.id, type.tolerated, name, value);
      continue;
    }
    const key = attribute?.name ?? (extension as Schema).id;
    if (seen.has(key)) throw badRequest('invalidSyntax', `${key} is given twice.`);
    seen.add(key);
    if (extension) assertExtension(extension, value);
    if (!attribute || attribute.mutability === 'readOnly') continue;
    const read = readValue(attribute, value, attribute.name);
    if (read !== undefined) resource[attribute.name] = read;
  }
  assertRequired(resource, type);
  return resource;
}

/** @throws ScimProblem invalidValue when a required attribute has no value */
export function assertRequired(resource: ScimObject, type: ResourceType): void {
  for (const { name, required } of type.schema.attributes)
    if (required && resource[name] === undefined) throw badRequest('invalidValue', `${name} is required.`);
}

/**
 * The value of an attribute as it is stored; undefined when it has none, or is one that isn't stored. `place` is how a refusal calls it.
 * @throws ScimProblem invalidPath for a part there is no place for, invalidValue
 */
export function readValue(attribute: Attribute, value: unknown, place: string): unknown {
  if (!attribute.stored || value === null || value === undefined) return undefined;
  if (!attribute.multiValued) return readOne(attribute, value, place);
  if (!Array.isArray(value)) throw badRequest('invalidValue', `${place} must be a list.`);
  return readList(attribute, value, place);
}

/** The values of a multi-valued attribute; undefined when there are none. At most one is primary. @throws ScimProblem invalidPath, invalidValue */
export function readList(attribute: Attribute, values: readonly unknown[], place: string): unknown[] | undefined {
  if (values.length > MOST_VALUES) throw badRequest('invalidValue', `${place} has at most ${MOST_VALUES} values.`);
  const one = { ...attribute, multiValued: false };
  const read = values.map((value) => readOne(one, value, place)).filter((value) => hasValue(value));
  if (read.filter((value) => (value as ScimObject).primary === true).length > 1)
    throw badRequest('invalidValue', `At most one of ${place} is primary.`);
  const distinct = attribute.subAttributes ? read : [...new Set(read)];
  return distinct.length > 0 ? distinct : undefined;
}

/** An email without an address says nothing. */
export const hasValue = (value: unknown): boolean =>
  typeof value === 'object' && value !== null ? (value as ScimObject).value !== undefined : value !== undefined;

function readOne(attribute: Attribute, value: unknown, place: string): unknown {
  switch (attribute.type) {
    case 'boolean':
      return readBoolean(value, place);
    case 'complex':
      return readComplex(attribute, value, place);
    default:
      return readText(attribute, value, place);
  }
}

/** Entra ID sends booleans as "True" and "False". */
function readBoolean(value: unknown, place: string): boolean {
  if (typeof value === 'boolean') return value;
  const text = typeof value === 'string' ? value.toLowerCase() : '';
  if (text === 'true' || text === 'false') return text === 'true';
  throw badRequest('invalidValue', `${place} must be true or false.`);
}

/** An empty text is no value. */
function readText({ maxLength }: Attribute, value: unknown, place: string): string | undefined {
  if (typeof value !== 'string') throw badRequest('invalidValue', `${place} must be a text.`);
  if (value.length > maxLength) throw badRequest('invalidValue', `${place} has at most ${maxLength} characters.`);
  return value.trim() === '' ? undefined : value;
}

function readComplex(attribute: Attribute, value: unknown, place: string): ScimObject | undefined {
  const read: ScimObject = {};
  for (const [name, part] of Object.entries(objectIn(value, place))) {
    const sub = partOf(attribute, name);
    if (!sub) assertEmpty(place, attribute.tolerated, name, part);
    else if (Object.hasOwn(read, sub.name)) throw badRequest('invalidSyntax', `${place}.${sub.name} is given twice.`);
    else {
      const inner = readValue(sub, part, `${place}.${sub.name}`);
      if (inner !== undefined) read[sub.name] = inner;
    }
  }
  return Object.keys(read).length > 0 ? read : undefined;
}

/** @throws ScimProblem invalidValue */
export function objectIn(value: unknown, place: string): ScimObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw badRequest('invalidValue', `${place} must be an object.`);
  return value as ScimObject;
}

/** Extensions are accepted and not stored; still, all that they name must be theirs. @throws ScimProblem invalidPath, invalidValue */
export function assertExtension(schema: Schema, value: unknown): void {
  if (value === null) return;
  for (const [name, part] of Object.entries(objectIn(value, schema.id)))
    if (!named(schema.attributes, name)) assertEmpty(schema.id, [], name, part);
}

/** An attribute without a place is tolerated as long as RFC 7643 knows it and it says nothing: null or an empty list. @throws ScimProblem invalidPath */
export function assertEmpty(place: string, tolerated: readonly string[] | undefined, name: string, value: unknown): void {
  const empty = value === null || (Array.isArray(value) && value.length === 0);
  if (empty && tolerated?.some((one) => one.toLowerCase() === name.toLowerCase())) return;
  throw badRequest('invalidPath', `${place} has no attribute ${shortened(name)}. Remove it from the attribute mapping of the directory.`);
}

const shortened = (name: string) => JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name);

function assertSchemas({ schemas }: ScimObject, type: ResourceType): void {
  if (!Array.isArray(schemas) || !schemas.some((urn) => typeof urn === 'string' && schemaOf({ ...type, extensions: [] }, urn)))
    throw badRequest('invalidSyntax', `schemas must contain ${type.schema.id}.`);
  assertKnownSchemas(schemas, type);
}

/** @throws ScimProblem invalidPath for a schema that the resource doesn't have */
export function assertKnownSchemas(schemas: readonly unknown[], type: ResourceType): void {
  const foreign = schemas.find((urn) => typeof urn !== 'string' || !schemaOf(type, urn));
  if (foreign !== undefined) throw badRequest('invalidPath', `${type.name} has no schema ${shortened(String(foreign))}.`);
}
