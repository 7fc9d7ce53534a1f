import assert from 'node:assert/strict';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { EnvError } from './env.ts';
import { ownedFolder, privateFolder, usableFolder } from './private-folder.ts';

const base = mkdtempSync(path.join(tmpdir(), 'sallyport-private-'));
after(() => rmSync(base, { recursive: true, force: true }));

test('a folder is made for this account alone, and a wider one of ours is narrowed', () => {
  const fresh = path.join(base, 'a', 'b');
  privateFolder('DATA_DIR', fresh);
  assert.equal(statSync(fresh).mode & 0o777, 0o700);
  chmodSync(fresh, 0o777);
  privateFolder('DATA_DIR', fresh);
  assert.equal(statSync(fresh).mode & 0o777, 0o700);
});

test('a link or a folder that another account put there first is refused', { skip: process.getuid?.() !== 0 && 'needs root' }, () => {
  const [target, link, theirs] = [path.join(base, 'target'), path.join(base, 'link'), path.join(base, 'theirs')];
  mkdirSync(target);
  symlinkSync(target, link);
  assert.throws(() => privateFolder('DATA_DIR', link), /another user or is not a folder/);
  mkdirSync(theirs, { mode: 0o777 });
  chownSync(theirs, 12_345, 12_345);
  assert.throws(() => privateFolder('DATA_DIR', theirs), /another user/);
  assert.throws(() => ownedFolder('WEB_SOCKET', theirs), /another user/);
  assert.doesNotThrow(() => ownedFolder('WEB_SOCKET', tmpdir()));
  assert.equal(statSync(tmpdir()).mode & 0o1777, 0o1777, 'a shared folder keeps its mode');
});

test('a folder that can not be made or written to is refused in words that name the setting', () => {
  const file = path.join(base, 'file');
  writeFileSync(file, '');
  for (const place of [file, path.join(file, 'below'), '/proc/nope', '/proc/nope/deeper'])
    assert.throws(
      () => usableFolder('WEB_SOCKET', place),
      (error) => error instanceof EnvError && /^WEB_SOCKET can't be used: .+\. Set WEB_SOCKET to a place/.test(error.problems[0] ?? ''),
      place,
    );
});
