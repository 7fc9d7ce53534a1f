import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { isZone, leastGap, nextFire, parseCron } from './cron.shared.ts';

const next = (text: string, zone: string, after: string, n = 3): string[] => {
  const cron = parseCron(text);
  assert.notEqual(typeof cron, 'string', String(cron));
  const found: string[] = [];
  for (let at = new Date(after); found.length < n; ) {
    const fire = nextFire(cron as Exclude<typeof cron, string>, zone, at);
    if (!fire) break;
    found.push(fire.toISOString().slice(0, 16));
    at = fire;
  }
  return found;
};

test('a local time that clocks skip is the first minute after the gap', () => {
  assert.deepEqual(next('30 2 * * *', 'Europe/Berlin', '2026-03-28T00:00Z'), ['2026-03-28T01:30', '2026-03-29T01:00', '2026-03-30T00:30']);
  assert.deepEqual(next('15 2 * * *', 'America/New_York', '2026-03-07T00:00Z'), [
    '2026-03-07T07:15',
    '2026-03-08T07:00',
    '2026-03-09T06:15',
  ]);
  // Half an hour, and midnight itself.
  assert.deepEqual(next('15 2 * * *', 'Australia/Lord_Howe', '2026-10-02T12:00Z'), [
    '2026-10-02T15:45',
    '2026-10-03T15:30',
    '2026-10-04T15:15',
  ]);
  assert.deepEqual(next('0 0 * * *', 'Africa/Cairo', '2026-04-23T00:00Z'), ['2026-04-23T22:00', '2026-04-24T21:00', '2026-04-25T21:00']);
});

test('a local time that comes twice counts once, the first time; where any hour will do, time simply goes on', () => {
  assert.deepEqual(next('30 2 * * *', 'Europe/Berlin', '2026-10-24T00:00Z'), ['2026-10-24T00:30', '2026-10-25T00:30', '2026-10-26T01:30']);
  assert.deepEqual(next('30 1 * * *', 'America/New_York', '2026-10-31T12:00Z', 2), ['2026-11-01T05:30', '2026-11-02T06:30']);
  assert.deepEqual(next('*/30 * * * *', 'Europe/Berlin', '2026-10-24T23:45Z', 6), [
    '2026-10-25T00:00',
    '2026-10-25T00:30',
    '2026-10-25T01:00',
    '2026-10-25T01:30',
    '2026-10-25T02:00',
    '2026-10-25T02:30',
  ]);
});

test('names, ranges, lists and steps are read, and of two restricted days either will do', () => {
  assert.deepEqual(next('0 9 * * mon-fri', 'UTC', '2026-11-20T10:00Z', 2), ['2026-11-23T09:00', '2026-11-24T09:00']);
  assert.deepEqual(next('0 0 1,15 * 7', 'UTC', '2026-11-14T00:00Z', 4), [
    '2026-11-15T00:00',
    '2026-11-22T00:00',
    '2026-11-29T00:00',
    '2026-12-01T00:00',
  ]);
  assert.deepEqual(next('5/20 8-10/2 1 jan *', 'UTC', '2026-11-14T00:00Z', 7).at(-1), '2028-01-01T08:05');
  assert.deepEqual(next('0 0 29 2 *', 'UTC', '2026-11-14T00:00Z', 2), ['2028-02-29T00:00', '2032-02-29T00:00']);
  for (const text of [
    '* * * *',
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * * 13 *',
    '* * * * 8',
    '5-1 * * * *',
    '*/0 * * * *',
    '1,,2 * * * *',
    'a * * * *',
    '* * 30 2 *',
    '1/2/3 * * * *',
    '',
    '-1 * * * *',
  ])
    assert.equal(typeof parseCron(text), 'string', text);
});

test('intervals and zones are known', () => {
  const gap = (text: string) => leastGap(parseCron(text) as Exclude<ReturnType<typeof parseCron>, string>, new Date('2026-11-24T00:00Z'));
  assert.deepEqual(['* * * * *', '*/15 * * * *', '0,59 * * * *', '0 9 * * *'].map(gap), [1, 15, 1, 1_440]);
  assert.deepEqual([isZone('Europe/Berlin'), isZone('Mars/Olympus')], [true, false]);
});

test('what comes next is the first minute that shows the local time, beside a search minute by minute', () => {
  const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata'];
  const local = (at: number, zone: string) => {
    const parts = new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).formatToParts(
      at,
    );
    return [Number(parts.find(({ type }) => type === 'hour')?.value), Number(parts.find(({ type }) => type === 'minute')?.value)];
  };
  const run = fc.record({
    zone: fc.constantFrom(...zones),
    hour: fc.integer({ min: 4, max: 23 }),
    minute: fc.integer({ min: 0, max: 59 }),
    day: fc.integer({ min: 0, max: 364 }),
  });
  fc.assert(
    fc.property(run, ({ zone, hour, minute, day }) => {
      const after = new Date(Date.UTC(2026, 0, 1) + day * 86_400_000);
      const cron = parseCron(`${minute} ${hour} * * *`) as Exclude<ReturnType<typeof parseCron>, string>;
      let at = after.getTime() + 60_000;
      for (; ; at += 60_000) {
        const [h, m] = local(at, zone);
        if (h === hour && m === minute) break;
      }
      assert.equal(nextFire(cron, zone, after)?.getTime(), at);
    }),
    { numRuns: 12 },
  );
});
