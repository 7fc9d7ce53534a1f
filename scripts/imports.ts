import fs from 'node:fs';
import path from 'node:path';

/** `target` is a path from the root for a file of ours, else the package or builtin as written. `type` imports are erased at run time. */
export type Import = { target: string; own: boolean; type: boolean; line: number };

const statement = /^[ \t]*(?:import|export)\b(?<type>\s+type\b(?!\s*,))?(?:[^'";]*?\bfrom)?\s*(['"])(?<name>[^'"\n]+)\2/gm;
const call = /\bimport\(\s*(['"])(?<name>[^'"\n]+)\1\s*\)/g;

/** What a TypeScript file imports, by pattern and not by parser: comments are blanked, so only code at the start of a line counts. */
export function importsOf(file: string, source: string = fs.readFileSync(file, 'utf8')): Import[] {
  const code = withoutComments(source);
  const found: Import[] = [];
  for (const [pattern, dynamic] of [
    [statement, false],
    [call, true],
  ] as const) {
    for (const match of code.matchAll(pattern)) {
      const { name = '', type } = match.groups ?? {};
      const line = code.slice(0, match.index).split('\n').length;
      found.push({ ...resolve(file, name), type: !dynamic && type !== undefined, line });
    }
  }
  return found;
}

function resolve(file: string, name: string): { target: string; own: boolean } {
  if (name.startsWith('#')) return { target: name.slice(1), own: true };
  if (name.startsWith('.')) return { target: path.posix.normalize(path.posix.join(path.posix.dirname(file), name)), own: true };
  return { target: name, own: false };
}

/** Comments as spaces, so that line numbers stay. Texts that hold `//` or `/*` are kept. */
export function withoutComments(source: string): string {
  const token = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;
  return source.replace(token, (found) => (found.startsWith('/') ? found.replace(/[^\n]/g, ' ') : found));
}

/** Every group of files or folders that import each other in a circle, directly or by way of others. */
export function cycles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  // Tarjan's strongly connected components.
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (node: string): number => {
    const own = index.size;
    index.set(node, own);
    let lowest = own;
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!graph.has(next)) continue;
      if (!index.has(next)) lowest = Math.min(lowest, visit(next));
      else if (stack.includes(next)) lowest = Math.min(lowest, index.get(next) ?? own);
    }
    low.set(node, lowest);
    if (lowest === own) {
      const group = stack.splice(stack.indexOf(node));
      if (group.length > 1 || graph.get(node)?.includes(node)) found.push(group.sort());
    }
    return lowest;
  };
  for (const node of graph.keys()) if (!index.has(node)) visit(node);
  return found;
}
