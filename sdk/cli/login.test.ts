import assert from 'node:assert/strict';
import fs from 'node:fs';
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

test('--confirm signs the current profile in again where it is, and asks for the second factor', async () => {
  const { url, heard } = await service();
  const file = path.join(home, 'credentials.json');
  const old = { access_token: 'svc_live_old', refresh_token: 'old', scope: '', expires_at: new Date(Date.now() + 3_600_000).toISOString() };
  const profile = { host: url, space: 'live', tenant: 'acme', kind: 'oauth', client_id: 'svc_cli_x', ...old };
  fs.writeFileSync(file, JSON.stringify({ version: 1, current: 'work', profiles: { work: profile } }), { mode: 0o600 });
  const env = { SERVICE_CREDENTIALS_FILE: file };

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
