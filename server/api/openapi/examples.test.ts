import assert from 'node:assert/strict';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import { canonicalAddress } from '#server/kernel/address.ts';
import { takesIdempotencyKey } from '#server/kernel/operation.ts';
import { v1Operations } from '../operations.ts';
import { descriptionsOf } from './descriptions.ts';
import { openApiText } from './document.ts';
import { errorTypesOf } from './refusals.ts';

type Media = { schema: object; example?: unknown; examples?: Record<string, { summary: string; value: unknown }> };
type Response = { $ref?: string; description: string; headers: Record<string, object>; content: { 'application/json': Media } };
type Described = {
  operationId: string;
  summary: string;
  description: string;
  requestBody?: { content: { 'application/json': Media } };
  responses: Record<string, Response>;
};
const document = JSON.parse(openApiText()) as {
  paths: Record<string, Record<string, Described>>;
  components: { responses: Record<string, Response>; schemas: Record<string, object> };
};
const described = Object.values(document.paths).flatMap((methods) => Object.values(methods));
const deref = (response: Response): Response =>
  response.$ref ? (document.components.responses[response.$ref.split('/').at(-1) as string] as Response) : response;

// biome-ignore lint/suspicious/noExplicitAny: the module's default export is typed as a namespace under bundler resolution
const addFormats = addFormatsModule as any;
// Most schemas judge one example: to optimise their code costs more than it brings.
const ajv = new Ajv2020({ strict: false, allErrors: true, code: { optimize: false } });
addFormats(ajv);
ajv.addFormat('ip-or-cidr', (text: string) => canonicalAddress(text).ok);
// Compiled once, for every schema that refers to them.
ajv.addSchema({ $id: 'openapi:', components: document.components });
const absolute = (schema: object) => JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"openapi:#/'));

test('every operation says what it does and what it answers, and no description is left over', () => {
  for (const { operationId, summary, description, responses } of described) {
    assert.ok(description.endsWith('.') && description !== summary, operationId);
    for (const [status, one] of Object.entries(responses))
      assert.match(deref(one).description, /^(?!Success|OK).{8,}\.$/, `${operationId} ${status}`);
  }
  const ids = described.map(({ operationId }) => operationId);
  assert.equal(new Set(ids).size, ids.length);
  const written = new Set(v1Operations.flatMap((op) => Object.keys(descriptionsOf(op).operations)));
  assert.deepEqual(
    [...written].filter((id) => !ids.includes(id)),
    [],
  );
});

test('every example of a request or response is valid against its schema', () => {
  const checked = new Set<string>(); // refusals are the same everywhere
  const check = (where: string, { schema, example, examples = {} }: Media) => {
    const all = example === undefined ? Object.values(examples).map(({ value }) => value) : [example];
    assert.ok(all.length > 0, `${where} has no example`);
    const text = JSON.stringify({ schema, all });
    if (checked.has(text)) return;
    checked.add(text);
    const fits = ajv.compile(absolute(schema));
    for (const one of all) assert.ok(fits(one), `${where}: ${ajv.errorsText(fits.errors)}\n${JSON.stringify(one)}`);
  };
  for (const { operationId, requestBody, responses } of described) {
    if (requestBody) check(`${operationId} request`, requestBody.content['application/json']);
    for (const [status, one] of Object.entries(responses))
      if (deref(one).content['application/json'] && (operationId !== 'openapi.get' || Number(status) >= 400))
        check(`${operationId} ${status}`, deref(one).content['application/json']);
  }
});

test('secrets in examples are obviously none', () => {
  const marked = ['api_key', 'value', 'claim_handle', 'secret', 'password'];
  const look = (node: unknown, where: string): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [name, value] of Object.entries(node)) {
      if (marked.includes(name) && typeof value === 'string' && value.length > 20) assert.match(value, /example/i, `${where}.${name}`);
      look(value, `${where}.${name}`);
    }
  };
  for (const { operationId, requestBody, responses } of described) {
    look(requestBody?.content['application/json'], operationId);
    for (const one of Object.values(responses)) look(deref(one).content['application/json']?.example, operationId);
  }
});

test('the error types of an operation are an enum per status, and its responses name their headers', () => {
  const enumOf = (media: Media) => {
    const { properties } = media.schema as { properties: { error: { properties: { type: { enum: string[] } } } } };
    return properties.error.properties.type.enum;
  };
  for (const op of v1Operations) {
    const { responses } = described.find(({ operationId }) => operationId === op.id) as Described;
    const errors = Object.entries(responses).filter(([status]) => Number(status) >= 400);
    assert.deepEqual(errors.flatMap(([, one]) => enumOf(deref(one).content['application/json'])).sort(), errorTypesOf(op).sort(), op.id);
    for (const [status, one] of Object.entries(responses)) {
      const names = Object.keys(deref(one).headers);
      assert.ok(names.includes('X-Request-Id'), `${op.id} ${status}`);
      if (status === '429') assert.ok(names.includes('Retry-After') && names.includes('X-RateLimit-Reset'), op.id);
      if (Number(status) < 300) assert.equal(names.includes('X-Idempotent-Replay'), takesIdempotencyKey(op), op.id);
    }
  }
});

test('the document stays small enough to load, compressed as browsers ask for it', () => {
  const bytes = gzipSync(openApiText()).length;
  assert.ok(bytes < 300_000, `${bytes} bytes`);
});
