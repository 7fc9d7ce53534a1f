import assert from 'node:assert/strict';
import test from 'node:test';
import type { Capability } from '#server/kernel/capabilities.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { aGateway } from './samples.fixture.ts';

await testDatabase();

const refusal = (type: string, message: RegExp) => (error: unknown) =>
  error instanceof Refusal && error.type === type && message.test(error.message);

/** A key that may manage the AI gateway and nothing else. */
const limited = (ctx: Ctx, ...more: Capability[]): Ctx => ({
  ...ctx,
  actor: {
    ...ctx.actor,
    capabilities: new Set<Capability>(['ai_gateway:create', 'ai_gateway:read', 'ai_gateway:update', ...more]),
  } as Ctx['actor'],
});

test('a key that cannot read a secret cannot have a stored one sent to a host of its own', async () => {
  const { live } = await workspace();
  const secret = await made(live, 'secrets.create', {
    name: fresh('VENDOR_KEY').toUpperCase().replaceAll('-', '_'),
    value: 'nobody may see',
  });
  const auth = { headers: { authorization: `Bearer {{secret_id:${secret.id}}}` } };
  const input = { name: 'Vendor', upstream_url: 'https://example.com/mcp', auth };
  const gateway = await aGateway(live);
  const server = await made(live, 'mcp_servers.create', { ...input, id: gateway.id, slug: fresh('mcp') });
  const key = limited(live);
  const move = (ctx: Ctx, change: object) => made(ctx, 'mcp_servers.update', { id: server.id, ...change });
  await assert.rejects(
    made(key, 'mcp_servers.create', { ...input, id: gateway.id, slug: fresh('mcp') }),
    refusal('forbidden', /secret:read/),
  );
  await assert.rejects(move(key, { upstream_url: 'https://example.org/mcp' }), refusal('forbidden', /secret:read/));
  await assert.rejects(move(key, { guardrail_webhook_secret_id: secret.id }), refusal('forbidden', /secret:read/));
  assert.equal((await move(key, { name: 'Renamed', upstream_url: 'https://example.com/mcp' })).name, 'Renamed');
  assert.equal(
    (await move(limited(live, 'secret:read'), { upstream_url: 'https://example.org/mcp' })).upstream_url,
    'https://example.org/mcp',
  );
});

test('a key that cannot call a route makes no tool that calls it, and changes none', async () => {
  const { live } = await workspace();
  const server = await made(live, 'mcp_servers.create', {
    id: (await aGateway(live)).id,
    name: 'Tools',
    slug: fresh('mcp'),
    server_type: 'collection',
  });
  const route = await made(live, 'routes.create', { name: fresh('r'), target_base_url: 'https://example.com' });
  const fromRoute = { id: server.id, route_id: route.id, method: 'GET', path: '/a', name: 'a' };
  const key = limited(live);
  const denied = refusal('forbidden', /proxy:invoke/);
  await assert.rejects(made(key, 'mcp_servers.tools.from_route', fromRoute), denied);
  const tool = await made(limited(live, 'proxy:invoke'), 'mcp_servers.tools.from_route', fromRoute);
  const operation = { method: 'DELETE', path_template: '/b', param_map: [], body_mode: 'none', result: 'json', timeout_ms: 1_000 };
  await assert.rejects(made(key, 'mcp_servers.tools.update', { id: server.id, toolId: tool.id, operation }), denied);
  await assert.rejects(made(key, 'mcp_servers.tools.upsert', { id: server.id, tool_name: 'a', operation }), denied);
  const document = { openapi: '3.1.0', info: { title: 'API', version: '1' }, paths: { '/b': { get: { operationId: 'b' } } } };
  await assert.rejects(
    made(key, 'mcp_servers.tools.import_openapi', { id: server.id, route_id: route.id, document, dry_run: false }),
    denied,
  );
  assert.equal((await made(key, 'mcp_servers.tools.update', { id: server.id, toolId: tool.id, enabled: false })).enabled, false);
});
