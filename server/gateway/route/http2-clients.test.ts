import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { makeRoute, makeSecret, served, startGateway, startUpstream } from '../gateway.fixture.ts';

// HTTP/2 as programs speak it that people have: curl, and nghttp and h2load of nghttp2 (Debian: nghttp2-client). Each stands in for a proxy that is trusted.

const { directory } = await testDatabase({ TRUSTED_PROXIES: '127.0.0.1' });
const running = await startGateway();
const upstream = await startUpstream((req, res, body) => {
  res.writeHead(200, { 'content-type': 'application/json', 'x-svc-origin': 'forged' });
  res.end(JSON.stringify({ method: req.method, url: req.url, bytes: body.length }));
});
const w = await workspace();
const { text: key } = await w.key();
await makeSecret(w, 'TOKEN', { production: 'the-token-of-the-upstream' });
await makeRoute(w, 'orders', upstream.url, { inject_headers_json: { Authorization: 'Bearer {{secret:TOKEN}}' } });
await served(running, w);
const url = (target: string) => `http://127.0.0.1:${running.port}/p/${w.tenant.slug}${target}`;
const withKey = `x-svc-key: ${key}`;
const last = () => upstream.seen.at(-1) as (typeof upstream.seen)[number];

const answers = (command: string, args: readonly string[]) => spawnSync(command, args, { encoding: 'utf8' });
const noCurl = !/\bHTTP2\b/.test(answers('curl', ['--version']).stdout ?? '') && "curl with HTTP/2 isn't on this machine";
const noNghttp = answers('nghttp', ['--version']).status !== 0 && "nghttp isn't on this machine (Debian: nghttp2-client)";
const noH2load = answers('h2load', ['--version']).status !== 0 && "h2load isn't on this machine (Debian: nghttp2-client)";

/** What curl printed: the answers, each with the line of `-w` behind it. */
async function curl(args: readonly string[], input?: Buffer): Promise<string> {
  const told = '\n%{http_version} %{http_code} %{num_connects}\n';
  const running = spawn('curl', ['-sS', '--noproxy', '*', '--max-time', '30', '-w', told, '-H', withKey, ...args]);
  running.stdin.on('error', () => undefined);
  running.stdin.end(input);
  const [out, fault] = await Promise.all([running.stdout.toArray(), running.stderr.toArray()]);
  assert.equal(Buffer.concat(fault).toString(), '');
  return Buffer.concat(out).toString();
}
const prior = '--http2-prior-knowledge';

test('curl: a call goes upstream with its secret, and its answer has the block', { skip: noCurl }, async () => {
  const out = await curl([prior, '-i', url('/orders/v1/x?y=1')]);
  assert.match(
    out,
    /^HTTP\/2 200 \r\n[\s\S]*x-svc-origin: upstream\r\n[\s\S]*x-svc-upstream-status: 200\r\n[\s\S]*"url":"\/v1\/x\?y=1"[\s\S]*\n2 200 1\n$/,
  );
  assert.doesNotMatch(out, /forged/);
  const { headers } = last();
  assert.equal(headers.authorization, 'Bearer the-token-of-the-upstream');
  assert.equal(headers['x-svc-key'], undefined);
});

test('curl: a body of ten megabytes arrives whole, and none is none', { skip: noCurl }, async () => {
  const out = await curl([prior, '-H', 'expect:', '--data-binary', '@-', url('/orders/up')], Buffer.alloc(10_000_000, 'ab'));
  assert.match(out, /"method":"POST","url":"\/up","bytes":10000000/);
  assert.match(await curl([prior, '-X', 'POST', url('/orders/none')]), /"method":"POST","url":"\/none","bytes":0/);
  assert.deepEqual([last().headers['content-length'], last().headers['transfer-encoding']], ['0', undefined]);
  assert.match(await curl([prior, '-I', url('/orders/head')]), /^HTTP\/2 200 /);
  assert.equal(last().method, 'HEAD');
});

test('curl: a refusal is that of any other call', { skip: noCurl }, async () => {
  const out = await curl([prior, '-i', '-H', 'x-svc-environment: nowhere', url('/orders/x')]);
  assert.match(out, /^HTTP\/2 404 \r\n[\s\S]*x-svc-error: environment_not_configured\r\n[\s\S]*"type":"environment_not_configured"/);
});

test('curl: who asks to change to HTTP/2 on the way gets HTTP/1.1, and the upstream hears nothing of it', { skip: noCurl }, async () => {
  assert.match(await curl(['--http2', url('/orders/upgrade')]), /\n1\.1 200 1\n$/);
  const { headers } = last();
  for (const name of ['upgrade', 'http2-settings']) assert.equal(headers[name], undefined, name);
  assert.doesNotMatch(String(headers.connection), /upgrade|http2/i);
});

test('nghttp: a hundred calls of one connection, padded and with trailers, are all answered', { skip: noNghttp }, async () => {
  const sent = path.join(directory, 'body-of-nghttp');
  fs.writeFileSync(sent, Buffer.alloc(70_000, 'x'));
  const before = upstream.seen.length;
  const args = ['-v', '-n', '-m', '100', '-b', '200', '-d', sent, '--trailer', 'x-sum: 1', '-H', withKey, url('/orders/many')];
  const { stdout } = await promisify(execFile)('nghttp', args, { maxBuffer: 64 * 1024 * 1024 });
  assert.equal(stdout.match(/:status: 200/g)?.length, 100, stdout.slice(-2_000));
  assert.doesNotMatch(stdout, /recv RST_STREAM/);
  const seen = upstream.seen.slice(before);
  assert.deepEqual([seen.length, new Set(seen.map(({ body }) => body.length))], [100, new Set([70_000])]);
});

test('h2load: six hundred calls over three connections, thirty at a time each, all succeed', { skip: noH2load }, async () => {
  const args = ['-n', '600', '-c', '3', '-m', '30', '-H', withKey, url('/orders/load')];
  const { stdout } = await promisify(execFile)('h2load', args);
  assert.match(stdout, /requests: 600 total, 600 started, 600 done, 600 succeeded, 0 failed, 0 errored, 0 timeout/);
});
