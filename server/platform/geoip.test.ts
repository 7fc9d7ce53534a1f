import assert from 'node:assert/strict';
import { mkdtemp, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { gzipSync } from 'node:zlib';
import { until } from '#server/testing/until.ts';
import { mmdb, placeIn } from './geoip.fixture.ts';
import { type Places, placesFrom, readDatabase } from './geoip.ts';

const folder = await mkdtemp(path.join(tmpdir(), 'places-'));
after(() => rm(folder, { recursive: true }));

const nowhere = { country: null, city: null };
const world = () =>
  mmdb({
    '203.0.113.0/25': placeIn('DE', 'Berlin'),
    '203.0.113.128/25': placeIn('FR'),
    '198.51.100.0/24': placeIn('GB'),
    '10.0.0.0/8': placeIn('US'),
    '2001:db8::/32': placeIn('JP', 'Tokyo'),
    '192.0.2.0/25': { country: { iso_code: 'not a code' }, city: { names: { en: true } } },
    '192.0.2.128/25': { country: 'DE', city: 'Berlin' },
  });

/** The one database of a test, under a name of its own. */
async function written(name: string, bytes: Buffer): Promise<string> {
  const file = path.join(folder, name);
  await writeFile(file, bytes);
  return file;
}
async function opened(name: string, bytes: Buffer): Promise<Places> {
  const known = await placesFrom(await written(name, bytes))();
  assert.ok(known);
  return known;
}

test('an address has the country and the city of its network, however it is written', async () => {
  const { of } = await opened('world.mmdb', world());
  assert.deepEqual(of('203.0.113.9'), { country: 'DE', city: 'Berlin' });
  assert.deepEqual(of('203.0.113.200'), { country: 'FR', city: null });
  for (const mapped of ['::ffff:203.0.113.9', '::FFFF:cb00:7109', '0:0:0:0:0:ffff:203.0.113.9']) assert.equal(of(mapped).country, 'DE');
  assert.deepEqual(of('2001:db8::1'), { country: 'JP', city: 'Tokyo' });
});

test('what is unknown, private, damaged or no address is nowhere, and nothing throws', async () => {
  const { of } = await opened('unknown.mmdb', world());
  const unknown = ['8.8.8.8', '2a00::1', '10.1.2.3', '::ffff:10.1.2.3', '127.0.0.1', '::1', 'fe80::1%eth0', '192.0.2.1', '192.0.2.200'];
  const nonsense = [
    '',
    'localhost',
    '203.0.113.9/24',
    '203.0.113',
    '203.0.113.9.1',
    '::ffff:203.0.113.999',
    'x'.repeat(1_000),
    null,
    undefined,
  ];
  for (const ip of [...unknown, ...nonsense]) assert.deepEqual(of(ip), nowhere, String(ip));
});

test('a city whose name could begin a line of its own in a mail, or turn its writing round, has none', async () => {
  for (const name of ['Berlin\n\nConfirm at https://evil.test', 'Berlin\u2028x', '\u202egro.live', 'a\0b', 'a'.repeat(101)]) {
    const { of } = await opened('city.mmdb', mmdb({ '203.0.113.0/24': placeIn('DE', name) }));
    assert.deepEqual(of('203.0.113.9'), { country: 'DE', city: null }, JSON.stringify(name));
  }
  const { of } = await opened('city.mmdb', mmdb({ '203.0.113.0/24': placeIn('BR', "São João d'El-Rei (Centro)") }));
  assert.equal(of('203.0.113.9').city, "São João d'El-Rei (Centro)");
});

test('a network has a country when its first and last address agree', async () => {
  const { countryOf } = await opened('ranges.mmdb', world());
  assert.equal(countryOf('203.0.113.9'), 'DE');
  assert.equal(countryOf('203.0.113.0/26'), 'DE');
  assert.equal(countryOf('198.51.100.0/24'), 'GB');
  assert.equal(countryOf('203.0.113.0/24'), null, 'half German, half French');
  assert.equal(countryOf('10.0.0.0/16'), null);
  assert.equal(countryOf('2001:db8:1::/48'), 'JP');
  assert.equal(countryOf('203.0.113.0/33'), null);
});

test('a tree of IPv4 alone says nothing of IPv6', async () => {
  const { of } = await opened('v4.mmdb', mmdb({ '32.0.0.0/4': placeIn('DE') }, { version: 4 }));
  assert.equal(of('32.1.13.184').country, 'DE');
  assert.deepEqual(of('2001:db8::1'), nowhere, 'whose first 32 bits are that address');
});

test('a file that is missing, cut off, compressed or something else is told apart, and answers nothing', async () => {
  const whole = world();
  const cases: [string, Buffer, RegExp][] = [
    ['cut-end.mmdb', whole.subarray(0, whole.length - 40), /not a complete/],
    ['cut-start.mmdb', whole.subarray(whole.length - 210), /not a complete/],
    ['empty.mmdb', Buffer.alloc(0), /not a complete/],
    ['text.mmdb', Buffer.from('<html>not found</html>'), /not a complete/],
    ['packed.mmdb', gzipSync(whole), /compressed/],
  ];
  for (const [name, bytes, words] of cases) {
    const file = await written(name, bytes);
    await assert.rejects(readDatabase(file), words, name);
    assert.equal(await placesFrom(file)(), null, name);
  }
  await assert.rejects(readDatabase(path.join(folder, 'nowhere.mmdb')), /does not exist/);
  await assert.rejects(readDatabase(folder), /folder/);
  await assert.rejects(readDatabase('/dev/null'), /not a file|does not exist/);
  const huge = await written('huge.mmdb', whole);
  await truncate(huge, 2 ** 30 + 1);
  await assert.rejects(readDatabase(huge), /larger than 1 GiB/);
  assert.equal(await placesFrom(path.join(folder, 'nowhere.mmdb'))(), null);
});

test('a database whose data is damaged behind a sound description answers with nothing instead of failing', async () => {
  const bytes = world();
  const start = bytes.indexOf('iso_code') - 40;
  bytes.fill(0xff, start, bytes.lastIndexOf('MaxMind.com') - 3);
  const { of } = await opened('damaged.mmdb', bytes);
  assert.deepEqual(of('203.0.113.9'), nowhere);
});

test('a replaced file is read again; while the new one is broken or gone the old one answers', async () => {
  const file = await written('weekly.mmdb', mmdb({ '203.0.113.0/24': placeIn('DE') }));
  const now = placesFrom(file, 0);
  const becomes = (country: string) => until(async () => (await now())?.of('203.0.113.9').country === country, country);
  await becomes('DE');
  await writeFile(file, 'half of a fi');
  for (let i = 0; i < 5; i++) await becomes('DE');
  await rm(file);
  await becomes('DE');
  await rename(await written('next.mmdb', mmdb({ '203.0.113.0/24': placeIn('FR') })), file);
  await becomes('FR');
});
