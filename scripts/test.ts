import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { variableNames } from '../server/platform/env.ts';
import { buildAgent } from './agent.ts';
import { buildWeb } from './build.ts';
import { fail, filesUnder } from './command.ts';
import { buildElements } from './elements.ts';
import { runNodeTests } from './node-tests.ts';
import { generateClient } from './schema.ts';
import { generateSdk } from './sdk-generator.ts';
import { startTestDatabase, template } from './test-database.ts';

// npm test                       everything: node tests, then the browser journeys of e2e against the whole running system
// npm test server/domain/x e2e   only the tests under these paths, each test shown
// npm test -- --name=promise     only tests whose name matches
// npm test -- --thorough         fuzz tests with many more cases and another seed
// The last line is `N passed, N failed`, and the exit code is 0 only when nothing failed and something passed.
//
// Test files get TEST_PG_URL (the `postgres` database of a throw-away server) and TEST_PG_TEMPLATE (a migrated database): each process
// creates a database of its own from the template, through server/testing/database.ts.

const started = performance.now();
const paths = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const name = process.argv.find((argument) => argument.startsWith('--name='))?.slice('--name='.length);
const all = paths.length === 0;
if (process.argv.includes('--thorough')) process.env.SALLYPORT_THOROUGH = '1';
const chosen = (all ? ['server', 'scripts', 'components', 'sdk', 'e2e'] : paths).flatMap((given) =>
  filesUnder(path.relative('.', path.resolve(given)) || '.'),
);
const nodeFiles = chosen.filter((file) => /^(server|scripts|components|sdk)\/.*\.test\.ts$/.test(file)).sort();
const journeys = chosen.filter((file) => /^e2e\/.*\.(spec|test)\.ts$/.test(file)).sort();
if (nodeFiles.length + journeys.length === 0) fail(`No test files under ${paths.join(', ') || 'server, scripts, components, sdk, e2e'}.`);

isolateEnvironment();
await Promise.all([generateClient(), generateSdk(), buildElements(), buildAgent()]).catch(fail);
const database = await startTestDatabase().catch(fail);
const stopEarly = () => void database.remove().finally(() => process.exit(130));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, stopEarly);
const totals = { passed: 0, failed: 0 };
try {
  process.env.TEST_PG_URL = database.url('postgres');
  process.env.TEST_PG_TEMPLATE = template;
  process.env.DATA_DIR = path.join(database.directory, 'app');
  fs.mkdirSync(process.env.DATA_DIR);
  // Tests run in many processes: what one has compiled, the others need not compile again.
  process.env.NODE_COMPILE_CACHE = path.join(database.directory, 'compiled');
  // Beside the node tests, which leave the processor idle now and then; asked for with a name, journeys do not run.
  const building = journeys.length > 0 && !name ? buildWeb(nodeFiles.length > 0 ? 10 : undefined) : undefined;
  building?.catch(() => {}); // told below
  const { counts, costs } = await runNodeTests(nodeFiles, { verbose: !all, name });
  add(counts);
  if (all) console.log(`Node tests: ${elapsed()}`);
  await building;
  if (all) console.log(`Build: ${elapsed()}`);
  if (journeys.length > 0 && !name) {
    const { runJourneys } = await import('./journeys.ts');
    add(await runJourneys(journeys, database));
  }
} catch (error) {
  console.error(error);
  totals.failed++;
} finally {
  await database.remove();
}
console.log(`\n${elapsed()}`);
console.log(`${totals.passed} passed, ${totals.failed} failed`);
process.exit(totals.failed === 0 && totals.passed > 0 ? 0 : 1);

/** Since the beginning. */
function elapsed(): string {
  return `${((performance.now() - started) / 1000).toFixed(0)} s`;
}

function add(counts: typeof totals): void {
  totals.passed += counts.passed;
  totals.failed += counts.failed;
}

/** The operator's settings must not decide whether a test passes: each run starts from defaults and a root key of its own. */
function isolateEnvironment(): void {
  for (const variable of variableNames) delete process.env[variable];
  Object.assign(process.env, { NODE_ENV: 'test' }); // Next's types make it read-only
  process.env.LOG_LEVEL = 'error';
  process.env.MASTER_KEY_B64 = randomBytes(32).toString('base64');
}
