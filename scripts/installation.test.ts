import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import test, { after } from 'node:test';
import { parseEnv } from '../server/platform/env.ts';
import { folderOf } from '../server/testing/processes.ts';
import { otherSettings, recordInstallation, settingsOfMigration } from './installation.ts';

const { directory, remove } = folderOf('installation');
after(remove);
const known = path.join(directory, 'known');
/** Where temporary installations are: the folder of these tests is one itself. */
const passing = path.join(directory, 'passing');
const place = (name: string) => {
  const data = path.join(directory, name);
  fs.mkdirSync(path.join(data, 'run'), { recursive: true });
  return data;
};
/** What a command with these variables is told; `usual` stands for the data directory of whoever names none. */
const told = (source: Record<string, string>, usual: string) => otherSettings(parseEnv({ DATA_DIR: usual, ...source }), source, known);

/** A supervisor holds this socket while it runs. */
async function running(data: string): Promise<() => Promise<void>> {
  const server = net.createServer((socket) => socket.end());
  await new Promise<void>((resolve) => server.listen(`${parseEnv({ DATA_DIR: data }).WEB_SOCKET}.run`, resolve));
  return () => new Promise<void>((resolve) => server.close(() => resolve()));
}

test('a command that names no installation is refused when it would make another one beside that of the service', async () => {
  const [theirs, usual] = [place('theirs'), place('usual')];
  assert.equal(await told({}, usual), undefined, 'nothing was started from this checkout yet');
  recordInstallation(parseEnv({ DATA_DIR: theirs }), known, passing);
  assert.match(
    (await told({}, usual)) ?? '',
    new RegExp(`was started from ${theirs}, but these settings lead to ${usual}. Set DATA_DIR=${theirs}`),
  );
  assert.equal(await told({ DATA_DIR: usual }, usual), undefined, 'it was named');
  assert.equal(await told({ DATABASE_URL: 'postgres://db.example.com/x' }, usual), undefined, 'it was named');

  fs.mkdirSync(path.join(usual, 'postgres/data'), { recursive: true });
  fs.writeFileSync(path.join(usual, 'postgres/data/PG_VERSION'), '18');
  assert.equal(await told({}, usual), undefined, 'an installation is there');
  const stop = await running(theirs);
  assert.match((await told({}, usual)) ?? '', /^Sallyport runs from/);
  const stopUsual = await running(usual);
  assert.equal(await told({}, usual), undefined, 'both run');
  await stopUsual();
  await stop();

  fs.rmSync(theirs, { recursive: true });
  fs.rmSync(path.join(usual, 'postgres'), { recursive: true });
  assert.equal(await told({}, usual), undefined, 'what is gone misleads nobody');
  assert.deepEqual(fs.readdirSync(known), [], 'and is forgotten');

  recordInstallation(parseEnv({ DATA_DIR: place('passing/of-a-test') }), known, passing);
  assert.deepEqual(fs.readdirSync(known), []);
  assert.equal(await told({}, usual), undefined, 'a temporary installation that was killed misleads nobody');
});

test('a command without the DATABASE_URL of the service is refused, and its password is written nowhere', async () => {
  const data = place('external');
  const DATABASE_URL = 'postgres://svc:hunter2hunter2@db.example.com:6432/vault';
  recordInstallation(parseEnv({ DATA_DIR: data, DATABASE_URL }), known, passing);
  for (const file of [path.join(data, 'installation.json'), ...fs.readdirSync(known).map((name) => path.join(known, name))])
    assert.ok(!fs.readFileSync(file, 'utf8').includes('hunter2'));
  assert.match(
    (await told({ DATA_DIR: data }, data)) ?? '',
    /uses the database db\.example\.com:6432\/vault\. Set DATABASE_URL as it does/,
  );
  assert.equal(
    await told({ DATA_DIR: data, DATABASE_URL: 'postgres://other@db.example.com:6432/vault' }, data),
    undefined,
    'another user of it',
  );
  const other = { DATA_DIR: data, DATABASE_URL: 'postgres://db.example.com/restored' };
  assert.equal(await told(other, data), undefined, 'a copy, while nothing runs');
  const stop = await running(data);
  assert.match((await told(other, data)) ?? '', /Set DATABASE_URL as it does/);

  const warnings: string[] = [];
  const migrated = (url: string) => settingsOfMigration((text) => warnings.push(text), { DATA_DIR: data, DATABASE_URL: url }, known);
  await migrated('postgres://svc@db.example.com:5432/vault');
  assert.match(warnings.join(), /db\.example\.com:6432\/vault.+db\.example\.com:5432\/vault/);
  for (const url of [other.DATABASE_URL, 'postgres://db2.example.com:6432/vault'])
    await assert.rejects(migrated(url), /Set DATABASE_URL as it does/);
  await stop();
});
