import type { z } from 'zod';

/** One place inside an operation's input that takes a text. `*` is an element of a list, `{}` a name and `{v}` a value of a record. */
export type Place = { path: readonly string[]; label: string; schema: z.ZodType };

// biome-ignore lint/suspicious/noExplicitAny: a walk over schemas of every kind
type Def = any;
const defOf = (schema: z.ZodType): Def => schema._zod.def;

const WRAPPERS: ReadonlySet<string> = new Set(['optional', 'nullable', 'default', 'prefault', 'nonoptional', 'readonly', 'catch']);

/** Every place of a schema that takes a text, however deep; free-form JSON counts as one place. */
export function textPlaces(schema: z.ZodType, path: readonly string[] = []): Place[] {
  if (path.length > 8) return [];
  const def = defOf(schema);
  const here = (): Place[] => [{ path, label: path.join('.') || '(body)', schema }];
  if (WRAPPERS.has(def.type)) return textPlaces(def.innerType, path);
  switch (def.type) {
    case 'string':
    case 'enum':
    case 'unknown':
    case 'any':
      return here();
    case 'lazy':
      return here(); // z.json(): any JSON value
    case 'pipe':
      return textPlaces(def.in, path);
    case 'object':
      return Object.entries(def.shape as Record<string, z.ZodType>).flatMap(([name, field]) => textPlaces(field, [...path, name]));
    case 'array':
      return textPlaces(def.element, [...path, '*']);
    case 'record':
      return [
        { path: [...path, '{}'], label: [...path, '{}'].join('.'), schema: def.keyType },
        ...textPlaces(def.valueType, [...path, '{v}']),
      ];
    case 'union':
      return unique((def.options as z.ZodType[]).flatMap((option) => textPlaces(option, path)));
    default:
      return [];
  }
}

const unique = (places: Place[]) => [...new Map(places.map((place) => [place.label, place])).values()];

/** A copy of the input with the text at the place; what must stand beside it, so that the text itself is judged, is made up from the schema. */
export function withTextAt(schema: z.ZodType, input: unknown, path: readonly string[], text: string): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return text;
  const def = optionWith(schema, step);
  if (step === '*') return [withTextAt(def.element, undefined, rest, text)];
  if (step === '{}') return withMember({}, text, minimal(def.valueType));
  if (step === '{v}') return { 'x-planted': withTextAt(def.valueType, undefined, rest, text) };
  const from = (typeof input === 'object' && input !== null ? input : (minimal(schema) ?? {})) as Record<string, unknown>;
  return withMember(from, step, withTextAt(def.shape[step], from[step], rest, text));
}

/** What stands at a place of an answer; undefined when the answer has no such place. */
export function valueAt(answer: unknown, path: readonly string[], text: string): unknown {
  let value = answer;
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (step === '{}') return Object.keys(value).find((name) => name === text);
    value = (value as Record<string, unknown>)[step === '*' ? '0' : step === '{v}' ? 'x-planted' : step];
  }
  return value;
}

/** An own member, also when it is called `__proto__`. */
function withMember(from: Record<string, unknown>, name: string, value: unknown): Record<string, unknown> {
  return Object.defineProperty({ ...from }, name, { value, enumerable: true, configurable: true, writable: true });
}

/** The definition below wrappers, and of a union the option that has the next step. */
function optionWith(schema: z.ZodType, step: string): Def {
  const def = defOf(schema);
  if (WRAPPERS.has(def.type)) return optionWith(def.innerType, step);
  if (def.type === 'pipe') return optionWith(def.in, step);
  if (def.type !== 'union') return def;
  const wanted = step === '*' ? 'array' : step.startsWith('{') ? 'record' : 'object';
  const options = (def.options as z.ZodType[]).map((option) => optionWith(option, step));
  return options.find((option) => option.type === wanted && (wanted !== 'object' || step in option.shape)) ?? def;
}

/** The least that a schema accepts, nearly: enough to get past the neighbours of a planted text. */
function minimal(schema: z.ZodType): unknown {
  const def = defOf(schema);
  switch (def.type) {
    case 'optional':
    case 'default':
    case 'prefault':
      return undefined;
    case 'nullable':
      return null;
    case 'pipe':
      return minimal(def.in);
    case 'union':
      return minimal(def.options[0]);
    case 'enum':
      return Object.values(def.entries)[0];
    case 'object':
      return Object.fromEntries(
        Object.entries(def.shape as Record<string, z.ZodType>)
          .map(([name, field]) => [name, minimal(field)])
          .filter(([, value]) => value !== undefined),
      );
    case 'array':
      return [];
    case 'record':
      return {};
    case 'number':
      return 1;
    case 'boolean':
      return true;
    default:
      return 'POST'; // a method where one is wanted, a plain word elsewhere
  }
}
