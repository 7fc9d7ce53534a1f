import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { fail } from './command.ts';

/** Tests of what has changed since the last commit, or in it when nothing has: the changed tests, and those that stand beside a changed file. */
export function changedTests(): string[] {
  const since = (commit: string) => lines(['diff', '--name-only', '--diff-filter=d', commit]);
  const uncommitted = [...since('HEAD'), ...lines(['ls-files', '--others', '--exclude-standard'])];
  const changed = uncommitted.length > 0 ? uncommitted : since('HEAD~1');
  const tests = changed.map((file) => (/\.(?:test|spec)\.ts$/.test(file) ? file : file.replace(/\.tsx?$/, '.test.ts')));
  return [...new Set(tests)].filter((file) => /\.(?:test|spec)\.ts$/.test(file) && fs.existsSync(file));
}

function lines(args: readonly string[]): string[] {
  const { status, stdout } = spawnSync('git', args, { encoding: 'utf8' });
  if (status !== 0) fail("Git can't say what has changed here. Name the files: npm test -- --steady server/platform/throttle.test.ts");
  return stdout.split('\n').filter(Boolean);
}
