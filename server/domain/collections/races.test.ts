import assert from 'node:assert/strict';
import test from 'node:test';
import type { Ctx } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';

await testDatabase();

const ROUNDS = 6;
type Act = () => Promise<unknown>;
type Race = (ctx: Ctx) => Promise<[Act, Act]>;
const target_base_url = 'http://127.0.0.1:9';
const name = (word: string) => fresh(word).replaceAll('-', '_');
const collection = (ctx: Ctx): Promise<{ id: string }> => made(ctx, 'collections.create', { name: name('c') });
const secret = (ctx: Ctx, more: object = {}): Promise<{ id: string }> =>
  made(ctx, 'secrets.create', { name: name('S'), value: 'v', ...more });
const client = (ctx: Ctx, more: object = {}): Promise<{ id: string }> =>
  made(ctx, 'clients.create', { name: name('k'), ip_address: '203.0.113.7', ...more });
const route = (ctx: Ctx, more: object = {}): Promise<{ id: string }> =>
  made(ctx, 'routes.create', { name: name('r'), target_base_url, ...more });
const run = (ctx: Ctx, id: string, input: Record<string, unknown>) => () => made({ ...ctx, warnings: [] }, id, input);

/** Two changes that cannot both be done as asked, or whose order decides what the later is told. */
const RACES: Record<string, Race> = {
  'a collection goes while a secret is made in it': async (ctx) => {
    const { id } = await collection(ctx);
    return [run(ctx, 'collections.delete', { id }), () => secret(ctx, { collection_id: id })];
  },
  'a collection goes while a client is made in it': async (ctx) => {
    const { id } = await collection(ctx);
    return [run(ctx, 'collections.delete', { id }), () => client(ctx, { collection_id: id })];
  },
  'a collection goes while a route is made in it': async (ctx) => {
    const { id } = await collection(ctx);
    return [run(ctx, 'collections.delete', { id }), () => route(ctx, { collection_id: id })];
  },
  'a collection goes while a secret moves in': async (ctx) => {
    const [{ id }, s] = [await collection(ctx), await secret(ctx)];
    return [run(ctx, 'collections.delete', { id }), run(ctx, 'secrets.update', { id: s.id, collection_id: id })];
  },
  'a collection goes while its defaults are written': async (ctx) => {
    const { id } = await collection(ctx);
    const environments = [{ environment_name: 'production' }];
    return [
      run(ctx, 'collections.delete', { id }),
      run(ctx, 'collections.environment_defaults.put', { id, expected_environments: [], environments }),
    ];
  },
  'defaults are written twice': async (ctx) => {
    const { id } = await collection(ctx);
    const put = run(ctx, 'collections.environment_defaults.put', {
      id,
      expected_environments: ['production'],
      environments: [{ environment_name: 'production' }],
    });
    return [put, put];
  },
  'a variable goes while it is changed': async (ctx) => {
    const { id } = await collection(ctx);
    const v = await made(ctx, 'collections.variables.create', { id, key: 'k', value: 'v' });
    const input = { id, variableId: v.id };
    return [run(ctx, 'collections.variables.delete', input), run(ctx, 'collections.variables.update', { ...input, value: 'w' })];
  },
  'a secret goes while a variable takes it': async (ctx) => {
    const [{ id }, s] = [await collection(ctx), await secret(ctx)];
    return [
      run(ctx, 'secrets.delete', { id: s.id }),
      run(ctx, 'collections.variables.create', { id, key: 'k', type: 'secret', secret_id: s.id }),
    ];
  },
  'a secret goes while a route takes it': async (ctx) => {
    const { id } = await secret(ctx);
    return [run(ctx, 'secrets.delete', { id }), () => route(ctx, { inject_headers_json: { A: `{{secret_id:${id}}}` } })];
  },
  'a route goes while a client is assigned to it': async (ctx) => {
    const [r, k] = [await route(ctx), await client(ctx)];
    const assignments = [{ route_id: r.id, environment_name: 'production' }];
    return [run(ctx, 'routes.delete', { id: r.id }), run(ctx, 'clients.assign', { id: k.id, assignments })];
  },
  'a client goes while a route admits it': async (ctx) => {
    const [r, k] = [await route(ctx), await client(ctx)];
    return [run(ctx, 'clients.delete', { id: k.id }), run(ctx, 'routes.clients.set', { id: r.id, env: 'production', client_ids: [k.id] })];
  },
};

for (const [what, race] of Object.entries(RACES))
  test(`${what}: both are answered as if one had come after the other`, async () => {
    const w = await workspace();
    for (let round = 0; round < ROUNDS; round++) {
      const [a, b] = await race(w.live);
      const results = await Promise.allSettled(round % 2 === 0 ? [a(), b()] : [b(), a()]);
      for (const result of results) {
        if (result.status === 'fulfilled') continue;
        assert.ok(result.reason instanceof Refusal, `${what}: ${String(result.reason)}`);
        assert.match(result.reason.type, /^(?:not_found|validation_error|in_use|conflict)$/);
      }
      assert.ok(results.some((r) => r.status === 'fulfilled'));
    }
    await assertWhole(w);
  });

/** What was refused left no trail, and nothing refers to what is gone. */
async function assertWhole({ tenant }: Workspace): Promise<void> {
  const where = { tenant_id: tenant.id };
  const [secrets, made] = await Promise.all([
    db().secrets.count({ where }),
    db().audit_logs.findMany({ where: { ...where, resource_type: 'secret' }, select: { action: true } }),
  ]);
  const count = (action: string) => made.filter((e) => e.action === action).length;
  assert.equal(count('create') - count('delete'), secrets);
}

test('of an environment that goes or is renamed while a collection takes it in, no collection keeps a name that nothing has', async () => {
  const w = await workspace();
  for (let round = 0; round < 10; round++) {
    const env = await made(w.live, 'environments.create', { name: fresh('e') });
    const { id } = await collection(w.live);
    const put = run(w.live, 'collections.environment_defaults.put', {
      id,
      expected_environments: [env.name],
      environments: [{ environment_name: env.name }],
    });
    const change =
      round % 2 === 0
        ? run(w.live, 'environments.delete', { id: env.id })
        : run(w.live, 'environments.update', { id: env.id, name: fresh('n') });
    const results = await Promise.allSettled([put(), change()]);
    for (const r of results) if (r.status === 'rejected') assert.ok(r.reason instanceof Refusal, String(r.reason));
    const names = new Set((await made(w.live, 'environments.list')).map((e: { name: string }) => e.name));
    const { expected_environments, environments } = await made(w.live, 'collections.environment_defaults.get', { id });
    for (const name of [...expected_environments, ...environments.map((e: { environment_name: string }) => e.environment_name)])
      assert.ok(names.has(name), `${name} is expected and does not exist`);
  }
});

test('a change that is made again after somebody else’s is checked again, and warns once', async () => {
  const w = await workspace();
  const { id } = await collection(w.live);
  const input = { id, expected_environments: ['production'], environments: [{ environment_name: 'production' }] };
  const { updated_at } = await made(w.live, 'collections.environment_defaults.get', { id });
  const edits = Array.from({ length: 4 }, () =>
    made(w.member('owner'), 'collections.environment_defaults.put', { ...input, expected_updated_at: updated_at }),
  );
  const results = await Promise.allSettled(edits);
  assert.equal(results.filter((r) => r.status === 'fulfilled').length, 1);
  for (const r of results) if (r.status === 'rejected') assert.equal(r.reason.type, 'conflict');
  const s = await secret(w.live);
  const wide = { name: name('wide'), ip_address: '10.0.0.0/7' };
  const gone = await collection(w.live);
  const warned: Ctx = { ...w.live, warnings: [] };
  await Promise.allSettled([
    made(warned, 'clients.create', { ...wide, collection_id: gone.id }),
    made(w.live, 'collections.delete', { id: gone.id }),
  ]);
  assert.ok(warned.warnings.length <= 1);
  assert.ok(s.id);
});
