import { PERSON_FORBIDDEN, scopeOf } from '#server/kernel/capabilities.ts';
import { type AnyOperation, successesOf } from '#server/kernel/operation.ts';
import { headerParameters } from '../input.ts';
import { type Json, schemaOf } from './json-schema.ts';
import { refusals } from './refusals.ts';

export const tagOf = (op: AnyOperation) => {
  const family = op.id.split('.')[0] ?? op.id;
  return family
    .split('_')
    .map((w, i) => (i === 0 ? w[0]?.toUpperCase() + w.slice(1) : w))
    .join(' ');
};

/** One method of a path. Schemas with an id are put into `shared`. */
export function describe(op: AnyOperation, method: string, path: string, shared: Record<string, Json>): Json {
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
