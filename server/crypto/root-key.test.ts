import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { inspect } from 'node:util';
import { cursorKeys, frontDoorToken, nextAuthSecret } from './derive.ts';
import { loadRootKeys, parseRootKey, RootKeyRefused } from './root-key.ts';
import { DecryptFailed, keyVersionOf, kinds } from './svt1.ts';
import { newTenantKey, rewrapTenantKey, unwrapTenantKey } from './tenant-key.ts';

const folder = mkdtempSync(join(tmpdir(), 'root-key-'));
after(() => rmSync(folder, { recursive: true }));
const published = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
const another = Buffer.alloc(32, 'another-root-key').toString('base64');
const tenant = '11111111-2222-4333-8444-555555555555';
const file = join(folder, 'unused.key');

test('only the canonical base64 of exactly 32 bytes is a root key', () => {
  assert.equal(parseRootKey(published, 'x').id, '630dcd29');
  const refused = [
    '',
    'short',
    published.slice(0, -1),
    ` ${published}`,
    `${published}\n`,
    published.replace('=', ''),
    published.replace('A', '!'),
    published.replace('8=', '9='),
    Buffer.alloc(31, 7).toString('base64'),
    Buffer.alloc(33, 7).toString('base64'),
    Buffer.alloc(32, 255).toString('base64url'),
    Buffer.alloc(32, 7).toString('hex'),
  ];
  for (const text of refused) {
    assert.throws(
      () => parseRootKey(text, 'MASTER_KEY_B64'),
      (error) =>
        error instanceof RootKeyRefused &&
        error.message.includes('MASTER_KEY_B64') &&
        (text.length < 8 || !error.message.includes(text.slice(0, 20))),
      text,
    );
  }
});

test('a root key prints no byte of itself', () => {
  const root = parseRootKey(published, 'x');
  const printed = inspect(root, { showHidden: true, depth: 9 }) + JSON.stringify(root);
  assert.ok(!printed.includes('AAEC') && !printed.includes('000102'));
});

test('the first start makes a key file that only its owner can read, and later starts read it', () => {
  const path = join(folder, 'first.key');
  const { current } = loadRootKeys({ file: path });
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(loadRootKeys({ file: path }).current.id, current.id);
  assert.ok(current.key.equals(loadRootKeys({ file: path }).current.key));
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith('first')),
    ['first.key'],
  );
});

test('processes that start at the same moment end with one key', async () => {
  const path = join(folder, 'race.key');
  const script = `const { loadRootKeys } = await import(${JSON.stringify(import.meta.resolve('./root-key.ts'))});
    process.stdout.write('ready'); process.stdin.once('data', () => { process.stdout.write(loadRootKeys({ file: ${JSON.stringify(path)} }).current.id); process.exit(); });`;
  const children = Array.from({ length: 6 }, () =>
    spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] }),
  );
  const outputs = children.map((child) => {
    const heard = { text: '', ready: Promise.withResolvers<void>(), closed: Promise.withResolvers<void>() };
    child.stdout.on('data', (chunk) => {
      heard.text += chunk;
      heard.ready.resolve();
    });
    child.once('close', () => {
      heard.ready.resolve();
      heard.closed.resolve();
    });
    return heard;
  });
  await Promise.all(outputs.map((heard) => heard.ready.promise));
  for (const child of children) child.stdin.write('go');
  await Promise.all(outputs.map((heard) => heard.closed.promise));
  assert.deepEqual([...new Set(outputs.map((heard) => heard.text))], [`ready${loadRootKeys({ file: path }).current.id}`]);
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith('race')),
    ['race.key'],
  );
});

test('a key file that others can read, or that holds no key, stops the start with an instruction', () => {
  const path = join(folder, 'open.key');
  loadRootKeys({ file: path });
  for (const mode of [0o644, 0o640, 0o604, 0o660, 0o610]) {
    chmodSync(path, mode);
    assert.throws(() => loadRootKeys({ file: path }), { name: 'RootKeyRefused', message: /chmod 600/ });
  }
  const empty = join(folder, 'empty.key');
  writeFileSync(empty, '', { mode: 0o600 });
  assert.throws(() => loadRootKeys({ file: empty }), RootKeyRefused);
  assert.throws(() => loadRootKeys({ file: join(folder, 'no', 'such', 'folder.key') }), { name: 'RootKeyRefused', message: /ENOENT/ });
  assert.throws(() => loadRootKeys({ file: folder }), RootKeyRefused);
});

test('the setting wins over the file, and the published test key is refused in production', () => {
  assert.equal(loadRootKeys({ masterKeyB64: published, file }).current.id, '630dcd29');
  assert.throws(() => loadRootKeys({ masterKeyB64: published, file, production: true }), RootKeyRefused);
  assert.throws(() => loadRootKeys({ masterKeyB64: another, previousB64: another, file }), RootKeyRefused);
});

test('a root rotation re-wraps tenant keys to the same key, once, and the old root key opens them no more', () => {
  const before = loadRootKeys({ masterKeyB64: published, file });
  const during = loadRootKeys({ masterKeyB64: another, previousB64: published, file });
  const after = loadRootKeys({ masterKeyB64: another, file });
  const wrapped = newTenantKey(before.current, tenant, 3);
  const key = unwrapTenantKey(before, tenant, 3, wrapped);
  assert.ok(unwrapTenantKey(during, tenant, 3, wrapped).equals(key));
  const moved = rewrapTenantKey(during, tenant, 3, wrapped);
  assert.ok(moved);
  assert.equal(keyVersionOf(kinds.tenantKey, moved.wrapped_key), 2);
  assert.ok(unwrapTenantKey(after, tenant, 3, moved).equals(key));
  assert.equal(rewrapTenantKey(during, tenant, 3, moved), undefined);
  assert.throws(() => unwrapTenantKey(before, tenant, 3, moved), DecryptFailed);
  assert.throws(() => unwrapTenantKey(after, tenant, 3, wrapped), DecryptFailed);
});

test('a tenant key opens only as its tenant and version', () => {
  const roots = loadRootKeys({ masterKeyB64: published, file });
  const wrapped = newTenantKey(roots.current, tenant, 1);
  assert.throws(() => unwrapTenantKey(roots, tenant, 2, wrapped), DecryptFailed);
  assert.throws(() => unwrapTenantKey(roots, tenant.replace('1', '2'), 1, wrapped), DecryptFailed);
  assert.ok(!unwrapTenantKey(roots, tenant, 1, wrapped).equals(unwrapTenantKey(roots, tenant, 1, newTenantKey(roots.current, tenant, 1))));
});

test('what is derived from the root key is stable, differs by use and by root key', () => {
  const root = parseRootKey(published, 'x');
  const derived = [nextAuthSecret(root), frontDoorToken(root), cursorKeys({ current: root })[0].export().toString('base64url')];
  // Pinned: another info string would sign everybody out and break every stored cursor.
  assert.deepEqual(derived, [
    'sMCj6p46lePTZ7_MjoJahjEl1YybtgdTqj1ijZxBsXQ',
    'BP5AZORxgNy4xncJMTizRsJUgGinvQSyDktt4Ic_Rg0',
    'u-c-GKzc7bpcdswBDrMu85joiiurRdnAQCazoUkGn3M',
  ]);
  assert.equal(new Set([...derived, nextAuthSecret(parseRootKey(another, 'x'))]).size, 4);
});

test('any flipped bit of a wrapped tenant key is refused; the epoch, which chooses nothing, can at most be misread', () => {
  const roots = loadRootKeys({ masterKeyB64: published, file });
  const wrapped = newTenantKey(roots.current, tenant, 1);
  const key = unwrapTenantKey(roots, tenant, 1, wrapped);
  for (let bit = 0; bit < wrapped.wrapped_key.length * 8; bit++) {
    const damaged = Uint8Array.from(wrapped.wrapped_key, (byte, at) => (at === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
    const open = () => unwrapTenantKey(roots, tenant, 1, { ...wrapped, wrapped_key: damaged });
    const inEpoch = bit >= 5 * 8 && bit < 9 * 8;
    if (inEpoch) assert.ok(open().equals(key));
    else assert.throws(open, DecryptFailed, `bit ${bit}`);
  }
});
