import { execFileSync } from 'node:child_process';
import fs from 'node:fs';

/** Tests of what has changed since the last commit, or in it when nothing has: the changed tests, and those that stand beside a changed file. */
export function changedTests(): string[] {
  const since = (commit: string) => lines(['diff', '--name-only', '--diff-filter=d', commit]);
  const uncommitted = [...since('HEAD'), ...lines(['ls-files', '--others', '--exclude-standard'])];
  const changed = uncommitted.length > 0 ? uncommitted : since('HEAD~1');
  const tests = changed.map((file) => (/\.(?:test|spec)\.ts$/.test(file) ? file : file.replace(/\.tsx?$/, '.test.ts')));
  return [...new Set(tests)].filter((file) => /\.(?:test|spec)\.ts$/.test(file) && fs.existsSync(file));
}

const lines = (args: readonly string[]) => execFileSync('git', args, { encoding: 'utf8' }).split('\n').filter(Boolean);
