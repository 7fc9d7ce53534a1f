import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { promisify } from 'node:util';
import { answer, refuse, startServer } from '../hostile-server.fixture.ts';
import { cli } from './cli.fixture.ts';
import { withFileLock } from './file-lock.ts';
import { changeProfiles, readProfiles } from './profiles.ts';

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'sp-session-'));
after(() => fs.rmSync(home, { recursive: true, force: true }));

/** A service that ends the login at the second use of a refresh token, as ours does (interface rule 21 §4.5). */
async function strictService() {
  let generation = 1;
  let ended = false;
  const server = await startServer((res, heard) => {
    if (heard.url === '/oauth/token') {
      ended ||= new URLSearchParams(heard.body).get('refresh_token') !== `r${generation}`;
      if (ended) return answer(400, { error: 'invalid_grant', error_description: 'The login has ended.' })(res, heard);
      generation++;
      const tokens = { access_token: `a${generation}`, refresh_token: `r${generation}`, token_type: 'Bearer', expires_in: 3600, scope: '' };
      return answer(200, { ...tokens, tenant: 'acme', client_id: 'svc_cli_x' })(res, heard);
    }
    if (ended || heard.headers.authorization !== `Bearer a${generation}`) return refuse(401, 'invalid_api_key')(res, heard);
    return answer(200, { data: { name: 'Acme', slug: 'acme' }, meta: { request_id: 'r' } })(res, heard);
  });
  return { url: server.url, generation: () => generation };
}

test('processes that find the token ended at the same time renew it once, and the login lives on', async () => {
  const service = await strictService();
  const file = path.join(home, 'credentials.json');
  const login = {
    kind: 'oauth',
    client_id: 'svc_cli_x',
    access_token: 'a1',
    refresh_token: 'r1',
    scope: '',
    expires_at: new Date(0).toISOString(),
  };
  const profiles = { acme: { host: service.url, space: 'live', tenant: 'acme', ...login } };
  fs.writeFileSync(file, JSON.stringify({ version: 1, current: 'acme', profiles }), { mode: 0o600 });
  const env = { PATH: process.env.PATH, HOME: home, SERVICE_CREDENTIALS_FILE: file } as unknown as NodeJS.ProcessEnv;
  const whoami = () => promisify(execFile)(process.execPath, ['sdk/cli/main.ts', 'whoami'], { env });
  const ended = await Promise.all([1, 2, 3].map(whoami));
  assert.ok(ended.every(({ stdout }) => stdout.includes('Acme')));
  assert.equal(service.generation(), 2, 'one refresh');
  assert.match(fs.readFileSync(file, 'utf8'), /"refresh_token": "r2"/);
  assert.equal(fs.statSync(file).mode & 0o777, 0o600);
});

test('the file is written under a new name that nobody can prepare, and never through a link', async () => {
  const folder = fs.mkdtempSync(path.join(home, 'shared-'));
  const file = path.join(folder, 'credentials.json');
  const trap = path.join(folder, 'trap');
  fs.symlinkSync(trap, `${file}.${process.pid}.new`);
  await changeProfiles(file, (stored) => {
    stored.profiles.acme = { host: 'https://api.example.com', space: 'live', tenant: 'acme', kind: 'api_key', api_key: 'tk_live_x' };
  });
  assert.equal(fs.existsSync(trap), false);
  assert.equal(fs.lstatSync(file).mode & 0o777, 0o600);
  assert.equal(readProfiles(file).profiles.acme?.tenant, 'acme');
});

test('what a service says moves no cursor of the terminal, as text and as JSON', async () => {
  const evil = 'a\u001b]0;x\u0007\u009b2J\u202eb';
  const server = await startServer((res, heard) =>
    heard.url.includes('refused')
      ? answer(400, { error: { type: 'x\u001b[2J', message: evil } })(res, heard)
      : answer(200, { data: { [evil]: evil }, meta: { request_id: 'r' } })(res, heard),
  );
  const env = { HOME: home, SERVICE_API_KEY: 'tk_live_x', SERVICE_BASE_URL: server.url };
  const ended = [
    await cli(['api', 'GET', '/refused'], { env }),
    await cli(['api', 'GET', '/shown'], { env }),
    await cli(['api', 'GET', '/shown', '--json'], { env }),
  ];
  for (const { out, err } of ended) assert.doesNotMatch(`${out}${err}`, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  assert.deepEqual((JSON.parse(ended[2]?.out ?? '') as { data: object }).data, { [evil]: evil });
});

test('one holds the lock at a time, and whoever died with it leaves it free', async () => {
  const file = path.join(home, 'lock');
  let [inside, most] = [0, 0];
  const work = async () => {
    most = Math.max(most, ++inside);
    for (let turns = 0; turns < 10; turns++) await new Promise(setImmediate);
    inside--;
  };
  await Promise.all([1, 2, 3].map(() => withFileLock(file, work)));
  assert.equal(most, 1);
  const script = `import { withFileLock } from './sdk/cli/file-lock.ts'; await withFileLock(${JSON.stringify(file)}, async () => process.kill(process.pid, 'SIGKILL'));`;
  await assert.rejects(promisify(execFile)(process.execPath, ['--input-type=module-typescript', '-e', script]));
  await withFileLock(file, () => Promise.resolve());
});
