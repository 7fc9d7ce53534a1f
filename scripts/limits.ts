import fs from 'node:fs';
import { filesUnder } from './command.ts';
import { importsOf, withoutComments } from './imports.ts';

// Whatever a caller, a tenant's configuration or an upstream can make large has a bound, and docs/security/limits.md says which. What parses, sorts or builds
// expressions is found here, by module and call, and needs a row: a bound that nobody wrote down is one that nobody thought of.

const PAGE = 'docs/security/limits.md';
/** Calls whose time grows with what they are given. */
const CALLS = { 'JSON.parse': /\bJSON\.parse\(/, 'new RegExp': /\bnew RegExp\(/, sort: /\.(?:toSorted|sort)\(/ };
/** Packages and modules of Node that parse, compile, match or decompress; by the name that imports begin with. */
const PARSERS = [
  ...[
    '@dagrejs/dagre',
    '@node-saml/node-saml',
    '@peculiar/',
    '@simplewebauthn/server',
    '@smithy/eventstream-codec',
    'ajv',
    'eventsource-parser',
  ],
  ...['jose', 'maxmind', 'node-forge', 're2js', 'sharp', 'shell-quote', 'ssh2', 'structured-headers', 'tldts', 'yaml'],
  ...['node:vm', 'node:zlib'],
];
/** Tests, what they share, and what only operators run. */
const APART = /\.(?:test|fixture)\.ts$|\/(?:generated|testing)\/|\/(?:seed|bench)\.ts$/;

export type Site = { file: string; uses: string[] };

/** Every module that uses any of it, with what. */
export function sites(files: readonly string[] = filesUnder('server'), read = (file: string) => fs.readFileSync(file, 'utf8')): Site[] {
  return files
    .filter((file) => file.endsWith('.ts') && !APART.test(file))
    .flatMap((file) => {
      const source = read(file);
      const code = withoutComments(source);
      const calls = Object.entries(CALLS).flatMap(([name, pattern]) => (pattern.test(code) ? [name] : []));
      const packages = importsOf(file, source)
        .filter(
          ({ own, type, target }) =>
            !own &&
            !type &&
            PARSERS.some((name) => target === name || target.startsWith(`${name}/`) || (name.endsWith('/') && target.startsWith(name))),
        )
        .map(({ target }) => target);
      const uses = [...calls, ...new Set(packages)];
      return uses.length > 0 ? [{ file, uses }] : [];
    });
}

/**
 * Modules without a row, rows of modules or tests that are gone, and rows that leave something open. A column `where` is about all that a module does,
 * `sorts in` about what it sorts.
 */
export function limitProblems(found: readonly Site[] = sites(), page: string = fs.readFileSync(PAGE, 'utf8')): string[] {
  const rows = rowsOf(page);
  const places = listed(rows);
  const covers = (column: string, file: string) =>
    places[column]?.some((place) => file === place || (place.endsWith('/') && file.startsWith(place))) ?? false;
  const missing = found.flatMap(({ file, uses }) => {
    const left = covers('where', file) ? [] : uses.filter((use) => use !== 'sort' || !covers('sorts in', file));
    return left.length > 0 ? [`${file} uses ${left.join(', ')} and has no row in ${PAGE}. Add one with its bound on size and work`] : [];
  });
  const gone = [...new Set(Object.values(places).flat())].filter((place) => !fs.existsSync(place));
  const open = rows.flatMap((row) =>
    Object.entries(row).flatMap(([title, cell]) => (cell === '' ? [`${PAGE} leaves "${title}" of "${row.what}" empty. Fill it in`] : [])),
  );
  return [...missing, ...gone.map((place) => `${PAGE} names ${place}, which isn't there`), ...open];
}

/** The paths in the columns of all tables of a page, by the column's title. */
function listed(rows: readonly Record<string, string>[]): Record<string, string[]> {
  const found: Record<string, string[]> = { where: [], 'sorts in': [], test: [] };
  for (const row of rows)
    for (const [title, cell] of Object.entries(row))
      for (const [, place] of cell.matchAll(/`(server\/[^`]+)`/g)) found[title]?.push(place as string);
  return found;
}

/** The rows of all tables of a page: cells by the titles of their columns. */
function rowsOf(page: string): Record<string, string>[] {
  const rows: Record<string, string>[] = [];
  let titles: string[] = [];
  for (const line of page.split('\n')) {
    if (!line.startsWith('|')) {
      titles = [];
      continue;
    }
    const cells = line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim());
    if (titles.length === 0) titles = cells;
    else if (!cells.every((cell) => /^-+$/.test(cell))) rows.push(Object.fromEntries(titles.map((title, i) => [title, cells[i] ?? ''])));
  }
  return rows;
}
