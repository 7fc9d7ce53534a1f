import type { Json } from '../openapi/json.ts';

export type Schemas = Readonly<Record<string, Json>>;

/** How far objects inside objects are written out. */
const DEPTH = 3;

/**
 * The fields of an object schema as a Markdown table; those of objects inside it as `parent.child`. Only what callers send says what is required: what
 * they get always has every field.
 */
export function fieldTable(schema: Json, sent: boolean): string {
  const rows = fields(schema, sent, '', DEPTH);
  return ['| Field | Type | Description |', '| --- | --- | --- |', ...rows.map((cells) => `| ${cells.join(' | ')} |`)].join('\n');
}

function fields(schema: Json, sent: boolean, prefix: string, depth: number): string[][] {
  const required = new Set(sent ? ((schema.required ?? []) as string[]) : []);
  return Object.entries((schema.properties ?? {}) as Record<string, Json>).flatMap(([name, field]) => {
    const inner = objectIn(field);
    const here = `${prefix}${name}`;
    const description = cell(String(field.description ?? inner?.description ?? ''));
    return [
      [`\`${here}\``, `${typeOf(field)}${required.has(name) ? ' (required)' : ''}`, `${description}${limitsOf(field)}`],
      ...(inner && depth > 1 ? fields(inner, sent, `${here}${isList(field) ? '[]' : ''}.`, depth - 1) : []),
    ];
  });
}

const isList = (field: Json): boolean => options(field).some((one) => one.type === 'array');

/** The object that a field or its elements hold, unless it is a named one, which has a table of its own. */
function objectIn(field: Json): Json | undefined {
  for (const one of options(field)) {
    const element = one.type === 'array' ? elementOf(one) : one;
    if (typeof element.$ref === 'string') continue;
    const found = options(element).find((option) => option.properties);
    if (found) return found;
  }
  return undefined;
}

/** What the elements of an array are. A tuple names one schema per position, and `false` for any further one. */
const elementOf = ({ items, prefixItems }: Json): Json => (prefixItems ? { anyOf: prefixItems } : ((items || {}) as Json));

const options = (field: Json): Json[] => ((field.anyOf ?? field.oneOf) as Json[] | undefined) ?? [field];

/** A type as people write it: "string or null", "array of Route". */
export function typeOf(field: Json): string {
  const names = options(field).flatMap((one) => {
    if (typeof one.$ref === 'string') return [`[${nameOf(one.$ref)}](#${nameOf(one.$ref).toLowerCase()})`];
    if (one.enum) return [(one.enum as unknown[]).map((value) => `\`${value}\``).join(', ')];
    if ('const' in one) return [`\`${one.const}\``];
    const types = [one.type ?? 'any'].flat() as string[];
    return types.map((type) => (type === 'array' ? `array of ${typeOf(elementOf(one))}` : type));
  });
  return [...new Set(names)].join(' or ');
}

const nameOf = (ref: string): string => ref.split('/').at(-1) ?? ref;

/** Bounds worth knowing before a call is refused. */
function limitsOf(field: Json): string {
  const [one = {}] = options(field);
  const said = [
    ...(one.default !== undefined ? [`Default \`${JSON.stringify(one.default)}\`.`] : []),
    ...(typeof one.maxLength === 'number' && one.maxLength < 100_000 ? [`At most ${one.maxLength} characters.`] : []),
    ...(typeof one.minimum === 'number' && typeof one.maximum === 'number' && one.maximum < Number.MAX_SAFE_INTEGER
      ? [`From ${one.minimum} to ${one.maximum}.`]
      : []),
    ...(typeof one.maxItems === 'number' ? [`At most ${one.maxItems}.`] : []),
  ];
  return said.length > 0 ? ` ${said.join(' ')}` : '';
}

/** Text for a table cell: no cell or tag may begin in it, code spans stay as they are. */
const cell = (text: string): string =>
  text
    .replaceAll('|', '\\|')
    .replaceAll('\n', ' ')
    .split('`')
    .map((part, at) => (at % 2 === 0 ? part.replaceAll('<', '\\<') : part))
    .join('`');
