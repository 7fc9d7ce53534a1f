import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import test from 'node:test';
import fc from 'fast-check';
import { listen } from '#server/platform/http-out/upstream.fixture.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { THOROUGH } from '#server/testing/thorough.ts';
import { keyActor, memberActor, tokenActor, workspace } from '#server/testing/workspace.ts';
import { secretsNamed } from '../publishable.shared.ts';
import { testNode } from './node-test.ts';
import { definitionOf, stored } from './running.fixture.ts';

await ownDatabase();

const VALUE = 'sk-live-3f9a-of-a-name';
const seen: string[] = [];
const port = await listen(
  createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const text = `${req.url}\n${req.rawHeaders.join('\n')}\n${Buffer.concat(chunks)}`;
    const basic = /^basic (.*)$/im.exec(text)?.[1] ?? '';
    seen.push(`${decodeURIComponent(text.replaceAll('%', '%25'))}\n${decodeURIComponent(req.url ?? '')}\n${Buffer.from(basic, 'base64')}`);
    res.end();
  }),
);
const url = `http://127.0.0.1:${port}/`;
const named = (config: Record<string, unknown>) => definitionOf({ a: ['http_request', { method: 'POST', url, ...config }] }, ['trigger>a']);

/** Every place of a request whose JSON may be an object, with the placeholder in a member's name. */
const hidden = (placeholder: string): Record<string, Record<string, unknown>> => ({
  'a text body': { bodyType: 'text', body: { [placeholder]: 1 } },
  'a JSON body': { body: { deep: [{ [`x${placeholder}`]: 'y' }] } },
  'a form': { bodyType: 'form', body: { [placeholder]: 'y' } },
  'a header': { headers: { 'X-A': { [placeholder]: 1 } } },
  'the name of a header': { headers: { [placeholder]: 'x' } },
  'a query parameter': { query: { a: { [placeholder]: 1 } } },
  'the name of a query parameter': { query: { [placeholder]: 'x' } },
  'a bearer token': { auth: { type: 'bearer', token: { [placeholder]: 1 } } },
  'a password': { auth: { type: 'basic', username: 'u', password: { [placeholder]: 1 } } },
  'a header of auth': { auth: { type: 'header', name: 'X-A', value: { [placeholder]: 1 } } },
});

test('a secret in the name of a member is refused to who may not use secrets, at every door that takes a definition', async () => {
  const w = await workspace();
  for (const space of ['live', 'test'] as const) {
    const name = fresh('NAMES').replaceAll('-', '_');
    const { id: secretId } = await made(w.ctx(space), 'secrets.create', { name, value: VALUE });
    const own = await made(w.ctx(space), 'workflows.create', { name: fresh('flow'), definition: named({}) });
    for (const actor of [keyActor('Key - Editor'), tokenActor(), memberActor('editor')]) {
      const without = { ...actor, capabilities: actor.capabilities.difference(new Set(['secret:read'])) } as typeof actor;
      const ctx = w.ctx(space, without);
      for (const placeholder of [`{{secret:${name}}}`, `{{secret_id:${secretId}}}`])
        for (const [what, config] of Object.entries(hidden(placeholder))) {
          const definition = named(config);
          for (const [operation, input] of [
            ['workflows.create', { name: fresh('flow'), definition }],
            ['workflows.update', { id: own.id, definition }],
            ['workflows.save_draft', { id: own.id, definition, base_version: 0 }],
            ['workflows.import', { workflow: { name: fresh('flow'), definition } }],
          ] as const)
            await assert.rejects(
              made(ctx, operation, input),
              { type: actor.type === 'member' ? 'role_denied' : 'forbidden', message: /takes the capability secret:read/ },
              `${operation}: ${what}`,
            );
        }
    }
  }
});

test('who may use the secret is told at publishing to move it into a value', async () => {
  const { test: ctx } = await workspace();
  await made(ctx, 'secrets.create', { name: 'TOKEN', value: VALUE });
  for (const [what, config] of Object.entries(hidden('{{secret:TOKEN}}'))) {
    const draft = await made(ctx, 'workflows.create', { name: fresh('flow'), definition: named(config), enabled: true });
    assert.equal(draft.enabled, false, what);
    await assert.rejects(made(ctx, 'workflows.update', { id: draft.id, enabled: true }), { type: 'invalid_definition' }, what);
    await assert.rejects(made(ctx, 'workflows.execute', { id: draft.id }), { type: 'invalid_definition' }, what);
    const { problems } = await made(ctx, 'workflows.validate', { definition: named(config) });
    const told = problems.filter(({ message }: { message: string }) => /\{\{secret:TOKEN\}\} is the name of a member/.test(message));
    assert.deepEqual([told.length, told[0]?.severity, told[0]?.node_id], [1, 'error', 'a'], what);
  }
});

test('an old definition sends no secret by the name of a member, and is listed among the uses of the secret', async () => {
  const w = await workspace();
  const { live } = w;
  const secret = await made(live, 'secrets.create', { name: 'TOKEN', value: VALUE });
  for (const [what, config] of Object.entries(hidden('{{secret:TOKEN}}'))) {
    const definition = named(config);
    const old = await stored(live, definition, { enabled: true, disabled_reason: null });
    seen.length = 0;
    const done = await testNode(live, {
      ...{ workflow: { id: old.id, environment: null }, definition, node_id: 'a', own: { email: null, phone: null } },
    });
    assert.deepEqual([done.status, done.error?.code], ['failed', 'invalid_config'], `${what}: ${done.error?.message}`);
    assert.equal(seen.length, 0, what);
    await made(live, 'workflows.update', { id: old.id, enabled: false });
    const { references } = await made(w.member('owner'), 'secrets.usage', { id: secret.id });
    assert.ok(
      references.some(({ kind, id }: { kind: string; id: string }) => kind === 'workflow' && id === old.id),
      what,
    );
  }
});

test('the migration lists what older definitions name, once', async () => {
  const w = await workspace();
  const { id } = await made(w.live, 'secrets.create', { name: 'TOKEN', value: VALUE });
  const old = await stored(w.live, named(hidden(`{{secret_id:${id}}}`)['a form'] ?? {}));
  const text = readFileSync('prisma/migrations/20261130021000_workflows_list_member_names/migration.sql', 'utf8');
  for (let i = 0; i < 2; i++) await sql().query(text);
  const { references } = await made(w.member('owner'), 'secrets.usage', { id });
  assert.deepEqual(
    references.map((one: { kind: string; id: string; by: string }) => [one.kind, one.id, one.by]),
    [['workflow', old.id, 'id']],
  );
});

test('whatever JSON a request is made of, a secret that is sent was listed', async () => {
  const { live } = await workspace();
  const secret = await made(live, 'secrets.create', { name: 'TOKEN', value: VALUE });
  const old = await stored(live, named({}));
  const placeholder = fc.constantFrom(
    '{{secret:TOKEN}}',
    `{{ secret_id:${secret.id} }}`,
    'x{{secret:TOKEN}}y',
    '{{secret:',
    ':TOKEN}}',
    'plain',
  );
  const name = fc.oneof({ weight: 9, arbitrary: fc.constantFrom('a', 'b', 'c') }, { weight: 1, arbitrary: placeholder });
  const json = fc.letrec((tie) => ({
    any: fc.oneof({ depthSize: 'small' }, placeholder, fc.integer(), tie('list'), tie('object')),
    list: fc.array(tie('any'), { maxLength: 3 }),
    object: fc.dictionary(name, tie('any'), { maxKeys: 3 }),
  })).any;
  const config = fc.record(
    {
      body: json,
      bodyType: fc.constantFrom('json', 'form', 'text'),
      headers: fc.dictionary(name, json, { maxKeys: 2 }),
      query: fc.dictionary(name, json, { maxKeys: 2 }),
      auth: fc.record({
        type: fc.constantFrom('basic', 'bearer', 'header'),
        name: fc.constant('x-c'),
        username: json,
        password: json,
        token: json,
        value: json,
      }),
    },
    { requiredKeys: [] },
  );
  let sent = 0;
  await fc.assert(
    fc.asyncProperty(config, async (given) => {
      const definition = named(given);
      seen.length = 0;
      await testNode(live, {
        ...{ workflow: { id: old.id, environment: null }, definition, node_id: 'a', own: { email: null, phone: null } },
      });
      if (!seen.some((text) => text.includes(VALUE))) return;
      sent++;
      const fields = secretsNamed(definition).map(({ field }) => field);
      assert.ok(fields.length > 0 && fields.every((field) => !/\{\{/.test(field)), JSON.stringify(given));
    }),
    { numRuns: THOROUGH ? 2_000 : 200 },
  );
  assert.ok(sent > 5, `${sent} of the requests sent the secret`);
});
