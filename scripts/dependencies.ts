import fs from 'node:fs';
import { isBuiltin } from 'node:module';
import { isTest } from './boundaries.ts';
import { filesUnder } from './command.ts';
import { importsOf } from './imports.ts';

// Commands that run the product install `dependencies` alone: what they load must be there, and nothing else.

export type Manifest = {
  scripts: Record<string, string>;
  /** Those that install devDependencies too. */
  developmentCommands: readonly string[];
  dependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
};
/** From a package to a file of the product that uses it. */
type Uses = ReadonlyMap<string, string>;

/** Next doesn't build TypeScript without these, although it runs none of them. */
const WANTED_BY_NEXT = ['typescript', '@types/node', '@types/react'];
/** Scripts that are no command of package.json: of the image, and what service-cli runs. */
const OTHER_SCRIPTS = ['scripts/image.ts', 'scripts/command-table.ts'];
const CONFIGURATION = ['next.config.ts', 'postcss.config.mjs'];

/** One sentence for each package of the product that isn't in `dependencies`, and for each of these that the product doesn't use. */
export function dependencyViolations(manifest: Manifest = JSON.parse(fs.readFileSync('package.json', 'utf8')), uses = usesOf(manifest)) {
  const declared = new Set(Object.keys(manifest.dependencies));
  const missing = [...uses].filter(([name]) => !declared.has(name));
  const unused = [...declared].filter((name) => !uses.has(name) && !WANTED_BY_NEXT.includes(name));
  return [
    ...missing.map(([name, file]) => `${file} uses ${name}, which isn't in dependencies: npm start doesn't install it`),
    ...unused.map((name) => `${name} is in dependencies, and nothing of the product uses it: move it to devDependencies`),
  ];
}

/** What the product loads: imports, plugins of configuration, style sheets, and tools called by their path. Types are erased. */
function usesOf(manifest: Manifest): Uses {
  const uses = new Map<string, string>();
  for (const file of productFiles(manifest)) {
    const source = fs.readFileSync(file, 'utf8');
    const imported = importsOf(file, source).flatMap(({ own, type, target }) => (own || type || isBuiltin(target) ? [] : [target]));
    const named = [...source.matchAll(BY_NAME)].map(([, path, styles]) => path ?? styles ?? '');
    const plugins = CONFIGURATION.includes(file) ? [...source.matchAll(/'([@\w][^']*)'/g)].map(([, text = '']) => text) : [];
    for (const target of [...imported, ...named, ...plugins]) {
      const name = target.split('/', target.startsWith('@') ? 2 : 1).join('/');
      const installed = fs.existsSync(`node_modules/${name}/package.json`); // what isn't is another text
      if (installed && !(name in manifest.optionalDependencies) && !uses.has(name)) uses.set(name, file);
    }
  }
  return uses;
}

/** A path into node_modules, or an import of a style sheet. */
const BY_NAME = /node_modules\/((?:@[\w.-]+\/)?\w[\w.-]*)(?=[/'"])|@import ["']([@\w][^'"]*)/g;

/** The service, its pages and clients, and the scripts of the commands that run them, with what these load and run. */
function productFiles(manifest: Manifest): Set<string> {
  const ours = ['server', 'app', 'components', 'sdk']
    .flatMap(filesUnder)
    .filter((file) => /\.(?:tsx?|mjs|css)$/.test(file) && (!isTest(file) || file.endsWith('/seed.ts')));
  const commands = Object.keys(manifest.scripts).filter((command) => !manifest.developmentCommands.includes(command));
  const scripts = commands.map((command) => `scripts/${command}.ts`).filter((file) => fs.existsSync(file));
  const files = new Set([
    ...ours,
    ...scripts,
    ...OTHER_SCRIPTS,
    ...CONFIGURATION,
    'proxy.ts',
    'instrumentation.ts',
    'server/generated/prisma/client.ts',
  ]);
  for (const file of files) {
    if (!file.startsWith('scripts/')) continue;
    const source = fs.readFileSync(file, 'utf8');
    for (const { type, target } of importsOf(file, source)) if (!type && target.startsWith('scripts/')) files.add(target);
    for (const [, script = ''] of source.matchAll(/'(scripts\/[\w-]+\.ts)'/g)) files.add(script);
  }
  return files;
}
