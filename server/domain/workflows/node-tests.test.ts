import assert from 'node:assert/strict';
import test from 'node:test';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { revealOfNodeTest } from './node-tests.ts';
import { chain, node } from './samples.fixture.ts';

await testDatabase();

test('the test of a step that calls a route asks for a factor by whatever the route is named, unless it is known to send no secret', async () => {
  const w = await workspace();
  const plain = { id: 'plain' } as AnyOperation;
  const { unguarded } = revealOfNodeTest(plain);
  assert.ok(unguarded);
  for (const space of ['live', 'test'] as const) {
    const ctx = w.member('owner', space);
    const secret = fresh('TOKEN').replaceAll('-', '_');
    await made(ctx, 'secrets.create', { name: secret, value: 'value-of-a-secret' });
    const make = (inject_headers_json: Record<string, string>) =>
      made(ctx, 'routes.create', {
        name: fresh('Route'),
        slug: fresh('route').toLowerCase(),
        target_base_url: 'https://api.example.com',
        inject_headers_json,
      });
    const asks = async (route: string): Promise<boolean> => {
      const definition = chain({ triggerType: 'manual' }, node('call', 'route_request', { route, method: 'GET', path: '/' }));
      const { id }: { id: string } = await made(ctx, 'workflows.create', { name: fresh('flow'), definition });
      return (await unguarded(ctx, { id, node_id: 'call' } as never)) === null;
    };
    const [injects, bare] = [await make({ 'X-Token': `{{secret:${secret}}}` }), await make({})];
    for (const form of ['id', 'slug', 'name'])
      assert.deepEqual([await asks(injects[form]), await asks(bare[form])], [true, false], `${form} in ${space}`);
    for (const unknown of [fresh('none'), '{{trigger.data.route}}', injects.name.toLowerCase()])
      assert.equal(await asks(unknown), true, unknown);
    await db().routes.delete({ where: { id: bare.id } });
    assert.equal(await asks(bare.name), true, 'a route that is gone may be made again');
  }
});
