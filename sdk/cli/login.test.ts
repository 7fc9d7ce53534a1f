import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { answer, refuse, startServer } from '../hostile-server.fixture.ts';
import { cli } from './cli.fixture.ts';
import { readProfiles } from './profiles.ts';

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'sp-login-'));
after(() => fs.rmSync(home, { recursive: true, force: true }));

/** A service that refuses what takes a second factor, and whose device codes are approved at once. */
const service = () =>
  startServer((res, heard) => {
    if (heard.url === '/oauth/device_authorization')
      return answer(200, { device_code: 'd', user_code: 'BCDF-GHJK', verification_uri: 'http://x', expires_in: 900, interval: 0 })(
        res,
        heard,
      );
    if (heard.url === '/oauth/token')
      return answer(200, {
        ...{ access_token: 'svc_live_new', refresh_token: 'new', token_type: 'Bearer', expires_in: 3600, scope: '' },
        ...{ tenant: 'acme', client_id: 'svc_cli_x' },
      })(res, heard);
    if (heard.url === '/oauth/revoke') return answer(200, {})(res, heard);
    return refuse(403, 'step_up_required')(res, heard);
  });

/** A login of that service as the profile `work`, which is the current one. */
async function signedIn(more: object = {}) {
  const { url, heard } = await service();
  const file = path.join(fs.mkdtempSync(path.join(home, 'own-')), 'credentials.json');
  const old = { access_token: 'svc_live_old', refresh_token: 'old', scope: '', expires_at: new Date(Date.now() + 3_600_000).toISOString() };
  const profile = { host: url, space: 'live', tenant: 'acme', kind: 'oauth', client_id: 'svc_cli_x', ...old, ...more };
  fs.writeFileSync(file, JSON.stringify({ version: 1, current: 'work', profiles: { work: profile } }), { mode: 0o600 });
  return { url, heard, file, profile, env: { SERVICE_CREDENTIALS_FILE: file } };
}

test('--confirm signs the current profile in again where it is, and asks for the second factor', async () => {
  const { url, heard, file, profile, env } = await signedIn();

  const refused = await cli(['crypto-keys', 'delete', 'k', '--yes'], { env });
  assert.equal(refused.code, 1);
  assert.match(refused.err, /Sign in as the message says, then repeat the request\./);
  const done = await cli(['login', '--confirm', '--device'], { env });
  assert.equal(done.code, 0, done.err);
  const asked = heard.find((one) => one.url === '/oauth/device_authorization');
  assert.equal(new URLSearchParams(asked?.body).get('acr_values'), 'step_up');
  const { current, profiles } = readProfiles(file);
  assert.deepEqual([current, Object.keys(profiles)], ['work', ['work']]);
  assert.equal((profiles.work as typeof profile | undefined)?.refresh_token, 'new');
  assert.equal(new URLSearchParams(heard.at(-1)?.body).get('token'), 'old', 'the login it replaces ends');

  const browser = cli(['login', '--confirm', '--no-browser'], { env, signal: AbortSignal.timeout(500) });
  const address = /http\S+\/oauth\/authorize\S+/.exec((await browser).err)?.[0] ?? '';
  const { origin, searchParams } = new URL(address);
  assert.deepEqual([origin, searchParams.get('acr_values'), searchParams.get('tenant')], [url, 'step_up', 'acme']);
  const plain = await cli(['login', '--no-browser', '--host', url], { env, signal: AbortSignal.timeout(500) });
  assert.ok(!plain.err.includes('acr_values'));
  assert.equal((await cli(['login', '--api-key', '--confirm'], { env, input: 'tk_live_x' })).code, 2);
});

test('login without an address goes where the profile goes, says so, and replaces no other workspace', async () => {
  const { url, heard, file, env } = await signedIn();
  const done = await cli(['login', '--device'], { env });
  assert.equal(done.code, 0, done.err);
  assert.ok(done.err.includes(`Signing in to ${url}, as profile "work" does. --host names another address.`), done.err);
  assert.equal(heard.filter((one) => one.url === '/oauth/token').length, 1);
  assert.deepEqual([readProfiles(file).current, Object.keys(readProfiles(file).profiles)], ['work', ['work']]);

  const other = await signedIn({ tenant: 'other' });
  assert.equal((await cli(['login', '--device'], { env: other.env })).code, 0);
  const { current, profiles } = readProfiles(other.file);
  assert.deepEqual([current, Object.keys(profiles)], ['acme', ['work', 'acme']], 'the person chose another workspace');

  const key = await signedIn({ kind: 'api_key', api_key: 'tk_live_x' });
  assert.equal((await cli(['login', '--device'], { env: key.env })).code, 0);
  assert.deepEqual(Object.keys(readProfiles(key.file).profiles), ['work', 'acme'], 'the API key stays');
});

test('a refused login names the command for the profile that was used', async () => {
  const message = "It wasn't confirmed. To confirm it, run service-cli login --confirm, or start the login again.";
  const unconfirmed = await startServer(answer(403, { error: { type: 'step_up_required', message, request_id: 'r' } }));
  const { env: other } = await signedIn({ host: unconfirmed.url });
  const named = await cli(['routes', 'list', '--profile', 'work'], { env: other });
  assert.match(named.err, /\nRun: service-cli login --confirm --profile work\n/);
  assert.match((await cli(['routes', 'list'], { env: other })).err, /\nRun: service-cli login --confirm\n/);
  const absent = await cli(['routes', 'list', '--profile', 'absent'], { env: other });
  assert.match(absent.err, /\nRun: service-cli login --profile absent\n/);
});

test('a browser login at an address where nothing listens, or nothing answers, ends at once and says so', async () => {
  const silent = net.createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as net.AddressInfo;
  const host = `http://127.0.0.1:${port}`;
  const env = { SERVICE_CREDENTIALS_FILE: path.join(home, 'dead.json') };
  const ended = async (reason: RegExp) => {
    const { code, err } = await cli(['login', '--no-browser', '--host', host], { env });
    assert.equal(code, 5, err);
    assert.match(err, reason);
    assert.match(err, /Check the address and your connection\./);
    assert.doesNotMatch(err, /oauth\/authorize/);
  };
  await ended(/The connection failed/);
  await new Promise<void>((resolve) => silent.close(() => resolve()));
  await ended(/Nothing is listening at this address/);
});
