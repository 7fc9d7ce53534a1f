import assert from 'node:assert/strict';
import test from 'node:test';
import { distanceKm, impossibleTravel, type Sighting, sightingOf } from './impossible-travel.ts';

const at = (lat: number, lon: number, time: string, more: Partial<Sighting> = {}): Sighting => ({
  ...{ lat, lon, radius_km: 20, country: null, at: `2026-11-20T${time}:00.000Z`, ip: '203.0.113.7' },
  ...more,
});
const auckland = at(-36.85, 174.76, '09:00');
const london = at(51.51, -0.13, '11:00', { ip: '198.51.100.7' });
const nobody = () => false;

test('the example of the interface is flagged with its distance and speed', () => {
  assert.ok(Math.abs(distanceKm(auckland, london) - 18_336) < 10);
  const found = impossibleTravel(auckland, london, nobody);
  assert.ok(found && Math.abs(found.distance_km - 18_336) < 10 && Math.abs(found.speed_kmh - 9_168) < 5);
});

test('a flight, a neighbouring city, an inexact place and a trusted address are not', () => {
  const slow = { ...london, at: '2026-11-21T10:00:00.000Z' };
  assert.equal(impossibleTravel(auckland, slow, nobody), null);
  assert.equal(impossibleTravel(at(52.52, 13.4, '09:00'), at(53.55, 9.99, '09:01'), nobody), null, 'Berlin and Hamburg');
  assert.equal(impossibleTravel(auckland, { ...london, radius_km: 500 }, nobody), null);
  for (const trusted of [auckland.ip, london.ip])
    assert.equal(
      impossibleTravel(auckland, london, (ip) => ip === trusted),
      null,
    );
});

test('two uses at once count as a minute apart, in either order', () => {
  const there = { ...london, at: auckland.at };
  assert.ok(impossibleTravel(auckland, there, nobody));
  assert.ok(impossibleTravel(london, auckland, nobody));
});

test('what is stored wrongly is no sighting', () => {
  assert.deepEqual(sightingOf(auckland), auckland);
  for (const stored of [null, 'x', {}, { ...auckland, lat: 'x' }, { ...auckland, at: 'never' }, { ...auckland, ip: 7 }])
    assert.equal(sightingOf(stored), null);
});
