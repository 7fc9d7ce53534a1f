import { z } from 'zod';
import './zod-messages.ts';

/**
 * Field kinds shared by every schema: validation, description and example in one place.
 * `secret()` marks write-only material: it drives log redaction, the OpenAPI extension and the "never in an answer" test.
 */
const NO_CONTROLS = /^[^\u0000-\u001f\u007f]*$/;
const LABEL = /^[^\s\u0000-\u001f\u007f][^\u0000-\u001f\u007f]*$/;
const NO_CONTROLS_BUT_LINES = /^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]*$/;

/** A trimmed one-line label of 1..max characters without control characters. */
export const label = (max: number) => z.string().trim().min(1).max(max).regex(LABEL, 'must not contain control characters');

/** A label that may be missing: an empty one is stored as null. */
export const optionalLabel = (max: number) =>
  z
    .string()
    .trim()
    .max(max)
    .regex(NO_CONTROLS, 'must not contain control characters')
    .transform((given) => (given === '' ? null : given))
    .nullable();

/** Free text with line breaks, up to max characters; null clears it. */
export const text = (max: number) => z.string().max(max).regex(NO_CONTROLS_BUT_LINES, 'must not contain control characters').nullable();

export const color = () =>
  z
    .string()
    .regex(/^#[0-9a-fA-F]{6}$/, 'must be a color such as #6366f1')
    .transform((c) => c.toLowerCase());

/** In years 1 to 9999 of UTC: PostgreSQL knows no year 0, and an answer beyond 9999 would not be ISO 8601 as we promise it. */
export const isoTime = () =>
  z.iso.datetime({ offset: true }).refine((text) => {
    const at = Date.parse(text);
    return at >= FIRST_INSTANT && at <= LAST_INSTANT;
  }, 'must be between the years 1 and 9999');
const FIRST_INSTANT = Date.parse('0001-01-01T00:00:00Z');
const LAST_INSTANT = Date.parse('9999-12-31T23:59:59.999Z');

/** Output timestamps: a Date from the database or an ISO string, always sent as ISO 8601 with milliseconds. */
export const time = () =>
  z
    .union([z.date(), z.string()])
    .transform((v) => (v instanceof Date ? v : new Date(v)).toISOString())
    .pipe(z.string())
    .meta({ type: 'string', format: 'date-time' });

/** Any 8-4-4-4-12 hex digits, as the format `uuid` of JSON Schema means it. */
export const uuid = () => z.guid().transform((v) => v.toLowerCase());

/** A true/false/1/0 query flag, or a boolean from tRPC. */
export const flag = () =>
  z.union([z.boolean(), z.enum(['true', 'false', '1', '0']).transform((v) => v === 'true' || v === '1')]).meta({ type: 'boolean' });

/** A whole number in a query string or from tRPC. */
export const queryInt = (min: number, max: number) =>
  z
    .union([
      z.number(),
      z
        .string()
        .regex(/^[+-]?\d{1,15}$/)
        .transform(Number),
    ])
    .pipe(z.number().int().min(min).max(max))
    .meta({ type: 'integer', minimum: min, maximum: max });

/** A number that a column of this scale keeps as it is: `z.number().refine(...atMostDecimals(6))`. */
export const atMostDecimals = (places: number): [fits: (given: number) => boolean, message: string] => [
  (given) => Number(given.toFixed(places)) === given,
  places === 0 ? 'must be a whole number' : `must have at most ${places} decimals`,
];

/** Marks a field that a call with a body reads from its query: `POST …/decrypt?format=utf8`. */
export const inQuery = <T extends z.ZodType>(schema: T): T => schema.meta({ ...schema.meta(), [IN_QUERY]: true }) as T;
export const IN_QUERY = 'x-query';

/**
 * Marks a member of an input that no table ever holds, such as data to encrypt: it may have NUL in it, which PostgreSQL's text may not. Outermost, after
 * `optional()`.
 */
export function unstored<T extends z.ZodType>(schema: T): T {
  UNSTORED.add(schema);
  return schema;
}
const UNSTORED = new WeakSet<z.ZodType>();
export const isUnstored = (schema: z.ZodType | undefined): boolean => schema !== undefined && UNSTORED.has(schema);

/** Marks a schema as carrying secret material (input only). */
export function secret<T extends z.ZodType>(schema: T): T {
  return schema.meta({ ...schema.meta(), writeOnly: true, 'x-secret': true }) as T;
}

/** An optional field that is needed all the same unless `other` is given: terminals ask for it then. */
export const neededWithout = <T extends z.ZodType>(other: string, schema: T) =>
  schema.optional().meta({ ...schema.meta(), 'x-needed-without': other });

/** Marks an output field that carries a secret exactly once (a new key, a private key). */
export function shownOnce<T extends z.ZodType>(schema: T): T {
  return schema.meta({ ...schema.meta(), 'x-shown-once': true }) as T;
}

/** At least one known field must be present in a PATCH body (interface rule 01 §9). */
export const atLeastOne = <T extends z.ZodObject>(schema: T, except: readonly string[] = ['id']) =>
  schema
    .refine((v) => Object.keys(v).some((k) => !except.includes(k) && (v as Record<string, unknown>)[k] !== undefined), {
      message: 'no valid fields',
      path: ['body'],
    })
    .meta({ minProperties: 1 });

/** At most one of these fields is given; adds the rule to the schema's JSON Schema as well. */
export const atMostOne = <T extends z.ZodObject>(schema: T, fields: readonly string[]) =>
  schema
    .refine((v) => fields.filter((name) => (v as Record<string, unknown>)[name] !== undefined).length <= 1, {
      message: `send at most one of ${fields.join(', ')}`,
      path: ['body'],
    })
    .meta({
      ...schema.meta(),
      not: { anyOf: pairsOf(fields).map((pair) => ({ properties: Object.fromEntries(pair.map((name) => [name, {}])), required: pair })) },
    });

const pairsOf = (names: readonly string[]) => names.flatMap((a, i) => names.slice(i + 1).map((b) => [a, b]));

/** The base URL of an upstream, perhaps with placeholders; the service judges its host (interface rule 12 §9). */
export const baseUrl = () =>
  z
    .string()
    .trim()
    .min(1)
    .max(2048)
    .meta({ pattern: '^(?:https?://|\\{\\{)[\\x21-\\x7e]+$', examples: ['https://api.example.com/v1'] });

/** A path parameter: any text of any length; a value that names nothing is simply not found (interface rule 01 §3.7). */
export const pathId = () => z.string();

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
export const isUuid = (value: string) => UUID.test(value);

/** What every delete answers (interface rule 00, Common conventions). */
export const Deleted = z.object({ deleted: z.literal(true) }).meta({ id: 'Deleted' });
