import fs from 'node:fs';
import { compressFiles } from '../server/platform/static-files.ts';
import { type Beside, filesUnder, hashOf, isFresh, Problem, refresh, root, run } from './command.ts';
import { importsOf } from './imports.ts';

const stamp = '.next/.made-from';

/** `next build` when anything that goes into it has changed since the last one; true when it built. */
export const buildWeb = (niceness?: number): Promise<boolean> => webBuild().make(niceness === undefined ? {} : { niceness });

/** The build of these sources. When it isn't there, neither is another one from now on: the web process serves what has a stamp. */
export function webBuild(): { exists: boolean; make: (how: Beside) => Promise<boolean> } {
  const wanted = hashOf(...buildInputs());
  const exists = isFresh(stamp, wanted);
  if (!exists) fs.rmSync(stamp, { force: true });
  return { exists, make: (how) => refresh(stamp, wanted, () => nextBuild(how)) };
}

async function nextBuild(how: Beside): Promise<void> {
  console.log('Building the dashboard ...');
  const next = `${root}/node_modules/next/dist/bin/next`;
  const { code, output } = await run(process.execPath, [next, 'build'], { env: { NODE_ENV: 'production' }, ...how });
  if (code !== 0) throw new Problem(`Building the dashboard failed:\n${output.trim().slice(-6000)}`);
  const chunks = fs.readdirSync('.next/server/chunks').filter((file) => file.endsWith('.js'));
  if (!chunks.some((file) => LEFT_TO_NODE.test(fs.readFileSync(`.next/server/chunks/${file}`, 'utf8'))))
    throw new Problem('next.config.ts leaves no file of server/ to Node: each page would have a database client and a keyring of its own.');
  await compressFiles('.next/static');
}

/** As scripts/server-loader.mjs writes it, made small. */
const LEFT_TO_NODE = /createRequire\(process\.cwd\(\) ?\+ ?"\/"\)\("\.\/server\//;

/** Compiled whole, or what compiling goes by. */
const sources = [
  'app',
  'components',
  'public',
  'proxy.ts',
  'instrumentation.ts',
  'scripts/server-loader.mjs',
  'next.config.ts',
  'postcss.config.mjs',
];
const settings = ['package.json', 'package-lock.json', 'tsconfig.json'];

/** What a build is made from: pages, settings, and of `server/` and `sdk/` what pages bring to browsers. Node loads the rest of `server/` itself (`server-loader.mjs`). */
export function buildInputs(): string[] {
  const pages = sources.flatMap(filesUnder).filter((file) => !/\.test\.tsx?$/.test(file));
  const inBrowser = new Set(pages.filter((file) => /\.tsx?$/.test(file) && /^['"]use client['"]/m.test(fs.readFileSync(file, 'utf8'))));
  for (const file of inBrowser) for (const { own, type, target } of importsOf(file)) if (own && !type) inBrowser.add(target);
  return [...new Set([...pages, ...inBrowser, ...settings])];
}
