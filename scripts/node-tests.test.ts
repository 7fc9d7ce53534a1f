import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { runNodeTests } from './node-tests.ts';

/** Runs files with these texts, in this order; the runner's lines are not printed among those of this file. */
async function run(t: TestContext, files: Record<string, string>, options: { name?: string; rounds?: number; heldMs?: number } = {}) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sallyport-runner-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const paths = Object.entries(files).map(([name, text]) => {
    const file = path.join(folder, `${name}.test.mjs`);
    fs.writeFileSync(file, text.startsWith('//') ? text : `import test, { after } from 'node:test';\n${text}`);
    return file;
  });
  const lines: string[] = [];
  t.mock.method(console, 'log', (line: string) => void lines.push(line));
  const { counts } = await runNodeTests(paths, { verbose: true, processes: 1, ...options });
  return { ...counts, printed: lines.join('\n') };
}

const says = (text: string) => `test('says', () => console.log(${text}));`;

test('files share a process, and each finds settings and mocks as in a new one', async (t) => {
  const { passed, failed, printed } = await run(t, {
    first: `import { mock } from 'node:test'; process.env.LEFT_BEHIND = '1'; mock.method(Math, 'random', () => 7); ${says("'pid ' + process.pid")}`,
    second: says("'pid ' + process.pid, process.env.LEFT_BEHIND, Math.random() < 1"),
  });
  assert.deepEqual([passed, failed], [2, 0], printed);
  const [, pid] = /pid (\d+)/.exec(printed) ?? [];
  assert.match(printed, new RegExp(`pid ${pid} undefined true`));
});

test('a failed test, hook, import and process each fail the run, and the files after them run', async (t) => {
  const { passed, failed, printed } = await run(t, {
    a: `test('fails', () => { throw new Error('of a test'); }); test('passes', () => {});`,
    b: `after(() => { throw new Error('of a hook'); }); test('passes', () => {});`,
    c: `throw new Error('of an import');`,
    d: `test('ends', () => process.exit(3)); `,
    e: `test('passes', () => {});`,
  });
  assert.deepEqual([passed, failed], [3, 4], printed);
  for (const reason of ['of a test', 'of a hook', 'of an import', 'The process ended with code 3'])
    assert.match(printed, new RegExp(reason));
});

test('what is thrown after its test has ended fails the run, and is told with that test and where it was thrown', async (t) => {
  const { failed, printed } = await run(t, {
    a: `import { AsyncResource } from 'node:async_hooks';
      test('leaves behind', () => { process.once('later', AsyncResource.bind(function afterwards() { Promise.reject(new Error('too late')) })); });`,
    b: `test('passes', () => new Promise((resolve) => { process.once('unhandledRejection', resolve); process.emit('later'); }));`,
  });
  assert.equal(failed, 1, printed);
  assert.match(printed, /"leaves behind" at .*a\.test\.mjs/);
  assert.match(printed, /Error: too late\n\s+at .*afterwards/);
});

test('what holds a process after its tests fails the run, and so does what was thrown in a process that is held by nothing Node can name', async (t) => {
  const held = await run(
    t,
    {
      connection: `import net from 'node:net';
      test('leaves a connection', (t) => { const path = import.meta.dirname + '/held'; net.createServer().unref().listen(path, () => net.connect(path)); });`,
    },
    { heldMs: 500 },
  );
  assert.equal(held.failed, 1, held.printed);
  assert.match(held.printed, /still held a while after its tests/);
  const thrown = await run(
    t,
    {
      thread: `import { Worker } from 'node:worker_threads';
      test('throws late', () => {
        new Worker('setInterval(() => {}, 1000)', { eval: true });
        setTimeout(() => void Promise.reject(new Error('too late')), 100); // before the 500 ms are over, however slow this process is
      });`,
    },
    { heldMs: 500 },
  );
  assert.equal(thrown.failed, 1, thrown.printed);
  const thread = await run(
    t,
    {
      thread: `import { Worker } from 'node:worker_threads'; test('ends', () => { new Worker('setInterval(() => {}, 1000)', { eval: true }); });`,
    },
    { heldMs: 500 },
  );
  assert.deepEqual([thread.passed, thread.failed], [1, 0], thread.printed);
});

test('a file without a test fails', async (t) => {
  const { passed, failed } = await run(t, { empty: 'export {};' });
  assert.deepEqual([passed, failed], [0, 1]);
});

test('a file that says so has a process of its own', async (t) => {
  const { passed, printed } = await run(t, {
    shared: says("'pid ' + process.pid"),
    own: `// own process: to show it\nimport test from 'node:test'; ${says("'own ' + process.pid")}`,
  });
  assert.equal(passed, 2);
  assert.notEqual(/pid (\d+)/.exec(printed)?.[1], /own (\d+)/.exec(printed)?.[1]);
});

test('only tests of a name run when one is given, and each as often as there are rounds', async (t) => {
  const file = `test('one', () => {}); test('two', () => { throw new Error('not asked for'); });`;
  assert.deepEqual(await run(t, { file }, { name: '^one$' }).then(({ passed, failed }) => [passed, failed]), [1, 0]);
  assert.equal((await run(t, { file: `test('one', () => {});` }, { rounds: 3 })).passed, 3);
});
