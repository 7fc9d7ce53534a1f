import assert from 'node:assert/strict';
import test from 'node:test';
import { knownCountries } from '#server/platform/geoip.fixture.ts';

const at = (iso_code: string, latitude: number, longitude: number, accuracy_radius = 20) => ({
  country: { iso_code },
  location: { latitude, longitude, accuracy_radius },
});
knownCountries({
  '203.0.113.0/24': at('NZ', -36.85, 174.76),
  '198.51.100.0/24': at('GB', 51.51, -0.13),
  '192.0.2.0/24': at('DE', 52.52, 13.4, 500),
});
const { db } = await import('#server/platform/db.ts');
const { testDatabase } = await import('#server/testing/database.ts');
const { watchEvents } = await import('#server/testing/events.ts');
const { fresh, made } = await import('#server/testing/factories.ts');
const { until } = await import('#server/testing/until.ts');
const { workspace } = await import('#server/testing/workspace.ts');
const { capabilityTokens } = await import('../credentials/capability-tokens.ts');
const { judgeTravel } = await import('../governance/travel.ts');

// A token that is used from two places too far apart (interface rule 50 §9), on real rows and a database of locations.

await testDatabase();
type Args = Parameters<typeof judgeTravel>;

async function furnished(trusted: string[] = []) {
  const w = await workspace();
  const gateway = await made(w.live, 'ai_gateways.create', { name: 'G', slug: fresh('g') });
  const agent = await made(w.live, 'ai_gateways.agents.create', { id: gateway.id, name: 'A', slug: fresh('a') });
  const { id, prefix } = await made((await w.key()).as, 'ai_gateways.agents.tokens.create', { id: agent.id, name: 'worker' });
  const capabilities = capabilityTokens();
  const runtime = { capabilities } as Args[1];
  const row = () => db().ai_tokens.findUniqueOrThrow({ where: { id } });
  const settings = { trusted_egress_cidrs: trusted };
  const use = async (ip: string, minutes: number, bound: string | null = null) => {
    const snapshot = { tenant: { id: w.tenant.id, plan: 'pro', settings }, sandbox: false, space: 'live' };
    const call = {
      snapshot,
      sourceAddress: ip,
      receivedAt: Date.now() + minutes * 60_000,
      requestId: crypto.randomUUID(),
      userAgent: null,
    };
    const facts = { id, prefix, name: 'worker', agentId: agent.id, gatewayId: gateway.id, row: { ...(await row()), dpop_jkt: bound } };
    return judgeTravel(call as unknown as Args[0], runtime, facts as unknown as Args[2]);
  };
  return { w, id, row, use, capabilities };
}

test('Auckland and then London flags the token: this call is refused, audited and told, and a cleared flag begins anew', async () => {
  const { w, id, row, use, capabilities } = await furnished();
  const events = await watchEvents(w.live, 'ai.token.step_up_required');
  assert.equal(await use('203.0.113.7', 0), undefined);
  assert.equal(await use('203.0.113.9', 1), undefined, 'the same city');
  assert.equal((await use('198.51.100.7', 120))?.code, 'step_up_required');
  assert.equal((await row()).step_up_required, true);
  const entries = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, resource_id: id, action: 'update' } });
  assert.equal(entries.length, 1);
  const { from, to, distance_km } = (entries[0]?.details ?? {}) as { from: string; to: string; distance_km: number };
  assert.deepEqual([from, to, Math.abs(distance_km - 18_336) < 10], ['NZ', 'GB', true]);
  assert.equal((await use('198.51.100.7', 121))?.code, 'step_up_required', 'from memory too');
  assert.equal(await db().audit_logs.count({ where: { resource_id: id, action: 'update' } }), 1, 'told once');
  await until(async () => (await events()).length > 0);
  assert.deepEqual(
    (await events()).map(({ about }) => about),
    [id],
  );
  await db().ai_tokens.update({ where: { id }, data: { step_up_required: false, last_geo: {} } });
  capabilities.heard(`${w.tenant.id}:${id}:00`);
  assert.equal(await use('198.51.100.7', 122), undefined);
});

test('trusted networks, places that are known inexactly, private addresses and bound tokens are not flagged', async () => {
  const trusted = await furnished(['198.51.100.0/24']);
  assert.equal(await trusted.use('203.0.113.7', 0), undefined);
  assert.equal(await trusted.use('198.51.100.7', 1), undefined);
  const { use, row } = await furnished();
  for (const [ip, minute] of [
    ['203.0.113.7', 0],
    ['192.0.2.7', 1],
    ['10.0.0.7', 2],
  ] as const)
    assert.equal(await use(ip, minute), undefined, ip);
  const bound = await furnished();
  assert.equal(await bound.use('203.0.113.7', 0, 'A'.repeat(43)), undefined);
  assert.equal(await bound.use('198.51.100.7', 1, 'A'.repeat(43)), undefined);
  assert.equal((await row()).step_up_required, false);
});
