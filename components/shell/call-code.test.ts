import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { promisify } from 'node:util';
import { codeOf } from './call-code.ts';

type Seen = { method: string; url: string; headers: http.IncomingHttpHeaders; body: string };
const seen: Seen[] = [];
const server = http.createServer(async (req, res) => {
  let body = '';
  for await (const chunk of req) body += String(chunk);
  seen.push({ method: req.method ?? '', url: req.url ?? '', headers: req.headers, body });
  res.statusCode = req.url?.includes('refused') ? 403 : 201;
  res.end('{"answer":true}');
});
await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sallyport-code-'));
after(() => {
  server.close();
  server.closeAllConnections();
  fs.rmSync(folder, { recursive: true });
});
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

/** How each language is run; one that is not on this machine is skipped by name. */
const runners: Record<string, { file: string; command: [string, ...string[]]; prints: boolean }> = {
  curl: { file: 'call.sh', command: ['sh'], prints: false },
  node: { file: 'call.mjs', command: [process.execPath], prints: true },
  python: { file: 'call.py', command: ['python3'], prints: true },
  go: { file: 'call.go', command: ['go', 'run'], prints: true },
  php: { file: 'call.php', command: ['php'], prints: true },
  ruby: { file: 'call.rb', command: ['ruby'], prints: true },
};
const hostile = {
  name: 'it\'s $HOME `id` #{x} "q" \\ \n end JSON',
  nested: { empty: {}, none: [], list: [1, -2.5, null, true, false], JSON: 'ünïcode ☃ \u2028' },
};
const calls = {
  read: { method: 'GET', url: `${origin}/v1/routes?q=a%20b&per_page=2`, headers: { Authorization: 'Bearer $SALLYPORT_KEY' } },
  write: {
    method: 'POST',
    url: `${origin}/v1/routes`,
    headers: { Authorization: 'Bearer $SALLYPORT_KEY', 'X-Note': `a'b"c\\d` },
    body: hostile,
  },
  text: {
    method: 'PUT',
    url: `${origin}/v1/notes`,
    headers: { 'X-Svc-Key': '$SALLYPORT_KEY', 'Content-Type': 'text/plain' },
    text: `@a 'b' "c" \\ $HOME \`id\` #{x} ünïcode ☃\r\nsecond line\n`,
  },
  repeated: {
    method: 'GET',
    url: `${origin}/v1/x`,
    headers: { 'X-Svc-Key': '$SALLYPORT_KEY', 'X-Svc-Environment': `$SALLYPORT_TEST $(id) #{1} \${x} it's` },
  },
  refused: { method: 'DELETE', url: `${origin}/v1/refused/1`, headers: { 'X-Svc-Key': '$SALLYPORT_KEY' } },
};

for (const [language, { file, command, prints }] of Object.entries(runners))
  for (const [what, call] of Object.entries(calls))
    test(`${language}: the code makes exactly the call (${what}), the key from the environment`, { timeout: 120_000 }, async (t) => {
      // Compiling net/http for the first time takes minutes on a small machine.
      if (language === 'go' && !process.env.SNIPPETS_IN_GO) return t.skip('set SNIPPETS_IN_GO=1 to compile and run it');
      const snippet = codeOf(call).find(({ id }) => id === language);
      assert.ok(snippet && !snippet.code.includes('k1-secret'));
      const place = path.join(folder, file);
      fs.writeFileSync(place, snippet.code);
      seen.length = 0;
      const env = { ...process.env, SALLYPORT_KEY: 'k1-secret', GOFLAGS: '-mod=mod', GO111MODULE: 'off' };
      const ran = await promisify(execFile)(command[0], [...command.slice(1), place], { env }).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return null;
        throw error;
      });
      if (!ran) return t.skip(`${command[0]} is not on this machine`);
      const [request, ...more] = seen;
      assert.ok(request && more.length === 0, 'one call');
      assert.equal(`${request.method} ${origin}${request.url}`, `${call.method} ${call.url}`);
      for (const [name, value] of Object.entries(call.headers))
        assert.equal(request.headers[name.toLowerCase()], value.replace('$SALLYPORT_KEY', 'k1-secret'), name);
      if ('text' in call) assert.equal(request.body, call.text);
      else if ('body' in call) {
        assert.equal(request.headers['content-type'], 'application/json');
        assert.deepEqual(JSON.parse(request.body), hostile);
      } else assert.equal(request.body, '');
      assert.ok(ran.stdout.includes('{"answer":true}'));
      if (prints) assert.ok(ran.stdout.startsWith(what === 'refused' ? '403 ' : '201 '), ran.stdout);
    });
