import { isExact } from '#server/kernel/lossless-json.ts';

/** What the value of a keyword of JSON Schema 2020-12 is. Keywords that aren't here are annotations: any value. */
export type Kind =
  | 'schema'
  | 'schemas'
  | 'named_schemas'
  | 'count'
  | 'number'
  | 'positive'
  | 'boolean'
  | 'text'
  | 'texts'
  | 'named_texts'
  | 'list'
  | 'types'
  | 'pattern';

export const KEYWORDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ...of('schema', 'additionalProperties,propertyNames,unevaluatedProperties,items,contains,unevaluatedItems,not,if,then,else'),
  ...of('schemas', 'allOf,anyOf,oneOf,prefixItems'),
  ...of('named_schemas', '$defs,definitions,properties,patternProperties,dependentSchemas'),
  ...of('count', 'minLength,maxLength,minItems,maxItems,minContains,maxContains,minProperties,maxProperties'),
  ...of('number', 'minimum,maximum,exclusiveMinimum,exclusiveMaximum'),
  ...of('positive', 'multipleOf'),
  ...of('boolean', 'uniqueItems'),
  ...of('text', '$ref,$dynamicRef,$anchor,$dynamicAnchor,format'),
  ...of('texts', 'required'),
  ...of('named_texts', 'dependentRequired'),
  ...of('list', 'enum'),
  ...of('types', 'type'),
  ...of('pattern', 'pattern'),
]);

function of(kind: Kind, names: string): [string, Kind][] {
  return names.split(',').map((name) => [name, kind]);
}

/** Schemas of these look at the same value as the schema that has them. */
export const IN_PLACE: ReadonlySet<string> = new Set('allOf,anyOf,oneOf,not,if,then,else,dependentSchemas'.split(','));

export const TYPES: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);

export type Members = Readonly<Record<string, unknown>>;
export const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isExact(value);

/** What a `$ref` or `$dynamicRef` within the schema leads to; undefined when there is no such place. */
export function referred(root: unknown, anchors: ReadonlyMap<string, unknown>, reference: string): unknown {
  if (reference === '#') return root;
  if (!reference.startsWith('#') || reference.length > LONGEST_REFERENCE) return undefined;
  const fragment = decoded(reference.slice(1));
  if (!fragment.startsWith('/')) return anchors.get(fragment);
  let at = root;
  for (const step of fragment.slice(1).split('/')) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    at = (isMembers(at) || Array.isArray(at)) && Object.hasOwn(at, key) ? (at as Members)[key] : undefined;
  }
  return at;
}

const LONGEST_REFERENCE = 500;

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
