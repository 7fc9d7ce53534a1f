import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import type { JSONReport, JSONReportSuite } from '@playwright/test/reporter';
import { mmdb, placeIn } from '../server/platform/geoip.fixture.ts';
import { findBrowser } from './browser.ts';
import { Problem, root, run } from './command.ts';
import type { Counts, Outcome } from './node-tests.ts';
import { freePorts } from './ports.ts';
import { type TestDatabase, template } from './test-database.ts';

/**
 * Runs Playwright files in a real browser against the whole system, started on free ports with a fresh database. A journey that fails fails the run.
 * `rounds`: how often each runs, one at a time and on this system. `name`: an expression that the names of tests match.
 */
export async function runJourneys(
  files: readonly string[],
  database: TestDatabase,
  { rounds = 1, name: chosen }: { rounds?: number; name?: string | undefined } = {},
): Promise<Outcome> {
  const name = 'journeys';
  await database.create(name, template);
  const [api, sandbox, admin, proxy, kms] = await freePorts(5);
  const browser = await findBrowser();
  const at = (file: string) => path.join(database.directory, file);
  const settings = {
    NODE_ENV: 'development',
    DATABASE_URL: database.url(name),
    DATA_DIR: at(name),
    PLANE_PORTS: `api:${api},sandbox:${sandbox},admin:${admin},proxy:${proxy}`,
    UPSTREAM_PRIVATE_ALLOWLIST: '127.0.0.0/8,::1/128',
    SVC_TEST_MODE: '1',
    LOG_LEVEL: 'info',
    GEOIP_DB_PATH: at(`${name}.mmdb`),
    // A KMS that a journey starts and breaks, asked at the pace of a test.
    AWS_ENDPOINT_URL_KMS: `http://127.0.0.1:${kms}`,
    AWS_ENDPOINT_URL_STS: `http://127.0.0.1:${kms}`,
    AWS_ACCESS_KEY_ID: 'operator',
    AWS_SECRET_ACCESS_KEY: 'operator',
    KMS_CACHE_SECONDS: '1',
    KMS_POLL_SECONDS: '1',
    KMS_AWS_ACCOUNT_ID: '999988887777',
  };
  fs.writeFileSync(settings.GEOIP_DB_PATH, mmdb({ '203.0.113.0/24': placeIn('DE', 'Berlin') }));
  const report = at(`${name}.json`);
  const operator = at(`${name}.socket`);
  const system = await startSystem(settings, at(`${name}.log`));
  let desk: ChildProcess | undefined;
  try {
    desk = await startOperatorDesk(settings, operator);
    const playwright = path.join(root, 'node_modules/@playwright/test/cli.js');
    const repeated = rounds > 1 ? [`--repeat-each=${rounds}`, '--workers=1'] : [];
    const named = chosen === undefined ? [] : [`--grep=${chosen}`];
    const { output } = await run(process.execPath, [playwright, 'test', '--reporter=json', ...repeated, ...named, ...files], {
      env: {
        ...settings,
        FORCE_COLOR: '0',
        PLAYWRIGHT_JSON_OUTPUT_NAME: report,
        E2E_BROWSER: JSON.stringify(browser),
        E2E_ADMIN_URL: `http://localhost:${admin}`,
        E2E_API_URL: `http://localhost:${api}`,
        E2E_SANDBOX_API_URL: `http://localhost:${sandbox}`,
        E2E_PROXY_PORT: String(proxy),
        E2E_KMS_PORT: String(kms),
        E2E_LOG: system.log,
        E2E_OPERATOR: operator,
      },
    });
    if (!fs.existsSync(report)) throw new Problem(`Playwright printed no report:\n${output}`);
    const outcome = printReport(JSON.parse(fs.readFileSync(report, 'utf8')) as JSONReport);
    if (outcome.counts.failed > 0) console.log(`Last messages of the system:\n${tail(system.log)}`);
    return outcome;
  } finally {
    desk?.disconnect();
    await system.stop();
  }
}

/** Prints one line a test, and failures in full with the page as it was. */
function printReport(report: JSONReport): Outcome {
  const counts: Counts = { passed: 0, failed: 0 };
  const seconds = new Map<string, number>();
  for (const error of report.errors) {
    counts.failed++;
    console.log(`FAILED ${error.message ?? ''}`);
  }
  const visit = (suite: JSONReportSuite, titles: readonly string[]): void => {
    for (const spec of suite.specs) {
      for (const test of spec.tests) {
        const title = [...titles, spec.title].filter(Boolean).join(' > ');
        if (test.status === 'skipped') continue;
        const ok = test.status !== 'unexpected';
        counts[ok ? 'passed' : 'failed']++;
        const result = test.results[0];
        const file = path.join('e2e', spec.file);
        seconds.set(file, (seconds.get(file) ?? 0) + (result?.duration ?? 0) / 1000);
        console.log(`${ok ? 'ok  ' : 'FAIL'} ${title} (${((result?.duration ?? 0) / 1000).toFixed(1)} s)`);
        if (ok) continue;
        for (const error of result?.errors ?? []) console.log(indented(error.message ?? ''));
        // What stood on the page says why a promise wasn't kept; the machine may be gone when somebody asks.
        const page = result?.attachments.find((one) => one.name === 'error-context')?.path;
        if (page && fs.existsSync(page)) console.log(indented(snapshotIn(fs.readFileSync(page, 'utf8'))));
      }
    }
    for (const inner of suite.suites ?? []) visit(inner, [...titles, inner.title]);
  };
  for (const suite of report.suites) visit(suite, [suite.title]);
  return { counts, costs: [...seconds].map(([file, taken]) => ({ file, seconds: taken })) };
}

const indented = (text: string) => text.replace(/^/gm, '       ');

/** The page as accessibility sees it, out of Playwright's account of a failure; the end of it, where dialogs, panes and messages stand. */
function snapshotIn(account: string): string {
  const trees = [...account.matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map(([, tree = '']) => tree);
  return (trees.at(-1) ?? '').trimEnd().split('\n').slice(-120).join('\n');
}

async function startSystem(settings: Record<string, string>, log: string): Promise<{ log: string; stop: () => Promise<void> }> {
  const file = fs.openSync(log, 'w', 0o600);
  const child = spawn(process.execPath, [path.join(root, 'scripts/start.ts')], {
    env: { ...process.env, ...settings },
    stdio: ['ignore', file, file, 'ipc'],
  });
  fs.closeSync(file);
  const ended = new Promise<void>((resolve) => child.on('exit', () => resolve()));
  const until = Date.now() + 600_000;
  while (!fs.readFileSync(log, 'utf8').includes('Sallyport is ready')) {
    if (child.exitCode !== null || Date.now() > until) {
      child.kill('SIGTERM');
      throw new Problem(`The system did not start for the browser tests:\n${tail(log)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return {
    log,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Ends when it is disconnected. */
async function startOperatorDesk(settings: Record<string, string>, socket: string): Promise<ChildProcess> {
  const desk = fork(path.join(root, 'e2e/admin-server.ts'), [socket], { env: { ...process.env, ...settings, LOG_LEVEL: 'error' } });
  await Promise.race([
    once(desk, 'message'),
    once(desk, 'exit').then(() => {
      throw new Problem('The process that runs operator commands for the browser tests exited at startup.');
    }),
  ]);
  return desk;
}

function tail(file: string): string {
  return fs.readFileSync(file, 'utf8').trimEnd().split('\n').slice(-30).join('\n');
}
