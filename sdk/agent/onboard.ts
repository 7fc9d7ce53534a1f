import fs from 'node:fs';
import path from 'node:path';
import { API_HOSTS } from './patterns.ts';
import { credentialsIn } from './scan.ts';

export type CodePlace = { file: string; line: number };
/** One route that this code would call through. */
export type Suggestion = { host: string; vendor: string; target_base_url: string; slug: string; places: CodePlace[] };
export type OnboardReport = { files: number; suggestions: Suggestion[]; keys: (CodePlace & { kind: string; first4: string })[] };

const SOURCES = /\.(?:[cm]?[jt]sx?|py|rb|go|java|kt|php|cs|rs|ex|exs|sh|ya?ml|toml|json|env|properties)$|(?:^|\/)\.env[^/]*$/;
const SKIPPED = new Set(['node_modules', '.git', 'vendor', 'dist', 'build', '.next', 'target', '__pycache__', '.venv']);
const MAX_SOURCE = 512 * 1024;
const URL_IN_CODE = /\bhttps:\/\/([a-z0-9][a-z0-9.-]{2,80}\.[a-z]{2,20})(\/v\d[a-z0-9]{0,8})?/gi;

/** Looks for addresses of APIs and keys that are written into code, and says which routes would replace them. */
export function onboard(folder: string): OnboardReport {
  const found = new Map<string, Suggestion>();
  const report: OnboardReport = { files: 0, suggestions: [], keys: [] };
  for (const file of sourcesUnder(folder)) {
    report.files++;
    for (const [index, line] of fs.readFileSync(file, 'utf8').split('\n').entries()) {
      if (line.length > 2_000) continue;
      const place = { file: path.relative(folder, file), line: index + 1 };
      for (const { kind, value } of credentialsIn(line)) report.keys.push({ ...place, kind, first4: value.slice(0, 4) });
      for (const [, name = '', version = ''] of line.matchAll(URL_IN_CODE)) {
        const host = name.toLowerCase();
        const vendor = API_HOSTS[host] ?? (host.startsWith('api.') ? host.split('.').at(-2) : undefined);
        if (vendor === undefined) continue;
        const base = `https://${host}${version}`;
        const known = found.get(base) ?? {
          host,
          vendor,
          target_base_url: base,
          slug: vendor.toLowerCase().replace(/[^a-z0-9]+/g, '-'),
          places: [],
        };
        known.places.push(place);
        found.set(base, known);
      }
    }
  }
  report.suggestions = [...found.values()].sort((a, b) => b.places.length - a.places.length);
  return report;
}

function* sourcesUnder(folder: string): Generator<string> {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const at = path.join(folder, entry.name);
    if (entry.isDirectory() && !SKIPPED.has(entry.name)) yield* sourcesUnder(at);
    else if (entry.isFile() && SOURCES.test(at) && fs.statSync(at).size <= MAX_SOURCE) yield at;
  }
}

/** For the terminal. */
export function onboardText({ files, suggestions, keys }: OnboardReport): string {
  const lines = [`${files} files read.`];
  for (const { vendor, target_base_url, slug, places } of suggestions) {
    lines.push('', `${vendor}: ${target_base_url} in ${places.length} ${places.length === 1 ? 'place' : 'places'}`);
    lines.push(`  Create a route: service-cli routes create --name ${slug} --target-base-url ${target_base_url}`);
    for (const { file, line } of places.slice(0, 5)) lines.push(`  ${file}:${line}`);
  }
  if (keys.length > 0) lines.push('', 'Keys in the code. Store them as secrets and revoke these:');
  for (const { file, line, kind, first4 } of keys) lines.push(`  ${file}:${line}  ${kind}  ${first4}…`);
  return lines.join('\n');
}
