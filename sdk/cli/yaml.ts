import { type Document, type ScalarTag, stringify, visit } from 'yaml';
import { isExact, type LosslessNumber, parseExact } from '#server/kernel/lossless-json.ts';

// YAML whose numbers and names stay as they are written, like those of JSON: it is read by way of a JSON text, so that one reader keeps both.

/** Aliases may make a document so much longer than its text. */
const MOST_LENGTH = 20 * 1024 * 1024;

/**
 * The value of a parsed document, in which a number that a double would write differently is a `LosslessNumber`.
 * @throws RangeError when it is nested too deeply; ReferenceError for aliases that multiply; SyntaxError for .nan and .inf
 */
export function fromYaml(document: Document.Parsed): unknown {
  visit(document, {
    Scalar: (_, node) => {
      if (typeof node.value === 'number') node.value = numberOf(node.source ?? String(node.value));
    },
  });
  return parseExact(textOf(document.toJS({ maxAliasCount: 100, mapAsMap: true }), { left: MOST_LENGTH }));
}

/** Mappings come as a `Map`, which keeps the order of names such as "2". */
function textOf(value: unknown, length: { left: number }): string {
  if (value instanceof Map)
    return `{${Array.from(value, ([name, one]) => `${JSON.stringify(String(name))}:${textOf(one, length)}`).join()}}`;
  if (Array.isArray(value)) return `[${value.map((one) => textOf(one, length)).join()}]`;
  const text = JSON.stringify(value) ?? 'null';
  length.left -= text.length;
  if (length.left < 0) throw new ReferenceError('aliases multiply');
  return text;
}

/** A number of YAML's core schema: those of JSON and `+1`, `007`, `.5`, `1.`, `0x1f`, `0o17`. */
function numberOf(source: string): unknown {
  if (/^0[xo]/.test(source)) return parseExact(String(BigInt(source)));
  const [, sign = '', whole = '', fraction = '', power = ''] = /^([-+]?)(\d*)(?:\.(\d*))?([eE][-+]?\d+)?$/.exec(source) ?? [];
  if (whole === '' && fraction === '') throw new SyntaxError('not a number');
  return parseExact(`${sign === '-' ? '-' : ''}${whole.replace(/^0+(?=\d)/, '') || '0'}${fraction === '' ? '' : `.${fraction}`}${power}`);
}

/** A value as YAML, its numbers as they were written. */
export const toYaml = (value: unknown): string =>
  stringify(value, { lineWidth: 0, aliasDuplicateObjects: false, customTags: [exactNumber] });

const exactNumber: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  identify: isExact,
  resolve: (text) => text,
  stringify: ({ value }) => (value as LosslessNumber).value,
};
