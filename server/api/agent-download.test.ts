import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash, randomUUID, verify } from 'node:crypto';
import fs from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { controlPlaneKey } from '#server/domain/agents/control-key.ts';
import { agentRelease } from '#server/platform/agent-release.ts';
import { env } from '#server/platform/env.ts';
import { testDatabase } from '#server/testing/database.ts';
import { handleAgentDownload } from './agent-download.ts';

await testDatabase();
const ask = (target: string, init: RequestInit = {}, space: 'live' | 'test' = 'live') =>
  handleAgentDownload(new Request(`http://api.test${target}`, init), { space, ip: null, request_id: randomUUID(), user_agent: null });
const text = async (target: string) => (await ask(target)).text();

test('the signature is the control plane’s, over version and digest of the program', async () => {
  const program = Buffer.from(await (await ask('/agent/agent.mjs')).arrayBuffer());
  const signature = Buffer.from(await text('/agent/agent.mjs.sig'), 'base64');
  const { version } = agentRelease();
  const statement = `SVC-AGENT-BUILD-V1\n${version}\nany\nany\n${createHash('sha256').update(program).digest('hex')}`;
  const { pem } = await controlPlaneKey();
  assert.equal(verify(null, Buffer.from(statement), pem, signature), true);
  assert.equal(verify(null, Buffer.from(statement.replace('any', 'linux')), pem, signature), false);
});

test('the script names the API of its space and the key', async () => {
  const [live, sandbox] = await Promise.all([(await ask('/agent/install.sh')).text(), (await ask('/agent/install.sh', {}, 'test')).text()]);
  assert.match(live, new RegExp(`^API='${env.PUBLIC_API_URL}'$`, 'm'));
  assert.match(sandbox, new RegExp(`^API='${env.PUBLIC_SANDBOX_API_URL}'$`, 'm'));
  assert.ok(live.includes((await controlPlaneKey()).pem.trim()));
  assert.doesNotMatch(live, /__[A-Z_]+__/);
});

test('serves these three files, and reads only', async () => {
  for (const target of ['/agent/', '/agent/other', '/agent/__proto__', '/agent/agent.mjs.map'])
    assert.equal((await ask(target)).status, 404, target);
  const posted = await ask('/agent/install.sh', { method: 'POST' });
  assert.deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET, HEAD']);
  const first = await ask('/agent/agent.mjs');
  assert.equal((await ask('/agent/agent.mjs', { headers: { 'if-none-match': first.headers.get('etag') ?? '' } })).status, 304);
  const head = await ask('/agent/agent.mjs', { method: 'HEAD' });
  assert.deepEqual([await head.text(), head.headers.get('content-length')], ['', first.headers.get('content-length')]);
});

// The script itself, by a real shell, against these files; what a proxy on the way changed must not be installed.
let changed = '';
const server = createServer((req, res) => {
  void ask(req.url ?? '').then(async (answer) => {
    const bytes = Buffer.from(await answer.arrayBuffer());
    res.writeHead(answer.status).end(req.url === changed ? Buffer.concat([bytes, Buffer.from(' ')]) : bytes);
  });
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const api = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-install-'));
after(() => {
  server.close();
  fs.rmSync(folder, { recursive: true });
});

async function install(prefix: string, token: string, ...more: string[]) {
  const script = path.join(folder, 'install.sh');
  fs.writeFileSync(script, (await text('/agent/install.sh')).replace(/^API=.*$/m, `API='${api}'`));
  const at = path.join(folder, prefix);
  return new Promise<{ code: number; said: string; at: string }>((resolve) => {
    const settings = { env: { ...process.env, HOME: folder, SVC_INSTALL_TOKEN: token }, timeout: 240_000 };
    execFile('sh', [script, '--prefix', at, '--no-service', ...more], settings, (error, out, err) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, said: out + err, at }),
    );
  });
}

test('a program that was changed on the way is neither installed nor run', async (t) => {
  changed = '/agent/agent.mjs';
  t.after(() => {
    changed = '';
  });
  const { code, said, at } = await install('changed', `svc_ait_${'A'.repeat(43)}`);
  assert.notEqual(code, 0);
  assert.match(said, /signature of the agent is not good/);
  assert.deepEqual(fs.readdirSync(at), []);
});

test('a good program is installed for its own account alone, and a bad token says what to do', async () => {
  const { code, said, at } = await install('good', 'not-a-token');
  assert.notEqual(code, 0);
  assert.match(said, /An install token starts with svc_ait_/);
  assert.equal(fs.statSync(path.join(at, 'agent.mjs')).mode & 0o777, 0o700);
  assert.equal(fs.statSync(at).mode & 0o777, 0o711);
  assert.equal(fs.existsSync(path.join(at, 'credentials.json')), false);
});

test('the starter runs the program where it was installed, and a folder that would end a quotation is refused', async () => {
  const { at } = await install('started', 'not-a-token');
  const version = await new Promise<string>((resolve) =>
    execFile(path.join(at, 'sallyport-agent'), ['version'], (_error, out) => resolve(out)),
  );
  assert.equal(version.trim(), agentRelease().version);
  const odd = await install('a"b', 'not-a-token');
  assert.match(odd.said, /letters, digits/);
  assert.equal(fs.existsSync(odd.at), false);
});

test('takes no token by an argument', async () => {
  const { code, said } = await install('argument', '', `svc_ait_${'A'.repeat(43)}`);
  assert.notEqual(code, 0);
  assert.match(said, /a list of processes shows arguments/);
  assert.doesNotMatch(said, /AAAA/);
});
