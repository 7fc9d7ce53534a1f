import fs from 'node:fs';
import { jsonOf } from '../output.ts';
import { plain, type Terminal } from '../terminal.ts';
import { toYaml } from '../yaml.ts';

/** A configuration as YAML, or as JSON with `--json` or a file name that ends so. `comments` stand above it; JSON has none. */
export function writeDocument(
  document: Record<string, unknown>,
  { json, output }: { json?: boolean; output?: string },
  terminal: Terminal,
  comments: readonly string[] = [],
): void {
  const isJson = json || output?.endsWith('.json');
  const head = comments.map((comment) => `# ${plain(comment)}\n`).join('');
  const text = isJson ? `${jsonOf(document, 2)}\n` : head + toYaml(document);
  if (output === undefined) terminal.print(text.trimEnd());
  else fs.writeFileSync(output, text);
}
