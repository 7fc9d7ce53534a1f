import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';
import type { Ctx } from '#server/kernel/context.ts';
import type { Refusal } from '#server/kernel/errors.ts';
import { db } from '#server/platform/db.ts';
import { call } from '#server/testing/calls.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { pruneExecutions } from './pruning.ts';
import { chain, hooked, manual, node } from './samples.fixture.ts';

await testDatabase();

const bad = () => chain({ triggerType: 'manual' }, node('notify', 'http_request', { url: 'https://chat.example.com/hook' }));
const good = () =>
  chain({ triggerType: 'manual' }, node('notify', 'http_request', { method: 'POST', url: 'https://chat.example.com/hook' }));
const calling = (secret: string) =>
  chain(
    { triggerType: 'manual' },
    node('notify', 'http_request', {
      method: 'POST',
      url: 'https://chat.example.com/hook',
      headers: { Authorization: `Bearer {{secret:${secret}}}` },
    }),
  );
const create = (ctx: Ctx, more: Record<string, unknown> = {}) =>
  made(ctx, 'workflows.create', { name: fresh('workflow'), definition: good(), ...more });
const without = (ctx: Ctx, capability: string): Ctx => ({
  ...ctx,
  actor: { ...ctx.actor, capabilities: new Set([...ctx.actor.capabilities].filter((one) => one !== capability)) },
});
const secretIn = async (ctx: Ctx) => {
  const name = fresh('CHAT_TOKEN').replaceAll('-', '_');
  await made(ctx, 'secrets.create', { name, value: 'canary-value-62' });
  return name;
};
const entriesOf = async (resource_id: string) =>
  (await db().audit_logs.findMany({ where: { resource_id }, orderBy: { seq: 'asc' } })).map(
    ({ action, resource_type }) => `${resource_type} ${action}`,
  );

test('a definition that is not publishable is stored and never live, and turning it on is refused with the name of the node', async () => {
  const w = await workspace();
  const created = await create(w.live, { definition: bad(), enabled: true });
  assert.deepEqual([created.enabled, created.published_at, created.version], [false, null, 1]);
  const refused = await made(w.live, 'workflows.update', { id: created.id, enabled: true }).catch((error: Refusal) => error);
  assert.deepEqual([refused.type, refused.status, refused.message], ['invalid_definition', 400, 'node "notify": method is required']);
  const { valid, problems } = await made(w.live, 'workflows.validate', { definition: bad() });
  assert.equal(valid, false);
  assert.deepEqual(problems[0], { node_id: 'notify', severity: 'error', message: 'method is required' });
  const mended = await made(w.live, 'workflows.update', { id: created.id, definition: good(), enabled: true });
  assert.deepEqual([mended.enabled, mended.version, typeof mended.published_at], [true, 2, 'string']);
});

test('while it is enabled a bad definition is refused and nothing is saved; turning it off saves it', async () => {
  const w = await workspace();
  const { id, enabled } = await create(w.live, { enabled: true });
  assert.equal(enabled, true);
  await assert.rejects(made(w.live, 'workflows.update', { id, name: 'renamed', definition: bad() }), { type: 'invalid_definition' });
  const kept = await made(w.live, 'workflows.get', { id });
  assert.deepEqual([kept.version, kept.definition, kept.name === 'renamed'], [1, good(), false]);
  const off = await made(w.live, 'workflows.update', { id, definition: bad(), enabled: false });
  assert.deepEqual([off.enabled, off.version, off.published_at, off.disabled_reason], [false, 2, null, 'manual']);
  assert.deepEqual((await made(w.live, 'workflows.update', { id, definition: {} })).definition, {}, 'a draft may be empty');
});

test('hard rules hold on every write, whether or not it is live', async () => {
  const w = await workspace();
  const many = { nodes: Array.from({ length: 201 }, (_, i) => node(`n${i}`, 'transform', {})) };
  const large = { nodes: [], note: 'x'.repeat(512 * 1024) };
  const broken = {
    nodes: [
      { id: 'a', type: 'transform' },
      { id: 'a', type: 'transform' },
    ],
  };
  for (const definition of [[], 'text', many, large, broken, { nodes: [{ id: 'a' }] }, { nodes: [{ type: 'delay' }] }])
    for (const operation of ['workflows.create', 'workflows.validate'])
      await assert.rejects(
        made(w.live, operation, { name: 'x', definition }),
        { type: 'validation_error' },
        JSON.stringify(definition).slice(0, 60),
      );
});

test('a new definition is a version, the same one is not, whatever the order of its members', async () => {
  const w = await workspace();
  const { id } = await create(w.live);
  const { nodes, edges } = good();
  assert.equal((await made(w.live, 'workflows.update', { id, definition: { edges, nodes } })).version, 1);
  assert.equal((await made(w.live, 'workflows.update', { id, name: 'renamed', timeout_seconds: 20 })).version, 1);
  const replaced = await made(w.live, 'workflows.update', { id, trigger_config: { triggerType: 'webhook', method: 'GET' } });
  assert.deepEqual([replaced.version, replaced.trigger_type, replaced.definition.nodes[0].data.config.method], [2, 'webhook', 'GET']);
  const versions = await db().workflow_versions.findMany({ where: { workflow_id: id }, orderBy: { version: 'asc' } });
  assert.deepEqual(
    versions.map(({ version }) => version),
    [1, 2],
  );
});

test('naming a secret takes permission to read secrets, and a secret of this space; its value is in no answer', async () => {
  const w = await workspace();
  const [mine, foreign] = [await secretIn(w.live), await secretIn(w.test)];
  await assert.rejects(create(without(w.live, 'secret:read'), { definition: calling(mine) }), { type: 'forbidden' });
  await assert.rejects(create(without(w.live, 'secret:read'), { definition: calling('NOT_YET_THERE') }), { type: 'forbidden' });
  const there = await create(w.live, { definition: calling(mine), enabled: true });
  assert.equal(there.enabled, true);
  assert.doesNotMatch(JSON.stringify(there), /canary-value-62/);
  const elsewhere = await create(w.live, { definition: calling(foreign), enabled: true });
  assert.equal(elsewhere.enabled, false);
  await assert.rejects(made(w.live, 'workflows.execute', { id: elsewhere.id }), /doesn't exist in this space/);
  const secret = await db().secrets.findFirstOrThrow({ where: { tenant_id: w.tenant.id, shortcode_name: mine } });
  const { references } = await made(w.member('owner'), 'secrets.usage', { id: secret.id });
  assert.deepEqual(
    references.map(({ kind, name, field }: Record<string, string>) => [kind, name, field]),
    [['workflow', there.name, 'notify.headers.Authorization']],
  );
  await made(w.live, 'workflows.delete', { id: there.id });
  assert.deepEqual((await made(w.member('owner'), 'secrets.usage', { id: secret.id })).references, []);
});

test('the plan limits workflows by space, and how often a schedule fires', async () => {
  const w = await workspace({ plan: 'free' });
  const owner = w.live;
  for (let n = 0; n < 3; n++) await create(owner);
  await assert.rejects(create(owner), { type: 'plan_limit', status: 402 });
  const often = chain({ triggerType: 'schedule', cron: '*/10 * * * *' }, node('greet', 'transform', { fields: {} }));
  await assert.rejects(create(w.test, { definition: often, enabled: true }), /at most every 60 minutes/);
  const hourly = chain({ triggerType: 'schedule', cron: '5 * * * *' }, node('greet', 'transform', { fields: { a: 1 } }));
  const { id } = await create(w.test, { definition: hourly, enabled: true });
  const schedule = await db().workflow_schedules.findUniqueOrThrow({ where: { workflow_id: id } });
  assert.equal(schedule.next_fire_at.getUTCMinutes(), 5);
  await made(w.test, 'workflows.update', { id, enabled: false });
  assert.equal(await db().workflow_schedules.count({ where: { workflow_id: id } }), 0);
});

test('every change is an entry of its own kind', async () => {
  const w = await workspace();
  const owner = w.member('owner');
  const { id } = await create(owner, { definition: hooked() });
  await made(owner, 'workflows.update', { id, enabled: true });
  await made(owner, 'workflows.update', { id, name: 'renamed', enabled: false });
  await made(owner, 'workflows.rotate_webhook_url', { id });
  await made(owner, 'workflows.save_draft', { id, definition: manual(), base_version: 0 });
  await made(owner, 'workflows.publish', { id });
  await made(owner, 'workflows.restore', { id, n: '1' });
  await made(owner, 'workflows.delete', { id });
  assert.deepEqual(
    await entriesOf(id),
    ['create', 'enable', 'disable', 'update', 'rotate', 'enable', 'update', 'restore', 'delete'].map((action) => `workflow ${action}`),
  );
});

test('a draft is live only when it is published, and whoever saved meanwhile is named', async () => {
  const w = await workspace();
  const [ada, ben] = [w.member('owner'), w.member('editor')];
  const { id } = await create(ada, { enabled: true });
  const opened = await made(ada, 'workflows.draft', { id });
  assert.deepEqual([opened.is_draft, opened.valid, opened.base_version], [false, true, 0]);
  const saved = await made(ben, 'workflows.save_draft', { id, definition: bad(), base_version: opened.base_version });
  assert.deepEqual([saved.is_draft, saved.valid, saved.base_version], [true, false, 1]);
  const late = await made(ada, 'workflows.save_draft', { id, definition: manual(), base_version: 0 }).catch((error: Refusal) => error);
  assert.deepEqual([late.type, late.extra?.base_version, late.extra?.saved_by?.id], ['conflict', 1, ben.actor.id]);
  assert.deepEqual((await made(ada, 'workflows.get', { id })).definition, good());
  await assert.rejects(made(ada, 'workflows.publish', { id, base_version: 1 }), { type: 'invalid_definition' });
  await made(ada, 'workflows.save_draft', { id, definition: manual(), base_version: 1 });
  await assert.rejects(made(ada, 'workflows.publish', { id, base_version: 1 }), { type: 'conflict' });
  const published = await made(ada, 'workflows.publish', { id, base_version: 2, note: 'greets' });
  assert.deepEqual([published.version, published.definition, published.enabled], [2, manual(), true]);
  const versions = await made(ada, 'workflows.versions', { id });
  assert.deepEqual(
    versions.map(({ version, live, note }: Record<string, unknown>) => [version, live, note]),
    [
      [2, true, 'greets'],
      [1, false, null],
    ],
  );
  const restored = await made(ada, 'workflows.restore', { id, n: '1' });
  assert.deepEqual([restored.is_draft, restored.definition], [true, good()]);
  assert.equal((await made(ada, 'workflows.get', { id })).version, 2, 'nothing goes live unseen');
  await assert.rejects(made(ada, 'workflows.restore', { id, n: '7' }), { type: 'not_found' });
});

test('the definitions of a page have 2 MiB together, and the others are left out with a warning', async () => {
  const w = await workspace();
  const owner = w.member('owner');
  const large = (n: number) => ({ nodes: [], edges: [], note: `${n} ${'x'.repeat(500 * 1024)}` });
  for (let n = 0; n < 6; n++) await made(owner, 'workflows.create', { name: `flow ${n}`, definition: large(n) });
  const ctx = w.member('owner');
  const listed = await made(ctx, 'workflows.list', { sort: 'name', order: 'asc', per_page: 100 });
  assert.deepEqual(
    listed.map(({ name, definition }: Record<string, unknown>) => [name, definition === null]),
    [0, 1, 2, 3, 4, 5].map((n) => [`flow ${n}`, n > 3]),
  );
  assert.match(
    String(ctx.warnings),
    /^2 definitions are left out, as null.*2 MiB together\. Get one workflow, or ask for smaller pages\.$/,
  );
  assert.deepEqual(listed[3].definition, large(3));
  const { id } = listed[0];
  for (let n = 1; n < 6; n++) await made(owner, 'workflows.update', { id, definition: large(n) });
  const of = w.member('owner');
  const versions = await made(of, 'workflows.versions', { id, per_page: 100 });
  assert.deepEqual(
    versions.map((one: Record<string, unknown>) => one.definition === null),
    [false, false, false, false, true, true],
  );
  assert.equal(of.warnings.length, 1);
  const [alone] = await made(w.member('owner'), 'workflows.versions', { id, page: 6, per_page: 1 });
  assert.deepEqual([alone.version, alone.definition], [1, large(0)]);
});

test('a copy and an import are off, and an export names secrets without their values', async () => {
  const w = await workspace();
  const owner = w.member('owner');
  const secret = await secretIn(owner);
  const { id, name } = await create(owner, { definition: calling(secret), enabled: true, environment: 'production' });
  const copy = await made(owner, 'workflows.duplicate', { id });
  assert.deepEqual([copy.name, copy.enabled, copy.version], [`Copy of ${name}`, false, 1]);
  const exported = await made(owner, 'workflows.export', { id });
  assert.deepEqual(exported.secrets, [secret]);
  assert.doesNotMatch(JSON.stringify(exported), /canary-value-62/);
  const other = w.member('owner', 'test');
  const theirs = await secretIn(other);
  const imported = await made(other, 'workflows.import', { workflow: exported, name: 'Imported', secrets: { [secret]: theirs } });
  assert.deepEqual([imported.enabled, imported.sandbox, imported.environment], [false, true, 'production']);
  assert.match(JSON.stringify(imported.definition), new RegExp(`\\{\\{secret:${theirs}\\}\\}`));
  assert.equal((await made(other, 'workflows.update', { id: imported.id, enabled: true })).enabled, true);
});

test('the same idempotency key starts one run, and its replay answers with the same one', async () => {
  const w = await workspace();
  const { id } = await create(w.live, { definition: manual() });
  const { text: key } = await w.key('live');
  const start = (idempotency: string, body: unknown = { input: { name: 'Ada' } }) =>
    call('POST', `/workflows/${id}/execute`, { key, body, headers: { 'x-idempotency-key': idempotency } });
  const word = randomUUID();
  const [first, again] = [await start(word), await start(word)];
  assert.deepEqual([first.status, again.status, again.headers.get('x-idempotent-replay')], [202, 202, 'true']);
  assert.equal(first.body.data.id, again.body.data.id);
  assert.deepEqual([first.body.data.workflow_id, first.body.data.status], [id, 'queued']);
  assert.equal((await start(word, { input: 2 })).status, 422);
  assert.notEqual((await start(randomUUID())).body.data.id, first.body.data.id);
  assert.equal((await made(w.live, 'workflows.executions', { id })).length, 2);
});

test('execute needs a publishable definition and an input that fits, not that it is enabled', async () => {
  const w = await workspace();
  const { id } = await create(w.live, { definition: bad() });
  await assert.rejects(made(w.live, 'workflows.execute', { id }), { type: 'invalid_definition' });
  const inputSchema = { type: 'object', properties: { order: { type: 'integer' } }, required: ['order'] };
  const definition = chain({ triggerType: 'manual', inputSchema }, node('greet', 'transform', { fields: { text: 'x' } }));
  await made(w.live, 'workflows.update', { id, definition });
  for (const [input, says] of [
    [undefined, /^input: doesn't fit the schema of the trigger: must be object/],
    [{}, /^input: doesn't fit the schema of the trigger: must have required property 'order'/],
    [{ order: 'many' }, /^input\.order: doesn't fit the schema of the trigger: must be integer/],
  ] as const)
    await assert.rejects(made(w.live, 'workflows.execute', { id, ...(input && { input }) }), { type: 'validation_error', message: says });
  await assert.rejects(made(w.live, 'workflows.execute', { id, input: { order: 1, text: 'x'.repeat(262_144) } }), /256 KiB/);
  const { id: run } = await made(w.live, 'workflows.execute', { id, input: { order: 1 } });
  const { trigger_type, triggered_by, status, workflow_version } = await made(w.live, 'workflows.get_execution', { id: run });
  assert.deepEqual([trigger_type, triggered_by.type, status, workflow_version], ['api', 'api_key', 'queued', 2]);
  const byPerson = await made(w.member('owner'), 'workflows.run', { id, input: { order: 1 }, version: 'draft' });
  assert.equal((await made(w.member('owner'), 'workflows.inspect_execution', { id: byPerson.id })).trigger_type, 'test');
});

test('a workflow that was to be enabled and is not says why, until its definition changes', async () => {
  const w = await workspace();
  const { text: key } = await w.key('live');
  const inputSchema = { properties: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`p${i}`, { pattern: 'a' }])) };
  const definition = chain({ triggerType: 'manual', inputSchema }, node('greet', 'transform', { fields: { text: 'x' } }));
  const { body, status } = await call('POST', '/workflows', { key, body: { name: 'Costly', definition, enabled: true } });
  assert.deepEqual([status, body.data.enabled, body.data.disabled_reason], [201, false, 'invalid_definition']);
  assert.match(body.meta.warnings.join(), /stored and not enabled.*inputSchema must be a JSON Schema.*more than 100 patterns/);
  const quiet = await call('POST', '/workflows', { key, body: { name: 'Draft', definition } });
  assert.deepEqual([quiet.body.data.disabled_reason, quiet.body.meta.warnings], ['manual', undefined], 'it was to be a draft');
  const { id } = body.data;
  const changed = await made(w.live, 'workflows.update', { id, definition: manual() });
  assert.deepEqual([changed.enabled, changed.disabled_reason], [false, 'manual']);
});

test('a definition as deep as it may be can be sent', async () => {
  const w = await workspace();
  const { text: key } = await w.key('live');
  const deep = (levels: number) => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`) as unknown;
  const send = (levels: number) =>
    call('POST', '/workflows', {
      key,
      body: { name: 'Deep', definition: chain({}, node('deep', 'transform', { fields: { x: deep(levels) } })) },
    });
  let most = 50;
  while ((await send(most + 1)).status === 201) most++;
  assert.match((await send(most + 1)).text, /must be at most 64 levels deep/, 'its own limit, and not that of the body');
});

test('a run can be cancelled until it has ended, and both leave an entry', async () => {
  const w = await workspace();
  const { id } = await create(w.live, { definition: manual() });
  const { id: run } = await made(w.live, 'workflows.execute', { id });
  assert.deepEqual(await made(w.live, 'workflows.cancel', { id: run }), { id: run, status: 'cancelled' });
  await assert.rejects(made(w.live, 'workflows.cancel', { id: run }), { type: 'not_cancellable', status: 409 });
  assert.deepEqual(await entriesOf(run), ['workflow_execution execute', 'workflow_execution cancel']);
  const again = await made(w.live, 'workflows.retry', { id: run });
  assert.deepEqual([again.retry_of, again.workflow_id, again.status], [run, id, 'queued']);
  await assert.rejects(made(w.live, 'workflows.retry', { id: again.id }), { type: 'conflict' });
});

test('an id of the other space is not found, on paths of workflows and of runs', async () => {
  const w = await workspace();
  const { id } = await create(w.live, { definition: manual() });
  const { id: run } = await made(w.live, 'workflows.execute', { id });
  for (const [operation, input] of [
    ['workflows.get', { id }],
    ['workflows.execute', { id }],
    ['workflows.executions', { id }],
    ['workflows.get_execution', { id: run }],
    ['workflows.cancel', { id: run }],
  ] as const)
    for (const stranger of [w.test, (await workspace()).live])
      await assert.rejects(made(stranger, operation, input), { type: 'not_found' });
});

test('deleting takes the runs, the URL and the schedule along', async () => {
  const w = await workspace();
  const definition = chain(
    { triggerType: 'proxy_event', proxyEventConfig: { eventTypes: ['request.server_error'] } },
    node('greet', 'transform', { fields: { text: 'x' } }),
  );
  const { id } = await create(w.live, { definition, enabled: true });
  await made(w.live, 'workflows.execute', { id });
  const subscribed = () => db().event_subscriptions.count({ where: { destination_id: id } });
  assert.equal(await subscribed(), 1);
  assert.deepEqual(await made(w.live, 'workflows.delete', { id }), { id, deleted: true });
  assert.equal(await subscribed(), 0);
  assert.equal(await db().workflow_executions.count({ where: { workflow_id: id } }), 0);
  await assert.rejects(made(w.live, 'workflows.get', { id }), { type: 'not_found' });
});

test('runs are kept as long as the plan keeps logs', async () => {
  const w = await workspace({ plan: 'starter' });
  const { id } = await create(w.live, { definition: manual() });
  const runs = [];
  for (const days of [6, 8]) {
    const { id: run } = await made(w.live, 'workflows.execute', { id });
    const completed_at = new Date(Date.now() - days * 86_400_000);
    await db().workflow_executions.update({ where: { id: run }, data: { status: 'completed', completed_at } });
    runs.push(run);
  }
  await pruneExecutions(new Date());
  const left = await db().workflow_executions.findMany({ where: { workflow_id: id }, select: { id: true } });
  assert.deepEqual(
    left.map((run) => run.id),
    [runs[0]],
  );
});

test('what is merged into a definition is within its bounds, too, and one names secrets in at most 1,000 places', async () => {
  const w = await workspace();
  const trigger_config = { triggerType: 'manual', x: Array(10_000).fill(1) };
  const tooMany = { type: 'validation_error', message: 'definition: must have at most 10,000 members and items in all' };
  await assert.rejects(create(w.live, { trigger_config }), tooMany);
  const { id } = await create(w.live);
  await assert.rejects(made(w.live, 'workflows.update', { id, trigger_config }), tooMany);
  const naming = (times: number) =>
    chain({ triggerType: 'manual' }, node('notify', 'http_request', { body: Array(times).fill('{{secret:A}}{{secret:A}}') }));
  await assert.rejects(create(w.live, { definition: naming(501) }), {
    message: 'definition: names secrets in 1002 places and may in 1000: use fewer placeholders',
  });
  await create(w.live, { definition: naming(500) });
});
