import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { PERSON_FORBIDDEN, scopeOf } from '#server/kernel/capabilities.ts';
import { ERROR_STATUS, type ErrorType } from '#server/kernel/errors.ts';
import { type AnyOperation, successesOf } from '#server/kernel/operation.ts';
import { headerParameters } from './input.ts';
import { v1Operations } from './operations.ts';
import { NEWEST } from './versions.ts';

type Json = Record<string, unknown>;

/** public/openapi.json to the byte. The server is relative: the host the document came from, Live or Test. */
export const openApiText = (): string =>
  `${JSON.stringify(openApiDocument([{ url: '/v1', description: 'The host this document came from: the Live or the Test API' }]), null, 1)}\n`;

/** The OpenAPI 3.1 description of the Management API, made from the operation rows alone. */
export function openApiDocument(servers: { url: string; description: string }[]): Json {
  const paths: Record<string, Json> = {};
  const shared: Record<string, Json> = {};
  for (const op of v1Operations) {
    const [method, path] = op.http.split(' ') as [string, string];
    paths[path] = { ...paths[path], [method.toLowerCase()]: describe(op, method, path, shared) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sallyport Management API',
      version: NEWEST,
      description:
        'Routes, secrets, clients, environments and everything else a workspace is made of. Every answer carries X-Request-Id; branch on error.type.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers,
    tags: [...new Set(v1Operations.map(tagOf))].map((name) => ({ name })),
    paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => a.localeCompare(b))),
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key (tk_live_, tk_test_, AKE) or an OAuth access token.' },
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'An API key.' },
      },
      parameters: {
        ServiceVersion: {
          name: 'Service-Version',
          in: 'header',
          required: false,
          schema: { type: 'string', format: 'date', examples: [NEWEST] },
          description: 'Dated minor version; left out means the newest.',
        },
        IdempotencyKey: {
          name: 'Idempotency-Key',
          in: 'header',
          required: false,
          schema: { type: 'string', minLength: 1, maxLength: 255 },
          description: 'Repeating a call with the same key replays the first answer byte for byte for 24 hours.',
        },
      },
      schemas: {
        ...Object.fromEntries(Object.entries(shared).sort(([a], [b]) => a.localeCompare(b))),
        Error: {
          type: 'object',
          required: ['error'],
          properties: {
            error: {
              type: 'object',
              required: ['type', 'message', 'request_id'],
              properties: {
                type: { type: 'string', examples: ['validation_error'] },
                message: { type: 'string' },
                request_id: { type: 'string', format: 'uuid' },
              },
            },
          },
        },
        PageMeta: {
          type: 'object',
          required: ['total', 'page', 'per_page', 'total_pages', 'request_id'],
          properties: {
            total: { type: 'integer' },
            page: { type: 'integer' },
            per_page: { type: 'integer' },
            total_pages: { type: 'integer' },
            request_id: { type: 'string', format: 'uuid' },
            warnings: { type: 'array', items: { type: 'string' } },
          },
        },
        Meta: {
          type: 'object',
          required: ['request_id'],
          properties: { request_id: { type: 'string', format: 'uuid' }, warnings: { type: 'array', items: { type: 'string' } } },
        },
        FeedMeta: {
          type: 'object',
          required: ['next_cursor', 'limit', 'delivery', 'dedupe_on', 'watermark_seconds', 'request_id'],
          properties: {
            next_cursor: { type: ['string', 'null'] },
            limit: { type: 'integer' },
            delivery: { type: 'string', const: 'at_least_once' },
            dedupe_on: { type: 'string' },
            watermark_seconds: { type: 'integer' },
            request_id: { type: 'string', format: 'uuid' },
          },
        },
      },
    },
  };
}

const tagOf = (op: AnyOperation) => {
  const family = op.id.split('.')[0] ?? op.id;
  return family
    .split('_')
    .map((w, i) => (i === 0 ? w[0]?.toUpperCase() + w.slice(1) : w))
    .join(' ');
};

function describe(op: AnyOperation, method: string, path: string, shared: Record<string, Json>): Json {
  const input = schemaOf(op.input, 'input', shared);
  const properties = (input.properties ?? {}) as Record<string, Json>;
  const required = new Set((input.required ?? []) as string[]);
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((m) => m[1] as string);
  const headers = headerParameters(op);
  const rest = Object.keys(properties).filter((p) => !inPath.includes(p) && !headers.some(([f]) => f === p));
  const parameters: Json[] = [
    ...inPath.map((name) => ({ name, in: 'path', required: true, schema: properties[name] ?? { type: 'string' } })),
    ...headers.map(([field, name]) => ({
      name,
      in: 'header',
      required: required.has(field),
      schema: properties[field] ?? { type: 'string' },
    })),
    ...(method === 'GET'
      ? rest.map((name) => ({ name, in: 'query', required: required.has(name), schema: properties[name] }))
      : [{ $ref: '#/components/parameters/IdempotencyKey' }]),
    { $ref: '#/components/parameters/ServiceVersion' },
  ];
  const body = method !== 'GET' && rest.length > 0;
  const scopes = op.needs === 'any' || op.needs === 'anonymous' ? [] : [...new Set(op.needs.flatMap((c) => scopeOf(c) ?? []))];
  return {
    operationId: op.id,
    summary: op.summary,
    tags: [tagOf(op)],
    parameters: op.needs === 'anonymous' ? parameters.filter((p) => p.$ref !== '#/components/parameters/IdempotencyKey') : parameters,
    ...(body
      ? {
          requestBody: {
            required: rest.some((r) => required.has(r)),
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  properties: Object.fromEntries(rest.map((r) => [r, properties[r]])),
                  ...(rest.some((r) => required.has(r)) ? { required: rest.filter((r) => required.has(r)) } : {}),
                },
              },
            },
          },
        }
      : {}),
    responses: { ...successes(op, shared), ...refusals(op) },
    security: op.needs === 'anonymous' ? [] : [{ bearer: [] }, { apiKey: [] }],
    ...(scopes.length > 0 ? { 'x-scopes': scopes } : {}),
    ...(op.needs === 'any' || op.needs === 'anonymous' ? {} : { 'x-capabilities': op.needs }),
    ...(Array.isArray(op.needs) && op.needs.some((c) => PERSON_FORBIDDEN.has(c)) ? { 'x-machine-only': true } : {}),
  };
}

const successes = (op: AnyOperation, shared: Record<string, Json>): Record<string, Json> =>
  Object.fromEntries(
    successesOf(op).map((status) => [
      status,
      { description: 'Success', content: { 'application/json': { schema: envelopeSchema(op, shared) } } },
    ]),
  );

function envelopeSchema(op: AnyOperation, shared: Record<string, Json>): Json {
  if (op.stream) return { description: 'The document itself, without an envelope.' };
  const meta = op.list === 'feed' ? 'FeedMeta' : op.list ? 'PageMeta' : 'Meta';
  return {
    type: 'object',
    required: ['data', 'meta'],
    properties: { data: schemaOf(op.output, 'output', shared), meta: { $ref: `#/components/schemas/${meta}` } },
  };
}

/** Every error type an operation can answer, grouped by status. */
export function errorTypesOf(op: AnyOperation): ErrorType[] {
  const pipeline: ErrorType[] = [
    'validation_error',
    'invalid_api_version',
    'rate_limit_exceeded',
    'internal_error',
    'dependency_unavailable',
  ];
  const authenticated: ErrorType[] = [
    'authentication_required',
    'invalid_api_key',
    'wrong_key_type',
    'forbidden',
    'subscription_inactive',
    'use_oauth',
    'invalid_request',
  ];
  const mutating: ErrorType[] = [
    'invalid_idempotency_key',
    'request_in_progress',
    'idempotency_key_reuse',
    'payload_too_large',
    'unsupported_media_type',
    'tenant_sealed',
  ];
  return [
    ...new Set([
      ...op.refuses,
      ...pipeline,
      ...(op.needs === 'anonymous' ? [] : authenticated),
      ...(op.http.startsWith('GET ') ? [] : mutating),
    ]),
  ];
}

function refusals(op: AnyOperation): Record<string, Json> {
  const byStatus = new Map<number, ErrorType[]>();
  for (const type of errorTypesOf(op)) {
    const status = type === 'plan_limit' && /^(clients|environments)\./.test(op.id) ? 403 : ERROR_STATUS[type];
    byStatus.set(status, [...(byStatus.get(status) ?? []), type]);
  }
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, types]) => [
        status,
        { description: types.sort().join(', '), content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } },
      ]),
  );
}

/**
 * JSON Schema 2020-12 of one side of a zod schema. Schemas with an id become shared components; outputs stay open for additive fields.
 */
function schemaOf(schema: z.ZodType, io: 'input' | 'output', shared: Record<string, Json>): Json {
  const {
    $schema: _,
    $defs,
    ...json
  } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    target: 'draft-2020-12',
    override: ({ jsonSchema }) => {
      delete jsonSchema.additionalProperties;
      delete jsonSchema.id;
      // Fields that are there to be refused (material of another secret type) are nothing a caller can send.
      for (const [name, field] of Object.entries(jsonSchema.properties ?? {}))
        if (typeof field === 'object' && isDeepStrictEqual(field.not, {})) delete jsonSchema.properties?.[name];
    },
  }) as Json;
  Object.assign(shared, pointAtComponents($defs ?? {}));
  return pointAtComponents(json) as Json;
}

const pointAtComponents = (json: unknown) => JSON.parse(JSON.stringify(json).replaceAll('"#/$defs/', '"#/components/schemas/'));
