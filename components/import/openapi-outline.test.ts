import assert from 'node:assert/strict';
import test from 'node:test';
import { proposeFromOpenApi } from '#server/domain/import/read-openapi.ts';
import { outlineOf } from './openapi-outline.ts';

const prose = 'x'.repeat(2_000);
const large = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Grand', description: prose },
  servers: [{ url: 'https://{region}.example.com/v1', variables: { region: { default: 'eu' } } }],
  security: [{ bearer: [] }],
  components: {
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer' },
      key: { type: 'apiKey', in: 'query', name: 'k' },
      unused: { type: 'http' },
    },
    schemas: { Order: { description: prose } },
    pathItems: { shared: { delete: { description: prose } } },
  },
  paths: {
    '/orders': { parameters: [{ description: prose }], get: { description: prose }, post: { security: [{ key: [] }], description: prose } },
    '/shared': { $ref: '#/components/pathItems/shared' },
  },
});

test('a description without its prose and models is proposed exactly as the whole one', async () => {
  const essence = outlineOf(large) ?? '';
  assert.ok(essence.length < 800);
  assert.deepEqual(await proposeFromOpenApi(essence), await proposeFromOpenApi(large));
  const old = JSON.stringify({ swagger: '2.0', info: {}, paths: {} });
  assert.deepEqual(await proposeFromOpenApi(outlineOf(old) ?? ''), await proposeFromOpenApi(old));
});

test('what is no JSON object has no essence', () => {
  for (const text of ['openapi: 3.1.0', '[]', 'null', '', '{']) assert.equal(outlineOf(text), undefined);
});
