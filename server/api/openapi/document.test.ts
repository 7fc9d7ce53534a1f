import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { openApiText } from './document.ts';

type Schema = { description?: string; properties?: Record<string, Schema>; anyOf?: Schema[]; oneOf?: Schema[]; items?: Schema };
type Described = {
  operationId: string;
  tags: string[];
  parameters: { $ref?: string; name: string; description?: string; schema: Schema }[];
  requestBody?: { content: { 'application/json': { schema: Schema } } };
};
type Document = { paths: Record<string, Record<string, Described>>; components: { schemas: Record<string, Schema> } };

test('the committed description is the one the operation table makes', () => {
  assert.ok(readFileSync('public/openapi.json', 'utf8') === openApiText(), 'run: npm run openapi');
});

test('families stand in the document as people write them, one entry for all operations of each', () => {
  const { paths, tags } = JSON.parse(openApiText()) as Document & { tags: { name: string }[] };
  const names = tags.map(({ name }) => name);
  for (const name of ['API keys', 'OpenAPI', 'Audit logs', 'Sign-up']) assert.ok(names.includes(name), name);
  const used = new Set(Object.values(paths).flatMap((methods) => Object.values(methods).flatMap((one) => one.tags)));
  assert.deepEqual([...used].sort(), names.sort());
  for (const name of names) assert.doesNotMatch(name, /\b(?:Api|Ip|Url|Openapi)\b/);
});

test('every field that goes in or comes out is explained', () => {
  const silent: string[] = [];
  const look = (schema: Schema, where: string) => {
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      if (!field.description) silent.push(`${where}.${name}`);
      look(field, `${where}.${name}`);
    }
    for (const part of [schema.anyOf, schema.oneOf, schema.items].flat()) if (part) look(part, where);
  };
  const { paths, components } = JSON.parse(openApiText()) as Document;
  for (const methods of Object.values(paths))
    for (const { operationId, parameters, requestBody } of Object.values(methods)) {
      for (const { $ref, name, description } of parameters) if (!$ref && !description) silent.push(`${operationId} ${name}`);
      look(requestBody?.content['application/json'].schema ?? {}, operationId);
    }
  for (const [name, schema] of Object.entries(components.schemas)) look(schema, name);
  assert.deepEqual(silent, [], 'say what they mean in the descriptions.ts of their family');
});

test('a number of a query is described as the number it is, with its bounds', () => {
  const { paths } = JSON.parse(openApiText()) as Document;
  const limit = paths['/logs']?.get?.parameters.find(({ name }) => name === 'limit');
  assert.deepEqual(limit?.schema, { type: 'integer', minimum: 1, maximum: 1000 });
});
