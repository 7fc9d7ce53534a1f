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
    '@daily',
    '0 0 9 * * *',
    '0 0 L * *',
    '0 0 15W * *',
    '0 0 * * 5L',
    '0 0 * * mon#1',
    '0 0 * * +1',
    '0 0 ? * 1',
    '/10 * * * *',
    '0 0 * * monday',
    '0 0 * * 1jan',
    '0 jan * * *',
    '0 0 31 4,6 *',
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

test('a step longer than its field names the first value of its range, as in crontab', () => {
  for (const [long, first] of [
    ['*/90 * * * *', '0 * * * *'],
    ['7/61 */25 * * *', '7 0 * * *'],
    ['10-40/99 0 */32 * *', '10 0 1 * *'],
    ['0 0 1 */13 *', '0 0 1 1 *'],
    ['0,30/77 0 * feb/40 *', '0,30 0 * 2 *'],
    ['0 0 * * tue/8', '0 0 * * 2'],
    ['0 0 * * */9,mon-fri/50', '0 0 * * 0,1'],
  ] as const)
    assert.deepEqual(next(long, 'Europe/Berlin', '2026-11-20T10:00Z', 8), next(first, 'Europe/Berlin', '2026-11-20T10:00Z', 8), long);
});

test('a step of hours names every nth hour, and only an asterisk leaves a field open', () => {
  const after = '2026-11-28T00:30Z';
  const times = (text: string, n = 4) => next(text, 'UTC', after, n).map((time) => time.slice(8));
  assert.deepEqual(times('0 */6 * * *'), ['28T06:00', '28T12:00', '28T18:00', '29T00:00']);
  assert.deepEqual(times('0 */2 * * *', 3), ['28T02:00', '28T04:00', '28T06:00']);
  assert.deepEqual(times('0 9-17/2 * * *', 3), ['28T09:00', '28T11:00', '28T13:00']);
  assert.deepEqual(times('24 */5 * * *', 5), ['28T05:24', '28T10:24', '28T15:24', '28T20:24', '29T00:24']);
  // Of two fields of days that name some, either will do; a step names some.
  assert.deepEqual(times('0 0 */10 * 1', 3), ['30T00:00', '01T00:00', '07T00:00']);
  // Every hour, in whichever way it is written, goes on with the clock; the hours of a step are times of day.
  for (const hours of ['*', '*/1', '0-23'])
    assert.equal(next(`0 ${hours} * * *`, 'Europe/Berlin', '2026-10-24T23:30Z', 3).at(-1), '2026-10-25T02:00', hours);
  assert.deepEqual(next('0 */2 * * *', 'Europe/Berlin', '2026-10-24T21:00Z', 3), [
    '2026-10-24T22:00',
    '2026-10-25T00:00',
    '2026-10-25T03:00',
  ]);
  assert.deepEqual(next('0 */2 * * *', 'Europe/Berlin', '2026-03-29T00:00Z', 2), ['2026-03-29T01:00', '2026-03-29T02:00']);
});

test('what a field holds wrongly is named with what it may hold', () => {
  assert.equal(parseCron('5,61 * * * *'), "has a minute that can't be read: 61 (0 to 59)");
  assert.equal(parseCron('0 25 * * *'), "has an hour that can't be read: 25 (0 to 23)");
  assert.equal(parseCron('0 0 * * fri#2'), "has a day of the week that can't be read: fri#2 (0 to 7 or sun to sat)");
  assert.equal(parseCron('0 0 31 4 *'), 'never comes: no such day exists');
  assert.equal(parseCron('@daily'), 'must have five fields: minute, hour, day, month, weekday');
  assert.equal(typeof parseCron('0 0 31 4 1'), 'object');
});

test('intervals and zones are known', () => {
  const gap = (text: string) => leastGap(parseCron(text) as Exclude<ReturnType<typeof parseCron>, string>, new Date('2026-11-24T00:00Z'));
  assert.deepEqual(['* * * * *', '*/15 * * * *', '0,59 * * * *', '0 9 * * *'].map(gap), [1, 15, 1, 1_440]);
  assert.deepEqual(['Europe/Berlin', 'Mars/Olympus', '+05:30', ''].map(isZone), [true, false, false, false]);
  const cron = parseCron('0 9 * * *') as Exclude<ReturnType<typeof parseCron>, string>;
  assert.equal(nextFire(cron, 'eUROPE/berlin', new Date('2026-01-01T00:00Z'))?.toISOString(), '2026-01-01T08:00:00.000Z');
  assert.throws(() => nextFire(cron, 'Mars/Olympus', new Date()), RangeError);
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
