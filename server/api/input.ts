import type { z } from 'zod';
import { BODY_SHAPE, formFields, parseBounded, parseKept, tooDeep } from '#server/kernel/bounded-text.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { IN_QUERY } from '#server/kernel/fields.ts';
import { jsonText, memberText } from '#server/kernel/json-text.ts';
import { sizeText } from '#server/kernel/numbers.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { asFields } from './free-json.ts';

export const BODY_LIMIT = 1024 * 1024;

/** The raw body, at most `limit` bytes. The front door counts too; this is for callers that come another way. */
export async function bodyOf(req: Request, limit = BODY_LIMIT): Promise<Uint8Array> {
  if (!req.body) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of req.body) {
      size += chunk.byteLength;
      if (size > limit) throw new Refusal('payload_too_large', `The request body must not exceed ${sizeText(limit)}.`);
      chunks.push(chunk);
    }
  } catch (error) {
    // A caller that hangs up is no fault of ours, and must not be able to fill the log with errors.
    throw error instanceof Refusal ? error : new Refusal('invalid_request', "The request body wasn't fully received.", { cause: error });
  }
  return Buffer.concat(chunks);
}

/** The parts of a request that fields come from; a `Request` has them. */
export type Asked = { url: string; headers: Pick<Headers, 'get'> };

/** Path parameters, query and body as one object for the operation's schema; path wins over query, query over body. */
export function mergedInput(op: AnyOperation, req: Asked, params: Record<string, string>, body: Uint8Array): Record<string, unknown> {
  const fields = op.http.startsWith('GET ') ? queryFields(new URL(req.url)) : bodyFields(op, req, body);
  // Into the same object: a copy of one with very many names takes as long as parsing it.
  return Object.assign(fields, namedQueryFields(op, req), headerFields(op, req), params);
}

function queryFields(url: URL): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [name, value] of url.searchParams) {
    if (Object.hasOwn(out, name)) throw new Refusal('validation_error', `${name}: must be given only once`);
    out[name] = value;
  }
  return out;
}

/** Fields that a call with a body has in its query: marked with `inQuery`. Nothing else is read from there. */
function namedQueryFields(op: AnyOperation, req: Asked): Record<string, unknown> {
  if (op.http.startsWith('GET ') || !req.url.includes('?')) return {};
  const names = queryParameters(op);
  if (names.length === 0) return {};
  const given = queryFields(new URL(req.url));
  return Object.fromEntries(names.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])));
}

/** The fields of a JSON body, as the schema takes them. @throws Refusal validation_error, unsupported_media_type */
export function bodyFields(op: Pick<AnyOperation, 'body' | 'input'>, req: Asked, body: Uint8Array): Record<string, unknown> {
  if (req.headers.get('content-encoding') && req.headers.get('content-encoding') !== 'identity')
    throw new Refusal('unsupported_media_type', "Compressed request bodies aren't supported.");
  if (body.byteLength === 0) return {};
  const type = req.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') throw new Refusal('unsupported_media_type', 'Send the body as application/json.');
  const fields = asFields(op, parsedObject(body, parseShaped(op.body?.source))) as Record<string, unknown>;
  return op.body?.source ? withSource(fields, op.body.source, body) : fields;
}

/** The fields with these as the text that was sent. */
function withSource(fields: Record<string, unknown>, names: readonly string[], body: Uint8Array): Record<string, unknown> {
  const text = utf8.decode(body);
  for (const name of names) if (Object.hasOwn(fields, name)) fields[name] = jsonText(memberText(text, name) ?? 'null');
  return fields;
}

/** A JSON object of depth <= 72 and 50,000 values in UTF-8; the names that reach prototypes are dropped (interface rule 01 §9). */
export const parseJsonObject = (body: Uint8Array): Record<string, unknown> =>
  shallow(parsedObject(body, parseBounded)) as Record<string, unknown>;

const parseShaped = (texts?: readonly string[]) => (text: string) => parseKept(text, BODY_SHAPE, texts);

/** The fields of a form, in UTF-8. @throws Refusal validation_error, payload_too_large */
export const formOf = async (req: Request, limit: number): Promise<URLSearchParams> =>
  formFields(new TextDecoder().decode(await bodyOf(req, limit)));

function parsedObject(body: Uint8Array, parse: (text: string) => unknown): Record<string, unknown> {
  let value: unknown;
  try {
    value = parse(utf8.decode(body));
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal('validation_error', 'The request body must be valid JSON in UTF-8.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Refusal('validation_error', 'The request body must be a JSON object.');
  return value as Record<string, unknown>;
}

/**
 * The value itself without the names that reach prototypes, unless it is nested so deep that walking it could exhaust the stack. One walk over what the
 * engine has parsed: a reviver takes fifty times as long, and anybody may send a megabyte. @throws Refusal validation_error
 */
export function shallow(value: unknown): unknown {
  if (deeperThan(value, BODY_SHAPE.levels)) throw tooDeep(BODY_SHAPE.levels);
  return value;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

const PROTOTYPE_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

function deeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const one of value) if (deeperThan(one, levels - 1)) return true;
    return false;
  }
  const object = value as Record<string, unknown>;
  for (const name of Object.keys(object)) {
    if (PROTOTYPE_NAMES.has(name)) delete object[name];
    else if (deeperThan(object[name], levels - 1)) return true;
  }
  return false;
}

/** Fields that travel as headers on REST: marked `.meta({ 'x-header': 'If-Match' })`. */
function headerFields(op: AnyOperation, req: Asked): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [field, header] of headerParameters(op)) {
    const value = req.headers.get(header);
    if (value !== null) out[field] = value;
  }
  return out;
}

/** Names told of at most. */
const TOLD = 5;
/** Among the first ignored ones: a body may have tens of thousands. */
const LOOKED_AT = 1_000;
/** Words, as fields are called. A name may be anything a caller sent, a key or a password too, and answers are logged by those who read them. */
const FIELD_NAME = /^[A-Za-z]{1,24}(?:_[A-Za-z]{1,24}){0,4}_?\d{0,2}$/;

/**
 * One sentence for meta.warnings on what was sent and is no field of the call, or none. Such fields are ignored (interface rule 01 §9), and a filter or
 * setting that was misspelt would otherwise be believed to hold. A name that does not look like that of a field is counted and not repeated.
 */
export function ignoredFields(op: Pick<AnyOperation, 'input'>, fields: Record<string, unknown>): string | undefined {
  const { shape } = op.input as { shape?: Record<string, z.ZodType> };
  if (!shape) return undefined;
  const told: string[] = [];
  let ignored = 0;
  for (const name in fields) {
    if (!Object.hasOwn(fields, name) || Object.hasOwn(shape, name)) continue;
    if (++ignored <= LOOKED_AT && told.length < TOLD && FIELD_NAME.test(name)) told.push(name);
  }
  if (ignored === 0) return undefined;
  const more = ignored - told.length;
  if (told.length === 0)
    return more === 1
      ? "Ignored an unknown field whose name isn't repeated here."
      : `Ignored ${more} unknown fields whose names aren't repeated here.`;
  return `Ignored unknown ${ignored === 1 ? 'field' : 'fields'}: ${told.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`;
}

/** Fields that travel as headers, with their names there. */
export const headerParameters = (op: AnyOperation): readonly [field: string, header: string][] => placesOf(op.input).headers;
/** Names of the fields that a call with a body has in its query. */
export const queryParameters = (op: AnyOperation): readonly string[] => placesOf(op.input).query;

type Places = { headers: readonly [field: string, header: string][]; query: readonly string[] };
/** Every call asks, and a schema never changes. */
const places = new WeakMap<z.ZodType, Places>();

function placesOf(input: z.ZodType): Places {
  const known = places.get(input);
  if (known) return known;
  const fields = Object.entries((input as { shape?: Record<string, z.ZodType> }).shape ?? {});
  const found: Places = {
    headers: fields.flatMap(([field, schema]) => {
      const header = schema.meta()?.['x-header'];
      return typeof header === 'string' ? [[field, header] as [string, string]] : [];
    }),
    query: fields.filter(([, schema]) => schema.meta()?.[IN_QUERY]).map(([field]) => field),
  };
  places.set(input, found);
  return found;
}
