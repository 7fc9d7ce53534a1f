import { registerHooks } from 'node:module';
import path from 'node:path';
import test, { after, describe } from 'node:test';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { endFile } from '../server/testing/file-end.ts';
import { SEED } from '../server/testing/thorough.ts';
import type { FromWorker, ToWorker } from './test-pool.ts';

// Runs the test files that scripts/test-pool.ts hands out, one after the other, so that the service is loaded once for many. Each file is a test here, and
// what it declares are that one's subtests; its results are sent by scripts/test-reporter.ts.

fc.configureGlobal({ seed: SEED });
// Fixtures keep what they open for a file in variables: each file gets its own.
let run = 0;
for (const stream of [process.stdout, process.stderr]) stream.write(''); // Node opens them at their first use
const ownPipes = pipes();
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    return found.url.endsWith('.fixture.ts') ? { ...found, url: `${found.url}?run=${run}` } : found;
  },
});
process.on('disconnect', () => process.exit(1)); // nobody is there to hear the results
process.channel?.unref();
const awake = setInterval(() => {}, 60_000); // what a test waits for may hold no process open
for (let job = await next(); job !== undefined; job = job.bare || isFull() ? undefined : await next()) {
  const url = `${pathToFileURL(path.resolve(job.file)).href}?run=${++run}`;
  // Chosen by name: a test around the file would have to have that name too.
  if (job.bare) {
    after(endFile);
    await import(url);
    continue;
  }
  await test(job.file, (t) => {
    t.after(endFile);
    // A suite's tests wait until all of its file is loaded.
    describe(job.file, () => import(url));
  });
}
clearInterval(awake);
// A server that a test left open would hold this process, and with it the whole run, for ever.
setTimeout(() => {
  const held = process.getActiveResourcesInfo().filter((one) => one !== 'PipeWrap');
  if (pipes() > ownPipes) held.push('a connection over a socket file, such as to a database');
  if (held.length > 0) console.error(`This process is still held a while after its tests, by ${held.join(', ')}.`);
  // A thread of a library may hold it too, which Node doesn't name: that fails nothing. What was thrown after the tests has set the exit code.
  process.exit(held.length > 0 ? 1 : process.exitCode);
}, Number(process.argv[2])).unref();

/** How many pipes and connections over socket files hold this process. */
function pipes(): number {
  return process.getActiveResourcesInfo().filter((one) => one === 'PipeWrap').length;
}

/** The runner keeps every test it has run: beyond this, collecting garbage costs more than loading the service again. */
function isFull(): boolean {
  return process.memoryUsage.rss() > 1_000_000_000;
}

async function next() {
  const { promise, resolve } = Promise.withResolvers<ToWorker>();
  process.once('message', resolve);
  const { user, system } = process.cpuUsage();
  process.send?.({ type: 'next', cpu: (user + system) / 1e6 } satisfies FromWorker);
  return (await promise).job;
}
