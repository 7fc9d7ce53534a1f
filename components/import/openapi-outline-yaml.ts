/** What is kept under a key: all of it, or of its mapping what the keys say. What has no answer is left out. */
type Keep = 'all' | ((key: string) => Keep | undefined);

/**
 * What `essenceOf` keeps of JSON, of a description in YAML: line by line, so that megabytes cost milliseconds, and nothing in them is expanded. It reads block
 * mappings by their indentation (YAML 1.2 §8.2.2); what is written otherwise is kept as it stands. Undefined when the text as a whole is, and
 * when what is left would name an anchor that is not in it.
 */
export function essenceOfYaml(text: string): string | undefined {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  // A document may begin by saying so; where another one follows, nobody knows which is meant.
  const start = lines.findIndex((line) => !isEmpty(line));
  if (/^---\s*$/.test(lines[start] ?? '')) lines.splice(0, start + 1);
  if (lines.some((line) => /^(?:---|\.\.\.|%|\t)/.test(line))) return undefined;
  const entries = entriesOf(lines);
  if (!entries) return undefined;
  const kept = keptOf(entries, whole).join('\n');
  const anchors = (of: string) => new Set(Array.from(of.matchAll(/(?:^|[\s,[{])&([^\s,\]}]+)/g), ([, name]) => name));
  const [there, left] = [anchors(text), anchors(kept)];
  const named = Array.from(kept.matchAll(/(?:^|[\s,[{])\*([^\s,\]}]+)/g), ([, name]) => name);
  return named.some((name) => there.has(name) && !left.has(name)) ? undefined : kept;
}

const METHODS = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch']);
const only = (parts: { [key: string]: Keep }): Keep => {
  const known = new Map(Object.entries(parts));
  return (key) => known.get(key);
};
const operation = only({ summary: 'all', security: 'all' });
const item: Keep = (key) => (key === '$ref' ? 'all' : METHODS.has(key) ? operation : undefined);
const whole = only({
  openapi: 'all',
  swagger: 'all',
  info: only({ title: 'all' }),
  servers: 'all',
  security: 'all',
  components: only({ securitySchemes: 'all', pathItems: () => item }),
  paths: () => item,
});

/** A key of a mapping with its lines; `body` is what stands below a key that has nothing beside it. */
type Entry = { key: string; lines: readonly string[]; body: readonly string[] | undefined };

function keptOf(entries: readonly Entry[], keep: Keep): readonly string[] {
  return entries.flatMap(({ key, lines, body }) => {
    const part = keep === 'all' ? keep : keep(key);
    if (part === undefined) return [];
    const inner = part !== 'all' && body ? entriesOf(body) : undefined;
    return inner ? [lines[0] ?? '', ...keptOf(inner, part)] : lines;
  });
}

/** The entries of a block mapping; undefined when the lines are something else. */
function entriesOf(lines: readonly string[]): Entry[] | undefined {
  const first = lines.find((line) => !isEmpty(line));
  if (first === undefined) return undefined;
  const indent = indentOf(first);
  const entries: { key: string; inline: boolean; lines: string[] }[] = [];
  for (const line of lines) {
    if (isEmpty(line) || indentOf(line) > indent || (entries.length > 0 && /^ *-(?: |$)/.test(line))) {
      entries.at(-1)?.lines.push(line);
      continue;
    }
    const found = indentOf(line) === indent ? KEY.exec(line) : null;
    if (!found) return undefined;
    const [, double, single, plain, value = ''] = found;
    entries.push({ key: (double ?? single ?? plain ?? '').trimEnd(), inline: !/^(?:#|$)/.test(value.trim()), lines: [line] });
  }
  return entries.map(({ key, inline, lines: own }) => ({ key, lines: own, body: inline ? undefined : own.slice(1) }));
}

/** A key in quotes without escapes, or a plain one, which begins with no indicator (YAML 1.2 §7.3.3); its colon is followed by space. */
const KEY = /^ *(?:"([^"\\]*)" *|'([^']*)' *|([^\s"'#&*!|>%@`{}[\],?:-].*?)):(?:\s(.*))?$/;
const isEmpty = (line: string) => /^\s*(?:#|$)/.test(line);
const indentOf = (line: string) => line.length - line.trimStart().length;
