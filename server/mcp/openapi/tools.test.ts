import assert from 'node:assert/strict';
import test from 'node:test';
import { NotOpenApi, type ToolDraft, toolsFromOpenApi } from './tools.ts';

const api = (paths: object, components: object = {}, openapi = '3.1.0') => ({
  openapi,
  info: { title: 'T', version: '1' },
  paths,
  components,
});

test('an operation becomes a tool: parameters and body in one schema, with where each argument goes', () => {
  const { tools, skipped } = toolsFromOpenApi(
    api(
      {
        '/users/{id}/notes': {
          parameters: [{ $ref: '#/components/parameters/Id' }],
          post: {
            operationId: 'notes/create!',
            summary: 'Add a note',
            description: 'To one user.',
            parameters: [
              { in: 'query', name: 'notify', schema: { type: 'boolean', default: false } },
              { in: 'header', name: 'X-Trace', schema: { type: 'string' } },
              { in: 'header', name: 'Authorization', required: true, schema: { type: 'string' } },
              { in: 'header', name: 'X-Api-Token', required: true, schema: { type: 'string' } },
              { in: 'query', name: 'key', schema: { type: 'string' } },
            ],
            requestBody: { required: true, content: { 'application/json': { schema: { $ref: '#/components/schemas/Note' } } } },
            responses: { 201: { content: { 'application/json': {} } } },
          },
        },
      },
      {
        parameters: { Id: { in: 'path', name: 'id', required: true, schema: { type: 'integer' } } },
        schemas: {
          Note: {
            type: 'object',
            required: ['id', 'text'],
            properties: { id: { type: 'string', readOnly: true }, text: { type: 'string', example: 'x', 'x-internal': 1 } },
          },
        },
        securitySchemes: { k: { type: 'apiKey', in: 'query', name: 'key' } },
      },
    ),
  );
  assert.deepEqual(skipped, []);
  assert.deepEqual(tools, [
    {
      tool_name: 'notes_create_',
      description: 'Add a note\n\nTo one user.',
      input_schema: {
        type: 'object',
        properties: {
          id: { type: 'integer' },
          notify: { type: 'boolean', default: false },
          'X-Trace': { type: 'string' },
          body: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
        },
        required: ['id', 'body'],
        additionalProperties: false,
      },
      operation: {
        method: 'POST',
        path_template: '/users/{id}/notes',
        param_map: [
          { arg: 'id', in: 'path', name: 'id' },
          { arg: 'notify', in: 'query', name: 'notify' },
          { arg: 'X-Trace', in: 'header', name: 'X-Trace' },
          { arg: 'body', in: 'body', name: '' },
        ],
        body_mode: 'json',
        result: 'json',
        timeout_ms: 30_000,
      },
    },
  ]);
});

test('a schema that refers to itself is cut, and references that multiply are refused instead of written out', () => {
  const node = {
    type: 'object',
    properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/components/schemas/Node' } } },
  };
  const body = (schema: object) => ({ post: { operationId: 'x', requestBody: { content: { 'application/json': { schema } } } } });
  const cyclic = toolsFromOpenApi(api({ '/x': body({ $ref: '#/components/schemas/Node' }) }, { schemas: { Node: node } }));
  assert.match(
    JSON.stringify(cyclic.tools[0]?.input_schema),
    /"children":\{"type":"array","items":\{"description":"The same shape as Node again."\}\}/,
  );

  const bomb = Object.fromEntries(
    Array.from({ length: 16 }, (_, i) => [
      `S${i}`,
      { type: 'object', properties: Object.fromEntries(['a', 'b', 'c', 'd'].map((n) => [n, { $ref: `#/components/schemas/S${i + 1}` }])) },
    ]),
  );
  // Written out in full it would take terabytes.
  const { tools, skipped } = toolsFromOpenApi(api({ '/x': body({ $ref: '#/components/schemas/S0' }) }, { schemas: bomb }));
  assert.deepEqual([tools.length, skipped], [0, [{ operation: 'x', reason: 'its schema is too large for a tool' }]]);

  let deep: object = { type: 'string' };
  for (let i = 0; i < 2_000; i++) deep = { type: 'array', items: deep };
  assert.equal(toolsFromOpenApi(api({ '/x': body(deep) })).tools.length, 1);
  const loop = toolsFromOpenApi(
    api(
      { '/x': { get: { operationId: 'l', parameters: [{ $ref: '#/components/parameters/A' }] } } },
      { parameters: { A: { $ref: '#/components/parameters/A' } } },
    ),
  );
  assert.equal(loop.tools.length, 1);
});

test('hostile names and paths make no tool that could leave its route', () => {
  const get = (operationId: string, parameters: object[] = []) => ({ get: { operationId, parameters } });
  const path = (name: string) => ({ in: 'path', name, required: true, schema: { type: 'string' } });
  const { tools, skipped } = toolsFromOpenApi(
    api({
      '/a/../admin': get('dots'),
      '/a/%2e%2e/admin': get('encoded'),
      'https://evil.example/x': get('absolute'),
      '/x?admin=1': get('query'),
      '/x/{id}': get('undeclared'),
      '/y': get('unused', [path('id')]),
      '/z/{id}': get('fine', [path('id')]),
      '/p': JSON.parse(
        '{"get":{"operationId":"__proto__","parameters":[{"in":"query","name":"__proto__","schema":{"type":"string","__proto__":{"polluted":1}}}]}}',
      ),
    }),
  );
  assert.deepEqual(
    skipped.map(({ operation }) => operation),
    ['dots', 'encoded', 'absolute', 'query', 'undeclared', 'unused'],
  );
  assert.deepEqual(
    tools.map(({ tool_name }) => tool_name),
    ['fine', '__proto__'],
  );
  assert.equal(({} as { polluted?: number }).polluted, undefined);
  assert.deepEqual(Object.keys(tools[1]?.input_schema.properties as object), ['__proto__']);
});

test('bodies of other kinds are skipped with the reason, and operations can be chosen and prefixed', () => {
  const post = (operationId: string, type: string, required = true) => ({
    post: { operationId, requestBody: { required, content: { [type]: { schema: { type: 'object' } } } } },
  });
  const document = api({
    '/a': post('upload', 'multipart/form-data'),
    '/b': post('binary', 'application/octet-stream'),
    '/c': post('form', 'application/x-www-form-urlencoded'),
    '/d': post('optional', 'text/csv', false),
    '/e': { get: {} },
  });
  const { tools, skipped } = toolsFromOpenApi(document, { prefix: 'crm_' });
  assert.deepEqual(
    tools.map(({ tool_name, operation }) => [tool_name, operation.body_mode]),
    [
      ['crm_form', 'form'],
      ['crm_optional', 'none'],
      ['crm_get_e', 'none'],
    ],
  );
  assert.deepEqual(skipped, [
    { operation: 'upload', reason: 'it takes a multipart body' },
    { operation: 'binary', reason: 'it takes a body of type application/octet-stream' },
  ]);
  assert.equal(toolsFromOpenApi(document, { include: ['form'] }).tools.length, 1);
});

test('3.0 spellings become JSON Schema, and patterns that need a backtracking engine are left out', () => {
  const schema = {
    type: 'object',
    properties: {
      n: { type: 'number', minimum: 1, exclusiveMinimum: true, nullable: true },
      p: { type: 'string', pattern: '(?=a)b' },
      q: { type: 'string', pattern: '^[a-z]+$' },
    },
  };
  const { tools } = toolsFromOpenApi(
    api({ '/x': { post: { requestBody: { content: { 'application/json': { schema } } } } } }, {}, '3.0.3'),
  );
  assert.deepEqual((tools[0] as ToolDraft).input_schema.properties, {
    body: {
      type: 'object',
      properties: {
        n: { type: ['number', 'null'], exclusiveMinimum: 1 },
        p: { type: 'string' },
        q: { type: 'string', pattern: '^[a-z]+$' },
      },
    },
  });
});

test('an import makes at most 200 tools, and other documents are refused', () => {
  const paths = Object.fromEntries(Array.from({ length: 205 }, (_, i) => [`/p${i}`, { get: { operationId: 'same' } }]));
  const { tools, skipped } = toolsFromOpenApi(api(paths));
  assert.deepEqual([tools.length, new Set(tools.map((one) => one.tool_name)).size, skipped.length], [200, 200, 5]);
  for (const other of [null, [], 'x', { swagger: '2.0' }, { openapi: '3.2.0' }, { openapi: '4' }])
    assert.throws(() => toolsFromOpenApi(other), NotOpenApi);
});

test('a short description that refers to one large schema thousands of times is not written out', () => {
  const properties = Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`p${i}`, { type: 'string' }]));
  const names = Array.from({ length: 100 }, (_, i) => `q${i}`);
  const parameters = Object.fromEntries(names.map((name) => [name, { name, in: 'query', schema: { $ref: '#/components/schemas/S' } }]));
  const item = { parameters: names.map((name) => ({ $ref: `#/components/parameters/${name}` })), get: {} };
  const paths = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`/x${i}`, { $ref: '#/components/pathItems/i' }]));
  const components = { schemas: { S: { type: 'object', properties } }, parameters, pathItems: { i: item } };
  const { tools, skipped } = toolsFromOpenApi({ openapi: '3.1.0', paths, components });
  assert.deepEqual([tools.length, skipped[0]?.reason], [0, 'its schema is too large for a tool']);
  assert.match(skipped.at(-1)?.reason ?? '', /as large together as an import may be/);
});
