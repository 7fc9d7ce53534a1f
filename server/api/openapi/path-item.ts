import { PERSON_FORBIDDEN, scopeOf } from '#server/kernel/capabilities.ts';
import { EXAMPLE_ID, type Fields } from '#server/kernel/descriptions.ts';
import { capabilitiesOf, sufficientSets } from '#server/kernel/needs.ts';
import { type AnyOperation, successesOf, takesIdempotencyKey } from '#server/kernel/operation.ts';
import { headerParameters, queryParameters } from '../input.ts';
import { headersOf } from './components.ts';
import { describedBy, descriptionsOf, meaningOf, tagOf } from './descriptions.ts';
import { exampleOf } from './example.ts';
import type { Json } from './json.ts';
import { schemaOf } from './json-schema.ts';
import { RATE_LIMIT, refusals } from './refusals.ts';

/** What a schema says of several of its members together. */
const RULES = ['minProperties', 'not', 'anyOf', 'oneOf', 'allOf'] as const;

/** What operations share: schemas with an id, and error responses. */
export type Shared = { schemas: Record<string, Json>; responses: Record<string, Json> };

/** One method of a path. What it shares with others is put into `shared`. */
export function describe(op: AnyOperation, method: string, path: string, { schemas: shared, responses }: Shared): Json {
  const { fields, examples, requests } = descriptionsOf(op);
  const input = schemaOf(op.input, 'input', fields, shared);
  const properties = (input.properties ?? {}) as Record<string, Json>;
  const required = new Set((input.required ?? []) as string[]);
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((m) => m[1] as string);
  const headers = headerParameters(op);
  const inQuery = method === 'GET' ? [] : queryParameters(op);
  const rest = Object.keys(properties).filter((p) => !inPath.includes(p) && !inQuery.includes(p) && !headers.some(([f]) => f === p));
  const parameters: Json[] = [
    ...inPath.map((name) => parameter(name, 'path', true, properties[name], fields)),
    ...headers.map(([field, name]) => parameter(name, 'header', required.has(field), properties[field], fields)),
    ...(method === 'GET' ? rest : inQuery).map((name) => parameter(name, 'query', required.has(name), properties[name], fields)),
    ...(takesIdempotencyKey(op) ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
    { $ref: '#/components/parameters/ServiceVersion' },
  ];
  const body: Json | undefined =
    method !== 'GET' && rest.length > 0
      ? {
          type: 'object',
          properties: Object.fromEntries(rest.map((r) => [r, properties[r]])),
          ...(rest.some((r) => required.has(r)) ? { required: rest.filter((r) => required.has(r)) } : {}),
          ...Object.fromEntries(RULES.flatMap((rule) => (input[rule] === undefined ? [] : [[rule, input[rule]]]))),
        }
      : undefined;
  const scopes = [...new Set(capabilitiesOf(op.needs).flatMap((c) => scopeOf(c) ?? []))];
  return {
    operationId: op.id,
    summary: op.summary,
    description: describedBy(op).description,
    tags: [tagOf(op)],
    parameters,
    ...(body
      ? {
          requestBody: {
            // A change needs at least one member, so it needs a body.
            required: input.minProperties !== undefined || rest.some((r) => required.has(r)),
            content: {
              'application/json': {
                schema: body,
                ...(requests?.[op.id] ? { examples: requests[op.id] } : { example: exampleOf(body, examples, shared, 'request') }),
              },
            },
          },
        }
      : {}),
    responses: { ...successes(op, shared), ...refusals(op, responses) },
    security: securityOf(op),
    ...(scopes.length > 0 ? { 'x-scopes': scopes } : {}),
    ...(typeof op.needs === 'string' ? {} : { 'x-capabilities': op.needs }),
    ...(sufficientSets(op.needs).every((set) => set.some((c) => PERSON_FORBIDDEN.has(c))) ? { 'x-machine-only': true } : {}),
  };
}

/** The credentials that may call an operation, each sufficient by itself; of a token the scopes, one entry per sufficient set. */
function securityOf({ needs, oauth_only }: AnyOperation): Json[] {
  if (needs === 'anonymous') return [];
  if (needs === 'client_token') return [{ clientToken: [] }];
  const sets = sufficientSets(needs).map((set) => [...new Set(set.flatMap((capability) => scopeOf(capability) ?? []))].sort());
  const distinct = [...new Map(sets.map((scopes) => [scopes.join(' '), scopes])).values()];
  return [...(oauth_only ? [] : [{ bearer: [] }, { apiKey: [] }]), ...distinct.map((scopes) => ({ oauth2: scopes }))];
}

/** A parameter; what is said of it stands with it and not in its schema, where tools look for it. */
function parameter(name: string, place: 'path' | 'header' | 'query', required: boolean, given: Json | undefined, fields: Fields): Json {
  const { description: _, ...schema } = given ?? { type: 'string' };
  const description = meaningOf(fields, name, place);
  const example = place === 'path' ? { example: name === 'env' ? 'production' : EXAMPLE_ID } : {};
  return { name, in: place, required, ...(description === undefined ? {} : { description }), schema, ...example };
}

const successes = (op: AnyOperation, shared: Record<string, Json>): Record<string, Json> =>
  Object.fromEntries(
    successesOf(op).map((status) => [
      status,
      {
        description: describedBy(op).success,
        headers: headersOf([
          'X-Request-Id',
          'Service-Version',
          ...(op.needs === 'anonymous' || op.needs === 'client_token' ? [] : RATE_LIMIT),
          ...(takesIdempotencyKey(op) ? ['X-Idempotent-Replay'] : []),
        ]),
        content: { [op.media ?? 'application/json']: { schema: envelopeSchema(op, shared), ...envelopeExample(op, shared) } },
      },
    ]),
  );

function envelopeExample(op: AnyOperation, shared: Record<string, Json>): Json {
  if (op.stream && !op.streams) return {};
  const { fields, examples } = descriptionsOf(op);
  const data = exampleOf(schemaOf(op.output, 'output', fields, shared), examples, shared, 'response');
  const page = op.list === 'feed' ? FEED_EXAMPLE : op.list ? PAGE_EXAMPLE : {};
  return { example: { data, meta: { ...page, request_id: EXAMPLE_ID } } };
}
const PAGE_EXAMPLE = { total: 1, page: 1, per_page: 20, total_pages: 1 };
const FEED_EXAMPLE = { next_cursor: 'eyJ2IjoxfQ', limit: 100, delivery: 'at_least_once', dedupe_on: 'id', watermark_seconds: 5 };

function envelopeSchema(op: AnyOperation, shared: Record<string, Json>): Json {
  if (op.stream && !op.streams) return { description: 'The document, without the response envelope.' };
  const meta = op.list === 'feed' ? 'FeedMeta' : op.list ? 'PageMeta' : 'Meta';
  return {
    type: 'object',
    required: ['data', 'meta'],
    properties: {
      data: schemaOf(op.output, 'output', descriptionsOf(op).fields, shared),
      meta: { $ref: `#/components/schemas/${meta}` },
      ...(op.advises ? { warning: { type: 'string', description: 'What to know about the change that was made.' } } : {}),
    },
  };
}
