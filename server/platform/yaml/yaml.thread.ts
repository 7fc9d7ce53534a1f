import { parseDocument, visit } from 'yaml';
import { jsonDecimal } from '#server/kernel/decimals.ts';
import { parseExact } from '#server/kernel/lossless-json.ts';

// Aliases are counted: a few kilobytes may otherwise stand for gigabytes.
const OPTIONS = { maxAliasCount: 100, logLevel: 'error', uniqueKeys: false, prettyErrors: false } as const;

/** The value of a YAML text, whose numbers keep their digits (`parseExact`). */
export function run(text: string): unknown {
  const document = parseDocument(text, OPTIONS);
  for (const error of document.errors) throw error;
  visit(document, {
    Scalar(key, node) {
      if (typeof node.value !== 'number' || node.source === undefined) return;
      // A name is what is written.
      if (key === 'key') node.value = node.source;
      else node.value = numberText(node.source) ?? node.value;
    },
  });
  return withNumbers(document.toJS(OPTIONS));
}

/** A number on its way through the package, which would have a number with digits of its own write itself. */
class NumberText {
  readonly json: string;
  constructor(json: string) {
    this.json = json;
  }
}

/** Hexadecimal and octal ones become decimal; infinity is none. */
function numberText(source: string): NumberText | undefined {
  const json = /^0[xo]/.test(source) ? BigInt(source).toString() : jsonDecimal(source);
  return json === undefined ? undefined : new NumberText(json);
}

/** Changes the value in place: aliases lead to one object many times. */
function withNumbers(value: unknown): unknown {
  const root = { value };
  const seen = new Set<object>();
  const open: object[] = [root];
  for (let part = open.pop() as Record<string, unknown> | undefined; part; part = open.pop() as Record<string, unknown> | undefined)
    for (const name of Object.keys(part)) {
      const member = part[name];
      if (member instanceof NumberText) part[name] = parseExact(member.json);
      else if (typeof member === 'object' && member !== null && !seen.has(member)) {
        seen.add(member);
        open.push(member);
      }
    }
  return root.value;
}
