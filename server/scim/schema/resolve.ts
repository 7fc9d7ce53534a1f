import type { Attribute, ResourceType, Schema } from './attribute.ts';

/** Where a name leads: an attribute of a resource, or a part of one. `path` is its name as the schema spells it, without the URN. */
export type Resolved = { schema: Schema; attribute: Attribute; sub?: Attribute; path: string };

/**
 * The attribute that `[URN:]attribute[.part]` names, whatever its case (RFC 7644 §3.10); undefined when there is none. Attributes of an extension are
 * found by its URN only, and a URN finds only what its schema has: the enterprise URN before `active` names nothing.
 */
export function resolve(type: ResourceType, name: string): Resolved | undefined {
  const { schema, rest } = splitUrn(type, name);
  if (!schema) return undefined;
  const [first = '', part, ...more] = rest.split('.');
  if (more.length > 0) return undefined;
  const attribute = named(schema === type.schema ? [...type.common, ...schema.attributes] : schema.attributes, first);
  if (!attribute) return undefined;
  if (part === undefined) return { schema, attribute, path: attribute.name };
  const sub = partOf(attribute, part);
  return sub && { schema, attribute, sub, path: `${attribute.name}.${sub.name}` };
}

/** A part of an attribute. Lists of plain values have one, `value` (RFC 7643 §2.4). */
export function partOf(attribute: Attribute, name: string): Attribute | undefined {
  if (attribute.subAttributes) return named(attribute.subAttributes, name);
  return attribute.multiValued && name.toLowerCase() === 'value' ? { ...attribute, name: 'value', multiValued: false } : undefined;
}

export const named = (attributes: readonly Attribute[], name: string): Attribute | undefined =>
  attributes.find((attribute) => attribute.name.toLowerCase() === name.toLowerCase());

/** The schema of a resource with this URN, whatever its case. */
export const schemaOf = ({ schema, extensions }: ResourceType, urn: string): Schema | undefined =>
  [schema, ...extensions].find(({ id }) => id.toLowerCase() === urn.toLowerCase());

/** A name and the schema it is looked for in: that of its URN, else the core schema. No schema for a foreign URN. */
function splitUrn(type: ResourceType, name: string): { schema: Schema | undefined; rest: string } {
  const lower = name.toLowerCase();
  if (!lower.startsWith('urn:')) return { schema: type.schema, rest: name };
  const schema = [type.schema, ...type.extensions].find(({ id }) => lower.startsWith(`${id.toLowerCase()}:`));
  return { schema, rest: schema ? name.slice(schema.id.length + 1) : name };
}
