import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { decide, pageOf } from '#server/auth/logins.fixture.ts';
import { startDocuments } from '#server/domain/oauth-grants/client-documents.fixture.ts';
import { held } from '#server/domain/oauth-grants/client-documents.ts';
import { clientFile, unlessFound } from '#server/testing/clients.ts';
import { onFileEnd } from '#server/testing/file-end.ts';
import { createTestPerson } from '#server/testing/test-person.ts';
import { workspace } from '#server/testing/workspace.ts';
import { served } from '../gateway.fixture.ts';
import { startApi } from './api-door.fixture.ts';
import { doorTo } from './door.fixture.ts';
import { makeGateway, makeMcp, makeServer } from './mcp.fixture.ts';
import { startLegacyUpstream } from './upstreams.fixture.ts';

// The command line of the MCP Inspector as people install it (scripts/fetch-clients.ts): with a credential, and from an address alone to a call of a tool.

const inspector = clientFile('@modelcontextprotocol/inspector/clients/launcher/build/index.js');
const options = { skip: unlessFound(inspector, 'the MCP Inspector'), timeout: 120_000 };

const { api, running } = await startApi();
const documents = await startDocuments();
held.source = documents.source();

/** Where the program keeps what it remembers, so that it never sees what the person at this machine keeps. */
const home = fs.mkdtempSync(path.join(os.tmpdir(), 'inspector-'));
onFileEnd(() => fs.rmSync(home, { recursive: true, force: true }));

type Result = { tools?: { name: string }[]; content?: { text: string }[]; structuredContent?: unknown; isError?: boolean };

/** Runs a method, or the call of a tool; `consent` is given the address that a person would open. */
async function inspect(url: string, args: readonly string[], consent?: (address: string) => Promise<void>): Promise<Result> {
  const program = [inspector as string, '--cli', url, '--transport', 'http', '--format', 'json', ...args];
  const child = spawn(process.execPath, program, {
    cwd: home,
    // It is told to open a browser, and prints the address as well: that browser is `true`.
    env: {
      ...{ NODE_ENV: 'production', PATH: process.env.PATH, HOME: home, MCP_STORAGE_DIR: home, MCP_INSPECTOR_SECRET_STORE: 'file' },
      ...{ BROWSER: 'true', MCP_AUTO_OPEN_ENABLED: String(consent !== undefined) },
    },
    timeout: 60_000,
  });
  let [stdout, stderr] = ['', ''];
  let isAsked = false;
  child.stdin.end();
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk;
    const [, address] = /(http:\/\/\S+\/oauth\/authorize\?\S+)\n/.exec(stderr) ?? [];
    if (address === undefined || isAsked) return;
    isAsked = true;
    consent?.(address).catch((error: unknown) => void child.emit('error', error));
  });
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  assert.equal(code, 0, `${stderr}\n${stdout}`);
  return (JSON.parse(stdout) as { result: Result }).result;
}

const listing = ['--method', 'tools/list'];
const calling = (name: string, args: object) => ['--method', 'tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(args)];
const namesOf = ({ tools }: Result) => tools?.map(({ name }) => name).sort();

for (const era of ['legacy', 'modern'])
  test(`the inspector lists and calls tools with a token, in the ${era} era`, options, async () => {
    const upstream = await startLegacyUpstream();
    const w = await workspace();
    const { token } = await makeMcp(running, w, upstream.url);
    const door = await doorTo(running, w.tenant.slug);
    const credential = ['--header', `Authorization: Bearer ${token.text}`, '--protocol-era', era];
    const addresses = [
      [`${door}/v1/mcp/vendor`, ''],
      [`${door}/v1/mcp`, 'vendor__'],
      [`${api}/v1/mcp/vendor`, ''],
    ] as const;
    for (const [url, prefix] of addresses) {
      assert.deepEqual(
        namesOf(await inspect(url, [...listing, ...credential])),
        ['echo', 'fail', 'sum'].map((name) => prefix + name),
      );
      const echo = await inspect(url, [...calling(`${prefix}echo`, { text: 'from the inspector' }), ...credential]);
      assert.equal(echo.content?.[0]?.text, 'You said: from the inspector');
      const sum = await inspect(url, [...calling(`${prefix}sum`, { a: 2, b: 3 }), ...credential]);
      assert.deepEqual(sum.structuredContent, { sum: 5 });
    }
  });

test('the inspector works with the Management API by an API key', options, async () => {
  const w = await workspace();
  const { text } = await w.key('live');
  const url = `${api}/v1/mcp/sallyport`;
  const credential = ['--header', `Authorization: Bearer ${text}`];
  assert.ok(namesOf(await inspect(url, [...listing, ...credential]))?.includes('environments_list'));
  assert.match((await inspect(url, [...calling('environments_list', {}), ...credential])).content?.[0]?.text ?? '', /"data"/);
});

test('the inspector goes from a 401 to a call of a tool by the address alone', options, async () => {
  const upstream = await startLegacyUpstream();
  const who = await createTestPerson({ signedIn: true });
  await makeServer(who.w, await makeGateway(who.w), 'vendor', { upstream_url: upstream.url, allowed_tools: ['echo'] });
  await served(running, who.w);
  const callback = `http://127.0.0.1:${await freePort()}/oauth/callback`;
  documents.documents.set('/inspector.json', documents.document('/inspector.json', { redirect_uris: [callback] }));
  const url = `${api}/v1/mcp/vendor`;
  const signing = ['--client-metadata-url', `${documents.origin}/inspector.json`, '--callback-url', callback];
  let asked = 0;
  const consent = async (address: string) => {
    asked++;
    const opened = await fetch(address, { redirect: 'manual' });
    assert.equal(opened.status, 302, await opened.text());
    const handle = String(opened.headers.get('location')).split('/consent/')[1] as string;
    assert.equal((await pageOf(who.b, handle)).state, 'ask');
    assert.equal((await fetch(await decide(who.b, handle, { decision: 'allow' }))).status, 200);
  };
  const echo = await inspect(url, [...calling('echo', { text: 'by the address alone' }), ...signing], consent);
  assert.equal(echo.content?.[0]?.text, 'You said: by the address alone');
  assert.deepEqual(namesOf(await inspect(url, [...listing, ...signing, '--stored-auth-only'], consent)), ['echo']);
  assert.equal(asked, 1, 'the second run goes on with the token of the first');
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
