import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { hashOf, Problem, refresh, root, run } from './command.ts';
import { joined } from './elements.ts';

const sources = 'sdk/agent';
const folder = 'server/generated/agent';

/** Makes the agent from sdk/agent when one of its files changed: one file of plain JavaScript on the builtins of Node 20, so that one signature covers all of it. */
export async function buildAgent(): Promise<void> {
  const made = hashOf(sources, 'scripts/agent.ts', 'scripts/elements.ts', 'node_modules/typescript/package.json');
  await refresh(path.join(root, folder, '.made-from'), made, async () => {
    const compiled = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-'));
    try {
      await compile(compiled);
      fs.rmSync(folder, { recursive: true, force: true });
      fs.mkdirSync(folder, { recursive: true });
      fs.writeFileSync(path.join(folder, 'agent.mjs'), withImportsFirst(joined(compiled, 'main.js')), { mode: 0o755 });
      fs.copyFileSync(`${sources}/install.sh`, `${folder}/install.sh`);
    } finally {
      fs.rmSync(compiled, { recursive: true, force: true });
    }
  });
}

async function compile(into: string): Promise<void> {
  const { code, output } = await run(process.execPath, [
    'node_modules/typescript/bin/tsc',
    ...['--ignoreConfig', '--noCheck', '--rewriteRelativeImportExtensions', '--rootDir', sources, '--outDir', into],
    ...['--target', 'es2022', '--module', 'esnext', '--moduleResolution', 'bundler', '--strict', '--verbatimModuleSyntax'],
    `${sources}/main.ts`,
  ]);
  if (code !== 0) throw new Problem(`Compiling ${sources} failed:\n${output}`);
}

/** Several files import the same builtin: each name is imported once, at the top. */
export function withImportsFirst(joinedText: string): string {
  const defaults = new Map<string, string>();
  const named = new Map<string, Set<string>>();
  const rest = joinedText.split('\n').filter((line) => {
    const [, all, from] = /^import (.+) from '(node:[\w/]+)';$/.exec(line) ?? [];
    if (all === undefined || from === undefined) return true;
    const [, whole, names] = /^(\w+)?(?:, )?(?:\{ (.+?),? \})?$/.exec(all) ?? [];
    if (whole !== undefined) defaults.set(whole, from);
    for (const name of names
      ?.split(',')
      .map((one) => one.trim())
      .filter(Boolean) ?? [])
      named.set(from, (named.get(from) ?? new Set()).add(name));
    return false;
  });
  const lines = [...defaults].map(([name, from]) => `import ${name} from '${from}';`);
  for (const [from, names] of named) lines.push(`import { ${[...names].sort().join(', ')} } from '${from}';`);
  return `#!/usr/bin/env node\n${lines.sort().join('\n')}\n\n${rest.join('\n')}`;
}
