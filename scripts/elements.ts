import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { compressFiles } from '../server/platform/static-files.ts';
import { hashOf, Problem, refresh, root, run } from './command.ts';

const sources = 'sdk/elements';
const folder = 'server/generated/elements';
/** What pages and frames load. Each becomes one file, so that one integrity hash covers all of it. */
const entries = ['seal', 'card', 'reveal'];

/** Makes the scripts of hosted fields from sdk/elements when one of them changed: TypeScript compiled, modules joined. Takes half a second. */
export async function buildElements(): Promise<void> {
  const made = hashOf(sources, 'scripts/elements.ts', 'node_modules/typescript/package.json');
  await refresh(path.join(root, folder, '.made-from'), made, async () => {
    const compiled = fs.mkdtempSync(path.join(os.tmpdir(), 'elements-'));
    try {
      await compile(compiled);
      fs.rmSync(folder, { recursive: true, force: true });
      fs.mkdirSync(folder, { recursive: true });
      for (const entry of entries) fs.writeFileSync(path.join(folder, `${entry}.js`), joined(compiled, `${entry}.js`));
      fs.copyFileSync(`${sources}/fields.css`, `${folder}/fields.css`);
      await compressFiles(folder);
    } finally {
      fs.rmSync(compiled, { recursive: true, force: true });
    }
  });
}

async function compile(into: string): Promise<void> {
  const files = entries.map((entry) => `${sources}/${entry}.ts`);
  const options = ['--target', 'es2023', '--module', 'esnext', '--moduleResolution', 'bundler', '--strict', '--verbatimModuleSyntax'];
  const { code, output } = await run(process.execPath, [
    'node_modules/typescript/bin/tsc',
    ...['--ignoreConfig', '--noCheck', '--rewriteRelativeImportExtensions', '--rootDir', sources, '--outDir', into],
    ...options,
    ...files,
  ]);
  if (code !== 0) throw new Problem(`Compiling ${sources} failed:\n${output}`);
}

/**
 * One module out of an entry and all that it imports, each after what it needs. The compiler writes an import or export declaration on one line;
 * a name that two files declare at their top level would be a syntax error of the result, which tests load.
 */
export function joined(directory: string, entry: string): string {
  const parts: string[] = [];
  const exported: string[] = [];
  const seen = new Set<string>();
  const add = (name: string) => {
    if (seen.has(name)) return;
    seen.add(name);
    const own: string[] = [];
    for (const line of fs.readFileSync(path.join(directory, name), 'utf8').split('\n')) {
      const [, names, from] = /^(?:import|export) (?:\{([^}]*)\}|\S+) from '\.\/(\S+)';$/.exec(line) ?? [];
      if (from !== undefined) add(from);
      else own.push(line.replace(/^export (?=(?:async )?function |class |const |let )/, ''));
      if (from !== undefined && name === entry && line.startsWith('export '))
        exported.push(...(names ?? '').split(',').map((one) => one.trim()));
    }
    parts.push(
      own
        .join('\n')
        .replace(/^export \{\};$/m, '')
        .trim(),
    );
  };
  add(entry);
  return `${[...parts, ...(exported.length > 0 ? [`export { ${exported.sort().join(', ')} };`] : [])].filter(Boolean).join('\n\n')}\n`;
}
