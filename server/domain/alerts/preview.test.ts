import assert from 'node:assert/strict';
import test from 'node:test';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { routeOf } from './routes.fixture.ts';
import { alertOf, at, calls, failing, incidentsOf, lookFrom } from './watching.fixture.ts';

await ownDatabase();

/** An hour of calls that get better and worse, the same at every run. */
async function traffic(ctx: Ctx, routes: readonly string[]): Promise<void> {
  for (let minute = 0; minute < 60; minute++)
    for (const [i, route_id] of routes.entries()) {
      const bad = (minute * 7 + i * 13) % 23 < 6 ? ((minute * 3 + i) % 5) + 1 : 0;
      if (minute > 40 && minute < 48 && i === 0) continue;
      if (bad > 0) await calls(ctx, bad, at(minute, (minute * 17) % 60), { ...failing, route_id, latency_ms: 3_000 });
      await calls(ctx, 4, at(minute, (minute * 29) % 60), { route_id, latency_ms: 40 });
    }
}

test('a preview finds the incidents that the evaluation opened on the same calls', async () => {
  const w = await workspace();
  const routes = [await routeOf(w.live), await routeOf(w.live)].map(({ id }) => id);
  await traffic(w.live, routes);
  const kinds: Record<string, unknown>[] = [
    { type: 'request_failures', condition: { threshold: 5, window_minutes: 4 } },
    { type: 'request_failures', condition: { threshold: 2, window_minutes: 1 } },
    { type: 'error_rate', condition: { percent: 25, window_minutes: 2, min_requests: 5 } },
    { type: 'high_latency', condition: { threshold_ms: 2_000, percentile: 95, window_minutes: 2, min_requests: 5 } },
    { type: 'no_traffic', condition: { window_minutes: 4 }, route_ids: routes.slice(0, 1) },
  ];
  const alerts = [];
  for (const kind of kinds) alerts.push({ ...(await alertOf(w.live, kind)), kind });
  await lookFrom(at(0, 10), at(75, 40));
  for (const { id, kind } of alerts) {
    const lived = await incidentsOf(id);
    const preview = await made({ ...w.live, now: at(76) }, 'alerts.preview', { id });
    const seen = preview.incidents.filter(({ started_at }: { started_at: string }) => started_at >= at(0).toISOString());
    const name = JSON.stringify(kind);
    // Silence before the first call and after the last is silence as well: only what lies within the hour is compared for it.
    const within = (when: Date) => kind.type !== 'no_traffic' || (when > at(10) && when < at(62));
    assert.equal(
      seen.filter(({ started_at }: { started_at: string }) => within(new Date(started_at))).length,
      lived.filter(({ started_at }) => within(started_at)).length,
      name,
    );
    if (kind.type !== 'no_traffic') assert.ok(lived.length > 0, name);
    const ends = (list: { route_id: string | null; resolved_at: Date | string | null }[]) =>
      list
        .filter(({ resolved_at }) => resolved_at !== null && within(new Date(resolved_at)))
        .map(({ route_id, resolved_at }) => `${route_id} ${new Date(resolved_at as string).toISOString().slice(0, 16)}`)
        .sort();
    assert.deepEqual(ends(seen), ends(lived), `they end in the same minutes: ${name}`);
  }
});

test('a preview has a line of seven days, and says when the past of a type is not known', async () => {
  const w = await workspace();
  await calls(w.live, 6, at(1), failing);
  const ctx = { ...w.live, now: at(30) };
  const preview = await made(ctx, 'alerts.preview_draft', { type: 'request_failures', condition: { threshold: 5 } });
  assert.deepEqual([preview.supported, preview.fired, preview.threshold, preview.unit], [true, 1, 5, 'calls']);
  assert.equal(preview.points.length, 7 * 24);
  assert.equal(Math.max(...preview.points.map(({ value }: { value: number | null }) => value ?? 0)), 6);
  const state = await made(w.live, 'alerts.preview_draft', { type: 'webhook_failing' });
  assert.deepEqual([state.supported, state.fired, state.points, state.holds_now], [false, null, [], []]);
  const webhook = await made(w.live, 'webhooks.create', { name: 'w', url: 'https://127.0.0.1:65001/h', event_types: ['audit.event'] });
  await db().webhooks.update({ where: { id: webhook.id }, data: { failing_since: at(0), consecutive_failures: 2 } });
  assert.deepEqual((await made(w.live, 'alerts.preview_draft', { type: 'webhook_failing' })).holds_now, [{ subject: 'w', value: 2 }]);
  await assert.rejects(
    made(w.live, 'alerts.preview_draft', { type: 'error_rate', route_ids: [newId()] }),
    /route_ids: has an ID that doesn't exist/,
  );
});

test('the line of the last hour has a value for each minute', async () => {
  const w = await workspace();
  const { id } = await alertOf(w.live, { type: 'request_failures', condition: { threshold: 3, window_minutes: 1 } });
  await calls(w.live, 4, at(10), failing);
  const lines = await made({ ...w.live, now: at(20) }, 'alerts.sparklines', {});
  const [line] = (lines.rows ?? lines) as { alert_id: string; values: (number | null)[]; from: string; threshold: number }[];
  assert.deepEqual([line?.alert_id, line?.threshold, line?.values.length, line?.values[50]], [id, 3, 60, 4]);
});
