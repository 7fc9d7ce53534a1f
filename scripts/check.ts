import fs from 'node:fs';
import { boundaryViolations } from './boundaries.ts';
import { filesUnder, Problem, type Result, run } from './command.ts';
import { dependencyViolations } from './dependencies.ts';
import { families, migrationProblems, migrations } from './migrations.ts';
import { generateClient, migrate } from './schema.ts';
import { generateSdk } from './sdk-generator.ts';
import { withScratchDatabase } from './test-database.ts';

// npm run check: everything that can be known without running the product. Each step prints one line; a failure prints its reason.
// npm run check -- --fix also formats and applies safe fixes.

const fix = process.argv.includes('--fix');
await generateClient();
await generateSdk();
const steps: Promise<boolean>[] = [
  step('format and lint', () =>
    tool(['node_modules/@biomejs/biome/bin/biome', 'check', '--diagnostic-level=error', ...(fix ? ['--write'] : [])]),
  ),
  step('types', () => tool(['node_modules/typescript/bin/tsc', '--noEmit', '-p', '.'])),
  step('boundaries', () => Promise.resolve(verdict([...boundaryViolations(), ...dependencyViolations()]))),
  step('file sizes', () => Promise.resolve(verdict(tooLong()))),
  step('regular expressions run in linear time', () => tool(['scripts/expressions.ts', ...(fix ? ['--record'] : [])])),
  step('migrations of two branches can be applied in either order', () =>
    Promise.resolve(verdict(migrationProblems(migrations(), families()))),
  ),
  step('migrations match the schema', drift),
];
if (fs.existsSync('scripts/openapi.ts')) steps.push(step('openapi.json is current', () => tool(['scripts/openapi.ts', '--check'])));
const results = await Promise.all(steps);
process.exit(results.every(Boolean) ? 0 : 1);

async function step(name: string, work: () => Promise<Result>): Promise<boolean> {
  const began = performance.now();
  const { code, output } = await work().catch((error: unknown) => ({
    code: 1,
    output: error instanceof Problem ? error.message : String(error),
  }));
  console.log(`${code === 0 ? 'ok  ' : 'FAIL'} ${name} (${((performance.now() - began) / 1000).toFixed(1)} s)`);
  if (code !== 0) console.log(output.trimEnd());
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
