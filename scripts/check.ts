import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { boundaryViolations } from './boundaries.ts';
import { filesUnder, hashOf, isFresh, Problem, type Result, run } from './command.ts';
import { dependencyViolations } from './dependencies.ts';
import { limitProblems } from './limits.ts';
import { families, migrationProblems, migrations } from './migrations.ts';
import { generateClient, migrate } from './schema.ts';
import { generateSdk } from './sdk-generator.ts';
import { withScratchDatabase } from './test-database.ts';

// npm run check: everything that can be known without running the product. Each step prints one line; a failure prints its reason.
// npm run check -- --fix also formats and applies safe fixes.

const fix = process.argv.includes('--fix');
const FIXED = new Set(['format and lint', 'regular expressions run in linear time']);
await generateClient();
await generateSdk();
const everything = [
  ...['app', 'components', 'deploy', 'docs', 'e2e', 'prisma', 'public', 'scripts', 'sdk', 'server', 'package.json', 'package-lock.json'],
  ...['biome.json', 'tsconfig.json', 'next.config.ts', 'playwright.config.ts', 'postcss.config.mjs', 'proxy.ts', 'instrumentation.ts'],
];
/** Each checker works out the types that all share again: more of them than processors cost a fifth more. */
const checkers = String(Math.min(4, os.availableParallelism()));
const results = await Promise.all([
  step('types', () => tool(['node_modules/typescript/bin/tsc', '--noEmit', '-p', '.', '--checkers', checkers]), everything),
  step(
    'format and lint',
    () => tool(['node_modules/@biomejs/biome/bin/biome', 'check', '--diagnostic-level=error', ...(fix ? ['--write'] : [])]),
    everything,
  ),
  step('migrations match the schema', drift, ['prisma', 'scripts/schema-drift.ts', 'package-lock.json']),
  step('openapi.json is current', () => tool(['scripts/openapi.ts', '--check']), [
    'server',
    'prisma/schema',
    'public/openapi.json',
    'package-lock.json',
  ]),
  step('regular expressions run in linear time', () => tool(['scripts/expressions.ts', ...(fix ? ['--record'] : [])]), [
    ...['server', 'scripts/expressions.ts', 'scripts/linear-expressions.txt', 'package-lock.json'],
  ]),
  step('boundaries', () => Promise.resolve(verdict([...boundaryViolations(), ...dependencyViolations()]))),
  step('limits of what others send are written down', () => Promise.resolve(verdict(limitProblems()))),
  step('file sizes', () => Promise.resolve(verdict(tooLong()))),
  step('migrations of two branches can be applied in either order', () =>
    Promise.resolve(verdict(migrationProblems(migrations(), families()))),
  ),
]);
process.exit(results.every(Boolean) ? 0 : 1);

/** With `inputs`, files and folders, a step that has passed runs again when one of them changes. */
async function step(name: string, work: () => Promise<Result>, inputs: readonly string[] = []): Promise<boolean> {
  const stamp = `node_modules/.cache/check/${name.replaceAll(' ', '-')}`;
  const wanted = hashOf(...inputs);
  if (inputs.length > 0 && !fix && isFresh(stamp, wanted)) {
    console.log(`ok   ${name} (unchanged)`);
    return true;
  }
  const began = performance.now();
  const { code, output } = await work().catch((error: unknown) => ({
    code: 1,
    output: error instanceof Problem ? error.message : String(error),
  }));
  console.log(`${code === 0 ? 'ok  ' : 'FAIL'} ${name} (${((performance.now() - began) / 1000).toFixed(1)} s)`);
  if (code !== 0)
    console.log(
      output.trimEnd() + (FIXED.has(name) && !fix ? '\n`npm run check -- --fix` formats, applies safe fixes and records expressions.' : ''),
    );
  else if (inputs.length > 0 && !fix) {
    fs.mkdirSync(path.dirname(stamp), { recursive: true });
    fs.writeFileSync(stamp, wanted);
  }
  return code === 0;
}

function tool(args: readonly string[]): Promise<Result> {
  return run(process.execPath, args, process.stdout.isTTY ? { env: { FORCE_COLOR: '1' } } : {});
}

function verdict(problems: readonly string[]): Result {
  return { code: problems.length === 0 ? 0 : 1, output: problems.join('\n') };
}

/** A file past 400 lines holds two ideas (CONTRIBUTING.md); tables and tests may be longer. The longest others are named, not refused. */
function tooLong(): string[] {
  const sizes = ['server', 'app', 'components', 'scripts', 'sdk']
    .flatMap(filesUnder)
    .filter((file) => /\.(ts|tsx|mjs)$/.test(file) && !/\.test\.tsx?$/.test(file))
    .map((file) => ({ file, lines: fs.readFileSync(file, 'utf8').split('\n').length - 1 }))
    .sort((a, b) => b.lines - a.lines);
  const long = sizes.filter(({ lines }) => lines > 220);
  const median = sizes[Math.floor(sizes.length / 2)]?.lines ?? 0;
  console.log(
    `     ${sizes.length} files, median ${median} lines${
      long.length > 0
        ? `, ${long.length} over 220: ${long
            .slice(0, 8)
            .map(({ file, lines }) => `${file} ${lines}`)
            .join(', ')}`
        : ''
    }`,
  );
  return long.filter(({ lines }) => lines > 400).map(({ file, lines }) => `${file} has ${lines} lines; the limit is 400. Split it`);
}

/** Applies the migrations to a scratch database and compares the result with prisma/schema. */
async function drift(): Promise<Result> {
  return withScratchDatabase(async (database) => {
    const url = database.url('drift');
    await migrate(url);
    return tool(['--disable-warning=ExperimentalWarning', 'scripts/schema-drift.ts', url]); // WebAssembly is imported
  });
}
