import { families } from '#server/domain/families.ts';
import { type Descriptions, type Fields, sharedFields } from '#server/kernel/descriptions.ts';
import type { Family } from '#server/kernel/family.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import type { Json } from './json.ts';

type Described = Family & { tag: string; descriptions: Descriptions };

const list: readonly Family[] = families;

/** The family that an operation belongs to by its id. @throws Error for one without a tag or descriptions */
function familyOf(op: AnyOperation): Described {
  const namespace = op.id.split('.')[0];
  const found = list.find((family) => family.namespace === namespace);
  if (!found?.tag || !found.descriptions) throw new Error(`${op.id}: its family needs a tag and a descriptions.ts.`);
  return found as Described;
}

/** The OpenAPI tag of an operation. */
export const tagOf = (op: AnyOperation): string => familyOf(op).tag;

/** Descriptions of the family of an operation. Fields of one that another family declares (`routes.logs`) are looked up there too. */
export function descriptionsOf(op: AnyOperation): Descriptions {
  const own = familyOf(op).descriptions;
  const declaring = list.find(({ operations = {} }) => Object.values(operations).includes(op))?.descriptions ?? own;
  return declaring === own ? own : { ...own, fields: { ...declaring.fields, ...own.fields } };
}

/** What an operation does and answers. @throws Error for one that its family does not describe */
export function describedBy(op: AnyOperation): Descriptions['operations'][string] {
  const described = familyOf(op).descriptions.operations[op.id];
  if (!described) throw new Error(`${op.id} is not described: add it to the descriptions.ts of its family.`);
  return described;
}

/** What a field means; undefined when nothing says so. `parent` is the field or component it stands in. */
export const meaningOf = (fields: Fields, name: string, parent = ''): string | undefined =>
  fields[`${parent}.${name}`] ?? sharedFields[`${parent}.${name}`] ?? fields[name] ?? sharedFields[name];

/** Describes every property of a JSON Schema that has no description of its own, however deep. */
export function explain(schema: unknown, fields: Fields, parent = ''): void {
  if (typeof schema !== 'object' || schema === null) return;
  const { properties, items, additionalProperties, anyOf, oneOf } = schema as Record<string, unknown>;
  for (const [name, field] of Object.entries((properties ?? {}) as Record<string, Json>)) {
    explain(field, fields, name);
    const meaning = meaningOf(fields, name, parent);
    if (meaning !== undefined) field.description ??= meaning;
  }
  for (const option of (anyOf ?? oneOf ?? []) as Json[]) explain(option, fields, parent);
  explain(items, fields, parent);
  explain(additionalProperties, fields, parent);
}
