import type { Needs } from '#server/domain/roles/matrix.shared.ts';
import { parseExact } from '#server/kernel/lossless-json.ts';

/** What the explorer reads of a JSON Schema of our OpenAPI document. */
export type Schema = {
  $ref?: string;
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  examples?: unknown[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  'x-secret'?: boolean;
  'x-needed-without'?: string;
  'x-shown-once'?: boolean;
};
type Parameter = { $ref?: string; name: string; in: 'path' | 'query' | 'header'; required?: boolean; schema: Schema; description?: string };
type Response = { $ref?: string; description: string; content?: { 'application/json'?: { schema: Schema } } };
type Described = {
  operationId: string;
  summary: string;
  tags: string[];
  parameters?: Parameter[];
  requestBody?: { content: { 'application/json': { schema: Schema } } };
  responses: Record<string, Response>;
  security: unknown[];
  'x-scopes'?: string[];
  'x-capabilities'?: Needs;
  'x-machine-only'?: boolean;
};
export type ApiDocument = {
  info: { version: string };
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, Schema>; parameters: Record<string, Parameter>; responses: Record<string, Response> };
};

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
export type ApiField = { name: string; required: boolean; schema: Schema };
export type ApiOperation = {
  id: string;
  tag: string;
  summary: string;
  method: Method;
  path: string;
  inPath: ApiField[];
  inQuery: ApiField[];
  inHeader: ApiField[];
  inBody: ApiField[];
  scopes: readonly string[];
  /** Capabilities the caller must hold: all of a list, or a combination. */
  needs: Needs;
  /** Why a person cannot make this call here; undefined when they can. */
  machineOnly: string | undefined;
  responses: readonly [status: string, description: string][];
  /** Members of its answer that no later call shows again. */
  shownOnce: readonly string[];
};

const ORDER: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** The operations of the document in its order of families; reads before changes. */
export function operationsOf(document: ApiDocument): ApiOperation[] {
  return Object.entries(document.paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, op]) => describe(document, path, method.toUpperCase() as Method, op)),
    )
    .sort((a, b) => a.tag.localeCompare(b.tag) || a.path.localeCompare(b.path) || ORDER.indexOf(a.method) - ORDER.indexOf(b.method));
}

function describe(document: ApiDocument, path: string, method: Method, op: Described): ApiOperation {
  const parameters = (op.parameters ?? []).map((p) => (p.$ref ? (document.components.parameters[p.$ref.split('/').at(-1) ?? ''] ?? p) : p));
  const within = (place: Parameter['in']): ApiField[] =>
    parameters
      .filter((p) => p.in === place)
      .map(({ name, required = false, description, schema }) => ({
        name,
        required,
        schema: { ...(description === undefined ? {} : { description }), ...resolved(document, schema) },
      }));
  const body = op.requestBody ? resolved(document, op.requestBody.content['application/json'].schema) : undefined;
  const responses = Object.entries(op.responses).map(
    ([status, one]) => [status, one.$ref ? (document.components.responses[one.$ref.split('/').at(-1) ?? ''] ?? one) : one] as const,
  );
  return {
    id: op.operationId,
    tag: op.tags[0] ?? 'Other',
    summary: op.summary,
    method,
    path,
    inPath: within('path'),
    inQuery: within('query'),
    inHeader: within('header'),
    inBody: Object.entries(body?.properties ?? {})
      .map(([name, schema]) => ({ name, required: body?.required?.includes(name) ?? false, schema: resolved(document, schema) }))
      .sort((a, b) => Number(b.required) - Number(a.required)),
    scopes: op['x-scopes'] ?? [],
    needs: op['x-capabilities'] ?? [],
    machineOnly: op['x-machine-only']
      ? 'This returns plaintext or signs data, so it needs a machine credential. Use the code below with one.'
      : op.security.length === 0
        ? 'This is for callers without an account, so you can’t try it while signed in. Use the code below.'
        : undefined,
    responses: responses.map(([status, { description }]) => [status, description]),
    shownOnce: [...new Set(responses.flatMap(([, { content }]) => shownOnceIn(document, content?.['application/json']?.schema)))],
  };
}

/** Names of members that are marked so, wherever in the answer they stand. */
function shownOnceIn(document: ApiDocument, node: unknown, seen = new Set<string>()): string[] {
  if (typeof node !== 'object' || node === null) return [];
  const { $ref, properties } = node as Schema;
  if ($ref) {
    if (seen.has($ref)) return [];
    return shownOnceIn(document, resolved(document, { $ref }), new Set([...seen, $ref]));
  }
  const own = Object.entries(properties ?? {}).flatMap(([name, schema]) => (schema['x-shown-once'] ? [name] : []));
  return [...own, ...Object.values(node).flatMap((child) => shownOnceIn(document, child, seen))];
}

function resolved(document: ApiDocument, schema: Schema): Schema {
  const name = schema.$ref?.split('/').at(-1);
  return name ? (document.components.schemas[name] ?? {}) : schema;
}

/** The schema without its "or null", and whether it had one. */
export function withoutNull(schema: Schema): { schema: Schema; nullable: boolean } {
  const options = schema.anyOf?.filter((one) => one.type !== 'null');
  if (options && options.length < (schema.anyOf?.length ?? 0))
    return {
      schema: options.length === 1 ? { ...schema, anyOf: undefined as never, ...options[0] } : { ...schema, anyOf: options },
      nullable: true,
    };
  if (Array.isArray(schema.type))
    return { schema: { ...schema, type: schema.type.find((t) => t !== 'null') ?? 'string' }, nullable: schema.type.includes('null') };
  return { schema, nullable: false };
}

/** How a field is best edited. */
export type FieldKind = 'text' | 'secret' | 'number' | 'flag' | 'choice' | 'words' | 'json';
/** Which field a value of a schema is typed into. */
export function kindOf(given: Schema): FieldKind {
  const { schema } = withoutNull(given);
  if (schema['x-secret']) return 'secret';
  if (schema.enum) return 'choice';
  // "true or 1": a query flag is a union of a boolean and its spellings.
  if (schema.type === 'boolean' || schema.anyOf?.some((one) => one.type === 'boolean')) return 'flag';
  if (schema.type === 'integer' || schema.type === 'number' || schema.anyOf?.some((one) => one.type === 'number' || one.type === 'integer'))
    return 'number';
  if (schema.type === 'array' && withoutNull(schema.items ?? {}).schema.type === 'string') return 'words';
  if (schema.type === 'string' || schema.anyOf?.every((one) => one.type === 'string')) return 'text';
  return 'json';
}

/** What a field's text means in a body; undefined for an empty one. @throws SyntaxError for a JSON field that is none */
export function meaningOf(schema: Schema, text: string): unknown {
  if (text === '') return undefined;
  switch (kindOf(schema)) {
    case 'number':
      return Number.isNaN(Number(text)) ? text : Number(text);
    case 'flag':
      return text === 'true';
    case 'words':
      return text
        .split(',')
        .map((word) => word.trim())
        .filter(Boolean);
    case 'json':
      return parseExact(text);
    default:
      return text;
  }
}
