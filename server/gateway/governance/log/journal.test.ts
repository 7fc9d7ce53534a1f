import assert from 'node:assert/strict';
import { readdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { onFileEnd } from '#server/testing/file-end.ts';
import { folderOf } from '#server/testing/processes.ts';
import { until } from '#server/testing/until.ts';
import { createCallJournal } from './journal.ts';

type Call = { id: number };
const HEAD = 'sallyport-ai-calls 1\n';

test('a file that can not be read, or is of another format, stays, and those behind it are read', async () => {
  const folder = temporaryFolder();
  const at = (name: string) => path.join(folder, name);
  // It can't be opened, by whatever account.
  symlinkSync('left-1.log', at('left-1.log'));
  writeFileSync(at('left-2.log'), 'sallyport-ai-calls 2\n{"id":2}\n');
  writeFileSync(at('left-3.log'), `${HEAD}{"id":3}\n{"id":`);
  writeFileSync(at('left-4.log'), HEAD.slice(0, 5));
  const journal = createCallJournal<Call>(folder);
  const read: Call[] = [];
  const drain = () => journal.drain(async (calls) => read.push(...calls) >= 0);
  await drain();
  assert.deepEqual(read, [{ id: 3 }]);
  assert.deepEqual(readdirSync(folder).sort(), ['left-1.log', 'left-2.log']);

  rmSync(at('left-1.log'));
  writeFileSync(at('left-1.log'), `${HEAD}{"id":1}\n`);
  await drain();
  assert.deepEqual(read, [{ id: 3 }, { id: 1 }]);
  assert.deepEqual(readdirSync(folder), ['left-2.log']);
});

test('a file that gets nothing more is not kept open while its calls wait for the database', async () => {
  const folder = temporaryFolder();
  const journal = createCallJournal<Call>(folder);
  const calls = Array.from({ length: 20 }, (_, id) => ({ id }));
  for (const call of calls) {
    journal.add(call);
    journal.turn();
  }
  assert.equal(readdirSync(folder).length, calls.length);
  await until(() => openIn(folder) === 0);
  journal.drop(calls);
  await until(() => readdirSync(folder).length === 0);
});

function temporaryFolder(): string {
  const { directory, remove } = folderOf('call-journal');
  onFileEnd(remove);
  return directory;
}

const openIn = (folder: string): number =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(folder);
    } catch {
      return false; // it was closed meanwhile
    }
  }).length;
