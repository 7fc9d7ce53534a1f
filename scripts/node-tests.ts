import path from 'node:path';
import { run } from 'node:test';
import { inspect } from 'node:util';
import { root } from './command.ts';
import { GATE, groupsOf } from './test-groups.ts';

export type Counts = { passed: number; failed: number };

type Options = { verbose: boolean; name?: RegExp | undefined; groupsIn?: string };

/**
 * Runs test files on Node's own runner; prints one line a process and every failure in full. With `groupsIn`, in a run of everything, files share processes, and
 * the few that failed are tried once more, one at a time: what only fails beside others on a slow machine says so and doesn't fail the run.
 */
export async function runNodeTests(files: readonly string[], options: Options): Promise<Counts> {
  const first = await runOnce(files, 3, options); // on two cores: many tests mostly wait
  if (!options.groupsIn || first.failed.size === 0 || first.failed.size > WORTH_A_SECOND_TRY) return first.counts;
  console.log(`Second try, one file at a time: ${[...first.failed].join(', ')}`);
  const again = await runOnce([...first.failed], 1, { verbose: options.verbose });
  return { passed: first.counts.passed + Math.max(first.counts.failed - again.counts.failed, 0), failed: again.counts.failed };
}

/** More failures than this have a cause that a second try won't remove. */
const WORTH_A_SECOND_TRY = 12;

/** Also names the files with a failed test, relative to the project. */
async function runOnce(files: readonly string[], concurrency: number, options: Options): Promise<{ counts: Counts; failed: Set<string> }> {
  const totals: Counts = { passed: 0, failed: 0 };
  const failed = new Set<string>();
  if (files.length === 0) return { counts: totals, failed };
  const printed = new Map<string, string[]>();
  const gated = new Set<string>();
  const broken = new Set<string>();
  const ordered = longestFirst(files);
  const groups = options.groupsIn ? groupsOf(ordered, LONG, options.groupsIn) : ordered.map((file) => ({ entry: file, files: [file] }));
  const stream = run({
    files: groups.map(({ entry }) => path.resolve(entry)),
    concurrency,
    timeout: 300_000, // a test that hangs is a test that failed
    ...(options.name ? { testNamePatterns: [options.name] } : {}),
    // Prisma's WebAssembly runs as it is first compiled: to optimise it costs a process that lives for a second more than it brings. Room for young objects
    // saves processor time, since what a test makes is garbage soon.
    execArgv: ['--disable-warning=ExperimentalWarning', '--liftoff-only', '--max-semi-space-size=32'],
  });
  for await (const { type, data } of stream) {
    if (type === 'test:stdout' || type === 'test:stderr') {
      if (options.verbose) process.stdout.write(data.message);
      else printed.set(data.file ?? '', [...(printed.get(data.file ?? '') ?? []), data.message]);
    } else if (type === 'test:pass' || type === 'test:fail') {
      if (type === 'test:pass' && data.name === GATE) gated.add(data.file ?? '');
      const skipped = data.skip !== undefined || data.todo !== undefined;
      if (type === 'test:fail' && !skipped && data.file) broken.add(fromRoot(data.file));
      if (type === 'test:fail' && !skipped)
        console.log(`FAILED ${data.name}\n       ${where(data)}\n${indented(reason(data.details.error))}`);
      else if (options.verbose && data.details.type !== 'suite' && data.file !== data.name)
        console.log(`${skipped ? 'skipped' : 'ok'} ${data.name} (${Math.round(data.details.duration_ms)} ms)`);
    } else if (type === 'test:summary') {
      const counts: Counts = { passed: data.counts.passed, failed: data.counts.failed + data.counts.cancelled };
      if (data.file) {
        if (gated.has(data.file)) counts.passed--; // it is none of ours
        const members = (groups.find(({ entry }) => path.resolve(entry) === data.file)?.files ?? []).map(fromRoot);
        const culprits = members.filter((file) => broken.has(file));
        if (counts.failed > 0) for (const file of culprits.length > 0 ? culprits : members) failed.add(file);
        report(members.join(', '), counts, data.duration_ms, printed.get(data.file) ?? []);
        totals.passed += counts.passed; // the runner's own total counts a file without a test as one that passed
      } else totals.failed = counts.failed;
    }
  }
  return { counts: totals, failed };
}

/** What takes twenty seconds or more: begun last, it would run on alone. One that is missing here costs time and nothing else. */
const LONG = [
  'scripts/upgrade.test.ts',
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

function report(file: string, counts: Counts, milliseconds: number, printed: readonly string[]): void {
  const failed = counts.failed > 0 ? `, ${counts.failed} failed` : '';
  console.log(`${counts.failed > 0 ? 'FAIL' : 'ok  '} ${file}: ${counts.passed} passed${failed} in ${(milliseconds / 1000).toFixed(1)} s`);
  if (counts.failed > 0 && printed.length > 0) console.log(indented(printed.join('').slice(-8000)));
}

function where(data: { file?: string; line?: number }): string {
  return data.file ? `${fromRoot(data.file)}:${data.line ?? 1}` : '';
}

function fromRoot(file: string): string {
  return path.relative(root, path.resolve(file));
}

/** The runner wraps what was thrown; the cause is what a reader wants. */
function reason(error: Error & { cause?: unknown }): string {
  const cause = error.cause ?? error;
  return cause instanceof Error && cause.stack && 'generatedMessage' in cause ? cause.stack : inspect(cause, { depth: 6 });
}

function indented(text: string): string {
  return text.trimEnd().replace(/^/gm, '       ');
}
