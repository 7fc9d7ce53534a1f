import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { variableNames } from '../server/platform/env.ts';
import { buildAgent } from './agent.ts';
import { buildWeb } from './build.ts';
import { changedTests } from './changed-tests.ts';
import { fail, filesUnder } from './command.ts';
import { buildElements } from './elements.ts';
import { type Cost, type Counts, type Outcome, runNodeTests } from './node-tests.ts';
import { generateClient } from './schema.ts';
import { generateSdk } from './sdk-generator.ts';
import { startTestDatabase, template } from './test-database.ts';
import { startLoad } from './test-load.ts';

// npm test                       everything: node tests, then the browser journeys of e2e against the whole running system
// npm test server/domain/x e2e   only the tests under these paths, each test shown
// npm test -- --name=promise     only tests whose name matches
// npm test -- --thorough         fuzz tests with many more cases and another seed
// npm test -- --steady           what has changed since the last commit, or the given paths, 20 times beside a load of 8
// The last line is `N passed, N failed`, and the exit code is 0 only when nothing failed and something passed.
//
// Test files get TEST_PG_URL (the `postgres` database of a throw-away server) and TEST_PG_TEMPLATE (a migrated database): they make databases of their own
// from the template, through server/testing/database.ts.

/** What the caller's settings would change: those of the service, of clouds and of Node. Judges are named by variables of their own. */
const FOREIGN = /^(?:AWS_|AZURE_|GOOGLE_|NODE_OPTIONS$|NODE_TLS_REJECT_UNAUTHORIZED$|SALLYPORT_THOROUGH$)/;
const OPTIONS = /^--(?:name=.+|thorough|steady)$/;
const unknown = process.argv.slice(2).filter((argument) => argument.startsWith('--') && !OPTIONS.test(argument));
if (unknown.length > 0) fail(`There is no option ${unknown.join(' ')}: --name=text, --thorough and --steady are known.`);
const kept = ['name', 'thorough', 'steady'].filter((option) => process.env[`npm_config_${option}`]);
if (kept.length > 0) fail(`npm kept --${kept.join(' --')} for itself. Write two dashes before the options: npm test -- --${kept[0]}`);

const started = performance.now();
const given = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const name = process.argv.find((argument) => argument.startsWith('--name='))?.slice('--name='.length);
const pattern = name?.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'); // it is text; Node and Playwright take expressions
const steady = process.argv.includes('--steady');
const paths = steady && given.length === 0 ? changedTests() : given;
const all = paths.length === 0 && !steady;
const rounds = steady ? 20 : 1;
const NODE_TEST = /^(server|scripts|components|sdk)\/.*\.test\.ts$/;
const JOURNEY = /^e2e\/.*\.(spec|test)\.ts$/;
const testsUnder = (one: string) =>
  filesUnder(path.relative('.', path.resolve(one)) || '.').filter((file) => NODE_TEST.test(file) || JOURNEY.test(file));
const empty = paths.filter((one) => testsUnder(one).length === 0);
if (empty.length > 0 || (paths.length === 0 && !all)) fail(`No test files under ${empty.join(', ') || 'what has changed'}.`);
const chosen = [...new Set((all ? ['server', 'scripts', 'components', 'sdk', 'e2e'] : paths).flatMap(testsUnder))].sort();
const nodeFiles = chosen.filter((file) => NODE_TEST.test(file));
// The system is not started to find out whether a journey has that name, unless it is asked for.
const journeys = name === undefined || given.length > 0 ? chosen.filter((file) => JOURNEY.test(file)) : [];

isolateEnvironment();
await phase('Preparation', () => Promise.all([generateClient(), generateSdk(), buildElements(), buildAgent()])).catch(fail);
const database = await phase('Database', startTestDatabase).catch(fail);
const load = steady ? startLoad() : undefined;
let ending: Promise<void> | undefined;
const end = () => {
  load?.stop();
  ending ??= database.remove();
  return ending;
};
// A signal often comes twice, from the terminal and from the process above: the second must not cut the end short.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end().finally(() => process.exit(130)));
const totals: Counts = { passed: 0, failed: 0 };
const costs: Cost[] = [];
try {
  process.env.TEST_PG_URL = database.url('postgres');
  process.env.TEST_PG_TEMPLATE = template;
  process.env.DATA_DIR = path.join(database.directory, 'app');
  fs.mkdirSync(process.env.DATA_DIR);
  // Before the tests and not beside them, which would take it each other's time.
  if (journeys.length > 0) await phase('Build', buildWeb);
  add(await phase('Node tests', () => runNodeTests(nodeFiles, { verbose: !all && !steady, name: pattern, rounds })));
  if (journeys.length > 0) {
    const { runJourneys } = await import('./journeys.ts');
    add(await phase('Journeys', () => runJourneys(journeys, database, { rounds, name: pattern })));
  }
} catch (error) {
  console.error(error);
  totals.failed++;
} finally {
  await end();
}
if (all || steady) printSlowest();
if (name !== undefined && totals.passed + totals.failed === 0) console.log(`No test has a name that matches "${name}".`);
console.log(`\n${elapsed()}`);
console.log(`${totals.passed} passed, ${totals.failed} failed`);
process.exit(totals.failed === 0 && totals.passed > 0 ? 0 : 1);

/** Runs a part of the work and remembers how long it took. */
async function phase<T>(what: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  const result = await work();
  if (all) console.log(`${what}: ${((performance.now() - began) / 1000).toFixed(0)} s, ${elapsed()} so far`);
  return result;
}

/** Since the beginning. */
function elapsed(): string {
  return `${((performance.now() - started) / 1000).toFixed(0)} s`;
}

function add(outcome: Outcome): void {
  totals.passed += outcome.counts.passed;
  totals.failed += outcome.counts.failed;
  costs.push(...outcome.costs);
}

function printSlowest(): void {
  console.log('\nThe twenty slowest files:');
  for (const { file, seconds, cpu } of costs.toSorted((a, b) => b.seconds - a.seconds).slice(0, 20))
    console.log(`${seconds.toFixed(1).padStart(7)} s  ${file}${cpu === undefined ? '' : `, ${cpu.toFixed(1)} s of processor time`}`);
}

/** The operator's settings must not decide whether a test passes: each run starts from defaults and a root key of its own. */
function isolateEnvironment(): void {
  for (const variable of [...variableNames, ...Object.keys(process.env).filter((name) => FOREIGN.test(name))]) delete process.env[variable];
  if (all) delete process.env.E2E_FAMILY;
  if (process.argv.includes('--thorough')) process.env.SALLYPORT_THOROUGH = '1';
  Object.assign(process.env, { NODE_ENV: 'test' }); // Next's types make it read-only
  process.env.LOG_LEVEL = 'error';
  process.env.MASTER_KEY_B64 = randomBytes(32).toString('base64');
}
