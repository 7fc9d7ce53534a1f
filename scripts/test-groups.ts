import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

// Most of what a short test file costs is its process: 0.7 s of processor time until the service's modules are loaded and a database is there. In a run of
// everything, files that leave a process as they found it share one.

export type Group = { /** What is run. */ entry: string; files: readonly string[] };

/** What a process has only one of. A file with one of these words runs alone. */
const ALONE =
  /process\.(?:env|on|once|off|exit|chdir|emit|kill|stdout|stderr|cwd)|\bmock\b|\b(?:before|after)(?:Each)?\(|testDatabase\([^)]|ownDatabase|quickPasswords|globalThis|\b(?:spawn|fork)\(|concurrency|fixture/;
/** Lets the tests of a group begin when all of its files are loaded, which would take its time from them. */
export const GATE = 'all files of the group are loaded';
const SIZES = { family: 3, database: 6, plain: 12 };

/** The files as they are run: each alone, as what takes `long` is, or with others in a group, whose entry is written into `folder`. What is over soon comes last. */
export function groupsOf(files: readonly string[], long: readonly string[], folder: string): Group[] {
  const texts = new Map(files.map((file) => [file, fs.readFileSync(file, 'utf8')]));
  const alone = files.filter((file) => long.includes(file) || ALONE.test(texts.get(file) ?? ''));
  const shared = Map.groupBy(
    files.filter((file) => !alone.includes(file)),
    (file) => {
      const text = texts.get(file) ?? '';
      return text.includes('testFamily') ? 'family' : text.includes('testDatabase') ? 'database' : 'plain';
    },
  );
  const groups = (kind: keyof typeof SIZES) =>
    pieces(shared.get(kind) ?? [], SIZES[kind]).map((members, i) => group(members, path.join(folder, `${kind}-${i}.mjs`)));
  const first = [...groups('family'), ...groups('database'), ...alone.map((file) => ({ entry: file, files: [file] }))];
  const place = ({ files: [first = ''] }: Group) => files.indexOf(first);
  return [...first.sort((a, b) => place(a) - place(b)), ...groups('plain')];
}

function group(files: readonly string[], entry: string): Group {
  const urls = files.map((file) => pathToFileURL(path.resolve(file)).href);
  fs.writeFileSync(
    entry,
    `import test from 'node:test';
const { promise, resolve } = Promise.withResolvers();
test(${JSON.stringify(GATE)}, () => promise);
for (const file of ${JSON.stringify(urls)}) await import(file);
resolve();
`,
  );
  return { entry, files };
}

function pieces<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size));
}
