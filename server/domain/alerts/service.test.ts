import assert from 'node:assert/strict';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { ALERT_TYPES, DEFAULTS, describeCondition, TEMPLATES } from './conditions.shared.ts';
import { routeOf } from './routes.fixture.ts';
import { channelOf } from './watching.fixture.ts';

await testDatabase();

test('every type can be created with its defaults, and describes itself', async () => {
  const w = await workspace();
  for (const type of ALERT_TYPES) {
    const given = type === 'audit_match' ? { resource_type: 'secret' } : {};
    const alert = await made(w.live, 'alerts.create', { name: type, type, condition: given });
    assert.deepEqual(alert.condition, { ...DEFAULTS[type], ...given }, type);
    assert.doesNotMatch(describeCondition(type, alert.condition), /undefined/, type);
  }
  for (const { id: _, ...template } of TEMPLATES) await made(w.live, 'alerts.create', template);
});

test('a condition takes the members of its type and no others', async () => {
  const w = await workspace();
  const create = (input: Record<string, unknown>) => made(w.live, 'alerts.create', { name: 'a', ...input });
  await assert.rejects(
    create({ type: 'error_rate', condition: { days: 3 } }),
    /condition.days: isn't a member for alerts of type error_rate/,
  );
  await assert.rejects(create({ type: 'audit_match' }), /condition.action_prefix: is required unless resource_type is given/);
  await assert.rejects(create({ type: 'high_latency', condition: { percentile: 90 } }), { type: 'validation_error' });
  await assert.rejects(create({ type: 'secret_expiring', environments: ['production'] }), /environments: must be empty/);
  const { id } = await create({ type: 'request_failures', condition: { include_status_codes: [504, 500, 504], threshold: 9 } });
  const changed = await made(w.live, 'alerts.update', { id, condition: { window_minutes: 7 } });
  assert.deepEqual(changed.condition, { threshold: 9, window_minutes: 7, include_status_codes: [500, 504] }, 'the rest stays');
});

test('routes and channels of another workspace or of the other space are refused like unknown ones', async () => {
  const [w, other] = [await workspace(), await workspace()];
  const alert = await made(w.live, 'alerts.create', { name: 'a', type: 'error_rate' });
  for (const ctx of [other.live, w.test]) {
    const [channel, route] = [await channelOf(ctx), await routeOf(ctx)];
    for (const scope of [{ channel_ids: [channel] }, { route_ids: [route.id] }]) {
      const refused = { type: 'validation_error', message: /has an ID that doesn't exist in this space/ };
      await assert.rejects(made(w.live, 'alerts.create', { name: 'b', type: 'error_rate', ...scope }), refused);
      await assert.rejects(made(w.live, 'alerts.update', { id: alert.id, ...scope }), refused);
    }
  }
});

test('an alert that names a route which is gone can still be changed', async () => {
  const w = await workspace();
  const route = await routeOf(w.live);
  const { id } = await made(w.live, 'alerts.create', { name: 'a', type: 'error_rate', route_ids: [route.id] });
  await made(w.live, 'routes.delete', { id: route.id });
  assert.equal((await made(w.live, 'alerts.update', { id, severity: 'low' })).severity, 'low');
});

test('a mute ends within thirty days, or when somebody ends it', async () => {
  const w = await workspace();
  const { id } = await made(w.live, 'alerts.create', { name: 'a', type: 'error_rate' });
  const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
  const until = inHours(2);
  assert.equal((await made(w.live, 'alerts.mute', { id, until })).muted_until, until);
  assert.equal((await made(w.live, 'alerts.mute', { id, until: null })).muted_until, null);
  for (const hours of [-1, 31 * 24])
    await assert.rejects(made(w.live, 'alerts.mute', { id, until: inHours(hours) }), /within the next 30 days/);
});

test('turning an alert on or off is an entry of its own, and a change names what changed', async () => {
  const w = await workspace();
  const { id } = await made(w.live, 'alerts.create', { name: 'a', type: 'error_rate' });
  await made(w.live, 'alerts.update', { id, enabled: false });
  await made(w.live, 'alerts.update', { id, enabled: true, name: 'b' });
  await made(w.live, 'alerts.update', { id, name: 'b' });
  await made(w.live, 'alerts.delete', { id });
  const entries = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, resource_id: id }, orderBy: { seq: 'asc' } });
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['create', 'disable', 'enable', 'update', 'delete'],
  );
  const [, , , change] = entries.map(({ details }) => details as { changes?: unknown });
  assert.deepEqual(change?.changes, [{ field: 'name', from: 'a', to: 'b' }]);
});
