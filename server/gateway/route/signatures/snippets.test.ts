import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { type SigningExample, signingSnippets } from '#components/clients/signing-snippets.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { makeRoute, served, startGateway, startUpstream } from '../../gateway.fixture.ts';
import { ED_KEY, ED_PUBLIC, KEY, makeSigner } from './signing.fixture.ts';

// The code that pages and documentation show, run as it is copied.

await testDatabase({ PROXY_PATH_MODE: '1' });
const running = await startGateway();
const upstream = await startUpstream();
const run = promisify(execFile);
const folder = mkdtempSync(path.join(tmpdir(), 'sallyport-snippets-'));
after(() => rmSync(folder, { recursive: true, force: true }));
writeFileSync(path.join(folder, 'client-key.pem'), ED_KEY.export({ type: 'pkcs8', format: 'pem' }));

const has = async (command: string, args: string[]) =>
  run(command, args).then(
    () => true,
    () => false,
  );
const LANGUAGES = {
  curl: { file: 'call.sh', command: 'bash', there: (await has('curl', ['--version'])) && (await has('openssl', ['version'])) },
  node: { file: 'call.mjs', command: process.execPath, there: true },
  python: { file: 'call.py', command: 'python3', there: await has('python3', ['-c', 'import cryptography']) },
};

for (const id of ['curl', 'node', 'python'] as const)
  test(`the ${id} code signs calls that pass, with every scheme and kind of key`, { skip: !LANGUAGES[id].there }, async () => {
    const w = await workspace();
    const { text: key } = await w.key();
    const hmac = await makeSigner(w, { hmac: KEY });
    const ed = await makeSigner(w, { public_key: ED_PUBLIC });
    for (const scheme of ['v1', 'concat', 'rfc9421'] as const)
      await makeRoute(w, `signed-${scheme}`, upstream.url, {
        require_signature: true,
        signature_scheme: scheme,
        signature_require_nonce: scheme !== 'concat',
      });
    await served(running, w);
    const { file, command } = LANGUAGES[id];
    const cases: Pick<SigningExample, 'scheme' | 'kind' | 'environment'>[] = [
      { scheme: 'v1', kind: 'signature_hmac', environment: '' },
      { scheme: 'v1', kind: 'signature_ed25519', environment: 'production' },
      { scheme: 'concat', kind: 'signature_hmac', environment: '' },
      { scheme: 'rfc9421', kind: 'signature_hmac', environment: 'production' },
      { scheme: 'rfc9421', kind: 'signature_ed25519', environment: '' },
    ];
    for (const one of cases) {
      const proxyUrl = `http://localhost:${running.port}/p/${w.tenant.slug}`;
      const keyId = one.kind === 'signature_hmac' ? hmac.id : ed.id;
      const { code } = signingSnippets({ ...one, proxyUrl, reference: `signed-${one.scheme}`, keyId }).find(
        (snippet) => snippet.id === id,
      ) as {
        code: string;
      };
      writeFileSync(path.join(folder, file), code);
      const env = { ...process.env, SVC_KEY: key, SECRET: KEY.toString('base64url') };
      const before = upstream.seen.length;
      const { stdout, stderr } = await run(command, [file], { cwd: folder, env });
      assert.equal(upstream.seen.length, before + 1, `${JSON.stringify(one)}\n${stdout}\n${stderr}`);
      assert.equal(upstream.seen.at(-1)?.body, '{"amount":2000}');
    }
  });
