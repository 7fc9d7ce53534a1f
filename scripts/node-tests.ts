import fs from 'node:fs';
import path from 'node:path';
import { root } from './command.ts';
import { type Finished, type Job, type Result, runPool } from './test-pool.ts';

export type Counts = { passed: number; failed: number };
/** What a file took: seconds by the clock and of processor time. */
export type Cost = { file: string; seconds: number; cpu?: number };
export type Outcome = { counts: Counts; costs: Cost[] };

/** On two cores three processes run at once: many tests mostly wait. */
type Options = { verbose: boolean; name?: string | undefined; rounds?: number; processes?: number; heldMs?: number };

/** The first line of a file that can't run in a process with others, and why. */
const OWN_PROCESS = /^\/\/ own process: ./;

/** Runs test files, each `rounds` times; prints one line a file, or with `verbose` one a test, and every failure in full. */
export async function runNodeTests(files: readonly string[], options: Options): Promise<Outcome> {
  const { verbose, name, rounds = 1, processes = 3, heldMs = 60_000 } = options;
  const counts: Counts = { passed: 0, failed: 0 };
  const costs: Cost[] = [];
  const once = longestFirst(files).map((file): Job => ({ file, bare: name !== undefined }));
  const jobs = Array.from({ length: rounds }, () => once).flat();
  const alone = (job: Job) => job.bare || OWN_PROCESS.test(fs.readFileSync(job.file, 'utf8'));
  await runPool(
    jobs.filter(alone),
    jobs.filter((job) => !alone(job)),
    {
      processes,
      heldMs,
      // Prisma's WebAssembly runs as it is first compiled: to optimise it costs more than it brings. Room for young objects saves processor time, since what
      // a test makes is garbage soon.
      execArgv: [
        '--disable-warning=ExperimentalWarning',
        '--liftoff-only',
        '--max-semi-space-size=32',
        ...(name === undefined ? [] : [`--test-name-pattern=${name}`]),
      ],
      onFinished: (finished) => {
        const { file } = finished.job;
        const own = tally(finished);
        print(finished, own, verbose);
        counts.passed += own.passed;
        counts.failed += own.failed;
        costs.push({ file, seconds: finished.seconds, cpu: finished.cpu });
      },
    },
  );
  return { counts, costs };
}

/** What takes twenty seconds or more: begun last, it would run on alone. One that is missing here costs time and nothing else. */
const LONG = [
  'scripts/upgrade.test.ts',
  'server/domain/dyn-db/family.test.ts',
  'server/domain/migrations/family.test.ts',
  'server/domain/routes/family.test.ts',
  'server/domain/ai-gateways/family.test.ts',
  'server/gateway/templates/large-bodies.test.ts',
  'server/domain/secrets/family.test.ts',
  'scripts/postgres-versions.test.ts',
  'server/domain/pki/family.test.ts',
  'scripts/failover.test.ts',
  'server/domain/dyn-db/crash.test.ts',
  'sdk/cli/config/config.test.ts',
  'server/gateway/two-processes.test.ts',
  'server/gateway/haproxy.test.ts',
  'server/platform/lists/list.test.ts',
  'server/testing/hostile/linear.test.ts',
  'server/scim/conformance/conformance.test.ts',
  'scripts/admin.test.ts',
  'server/jobs/main.test.ts',
  'server/scim/users.test.ts',
  'server/domain/keys/tenant-kms.test.ts',
  'server/domain/sandbox/service.test.ts',
  'server/testing/hostile/ssrf.test.ts',
  'server/api/openapi/examples.test.ts',
  'scripts/database.test.ts',
  'server/auth/sign-in.test.ts',
  'scripts/seed.test.ts',
  'server/gateway/front-door/front-door.test.ts',
];
function longestFirst(files: readonly string[]): string[] {
  const rank = (file: string) => (LONG.includes(file) ? LONG.indexOf(file) : LONG.length);
  return files.toSorted((a, b) => rank(a) - rank(b));
}

/** The test that stands for the file counts only when it failed by itself: outside of its tests, or without any. */
function tally({ job, results }: Finished): Counts {
  const isFile = ({ nesting }: Result) => nesting === 0 && !job.bare;
  const tests = results.filter((result) => !isFile(result) && !result.suite && !result.skipped);
  const failed = tests.filter(({ failure }) => failure !== undefined).length;
  const outside = results.filter((result) => (isFile(result) || result.suite) && isOwnFailure(result)).length;
  const none = !job.bare && results.every((result) => isFile(result) || result.suite) && outside === 0; // a file that tests nothing is broken
  return { passed: tests.length - failed, failed: failed + outside + (none ? 1 : 0) };
}

/** Not merely that of a test within. */
const isOwnFailure = ({ failure }: Result) => failure !== undefined && !/^\W*\d+ subtests? failed/.test(failure);

function print({ job, results, output, seconds, cpu }: Finished, { passed, failed }: Counts, verbose: boolean): void {
  for (const { name, where, failure, suite, skipped, ms } of results) {
    if (failure !== undefined) console.log(`FAILED ${name}\n       ${fromRoot(where)}\n${indented(failure)}`);
    else if (verbose && !suite && name !== job.file) console.log(`${skipped ? 'skipped' : 'ok'} ${name} (${Math.round(ms)} ms)`);
  }
  const failures = failed > 0 ? `, ${failed} failed` : '';
  console.log(
    `${failed > 0 ? 'FAIL' : 'ok  '} ${job.file}: ${passed} passed${failures} in ${seconds.toFixed(1)} s, ${cpu.toFixed(1)} s of processor time`,
  );
  if (output && (failed > 0 || verbose)) console.log(indented(output.slice(-8000)));
}

const fromRoot = (where: string) => path.relative(root, where.replace(/^file:\/\//, ''));

function indented(text: string): string {
  return text.trimEnd().replace(/^/gm, '       ');
}
