import { newId } from '#server/kernel/ids.ts';
import { atOnce } from '#server/kernel/slices.ts';
import { blanks, valueEnd } from '../../templates/json-bytes.ts';

/** Members that no control looks at. Probabilities and pictures are nearly all of a long answer, and as values they would take several times its length. */
const OPAQUE = ['logprobs', 'logprobsResult', 'b64_json', 'inlineData', 'inline_data'].map((name) => Buffer.from(`"${name}"`));
const SHORT = 1024;
const [BACKSLASH, COLON] = [0x5c, 0x3a];

/** An answer without its opaque values, for each of which a short text is written, and back. */
export type WithoutOpaque = { rest: Buffer; whole: (json: string) => Uint8Array };

/** Linear in the bytes, of which it copies the rest alone. @throws SyntaxError where such a member has no value */
export function withoutOpaque(bytes: Buffer): WithoutOpaque {
  // No provider can write this mark: it is another one at each call.
  const mark = `"opaque-${newId()}-`;
  const values: Buffer[] = [];
  const parts: Buffer[] = [];
  let at = 0;
  for (const [from, to] of places(bytes)) {
    parts.push(bytes.subarray(at, from), Buffer.from(`${mark}${values.length}"`));
    values.push(bytes.subarray(from, to));
    at = to;
  }
  return {
    rest: Buffer.concat([...parts, bytes.subarray(at)]),
    whole(json) {
      const [first = '', ...others] = json.split(mark);
      const pieces: Buffer[] = [Buffer.from(first)];
      for (const one of others) {
        const end = one.indexOf('"');
        pieces.push(values[Number(one.slice(0, end))] as Buffer, Buffer.from(one.slice(end + 1)));
      }
      return shared(pieces);
    },
  };
}

/** In shared memory: the loop that sends it has nothing to copy. */
function shared(pieces: readonly Buffer[]): Uint8Array {
  const out = Buffer.from(new SharedArrayBuffer(pieces.reduce((sum, { length }) => sum + length, 0)));
  let at = 0;
  for (const piece of pieces) at += piece.copy(out, at);
  return out;
}

/** Where long values of such members are, in order and none in another. */
function* places(bytes: Buffer): Generator<[from: number, to: number]> {
  const next = OPAQUE.map((name) => bytes.indexOf(name));
  for (let done = 0; ; ) {
    let first = -1;
    for (const [i, name] of OPAQUE.entries()) {
      if (next[i] !== -1 && (next[i] as number) < done) next[i] = bytes.indexOf(name, done);
      if (next[i] !== -1 && (first === -1 || (next[i] as number) < (next[first] as number))) first = i;
    }
    if (first === -1) return;
    const from = next[first] as number;
    done = from + (OPAQUE[first] as Buffer).length;
    const colon = blanks(bytes, done);
    // Behind a backslash it ends a text, and without a colon it is one.
    if (bytes[from - 1] === BACKSLASH || bytes[colon] !== COLON) continue;
    const value = blanks(bytes, colon + 1);
    const end = atOnce(valueEnd(bytes, value));
    if (end < 0) throw new SyntaxError('The answer is not JSON.');
    done = end;
    if (end - value > SHORT) yield [value, end];
  }
}
