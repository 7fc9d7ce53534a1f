import { DATATYPES, type Datatype } from '#server/crypto/portable/text.ts';
import { eachPicked, isDeeperThan, type Leaf, withReplaced } from '#server/custody/fields/json-leaves.ts';
import { type Compiled, compileSelectors, SelectorRefused } from '#server/custody/fields/selectors.ts';
import { isMarkedPortable, parsePortable } from '#server/custody/portable.ts';
import { tooDeep } from '#server/kernel/bounded-text.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { type JsonText, jsonText, textOfJson } from '#server/kernel/json-text.ts';
import { grouped } from '#server/kernel/numbers.ts';
import { MAX_LEAF_BYTES, MAX_LEAVES } from './schema.ts';

// JSON documents leaf by leaf (interface rule 41 §4, §5): only picked leaves change, every other character stays.

export type Picking = { selectors?: string[] | undefined; exclude?: string[] | undefined };

/** @throws Refusal validation_error that names the faulty selector */
export function compiled({ selectors, exclude }: Picking): Compiled {
  const compile = (field: string, work: () => Compiled) => {
    try {
      return work();
    } catch (error) {
      if (error instanceof SelectorRefused) throw invalid(field, error.message);
      throw error;
    }
  };
  compile('exclude', () => compileSelectors([], exclude));
  return compile('selectors', () => compileSelectors(selectors, exclude));
}

/**
 * The text, no deeper than any body. The parser of bodies drops what stands below names such as `constructor` without counting its levels; here they are
 * data. @throws Refusal validation_error
 */
function walkable(data: JsonText): string {
  const text = textOfJson(data);
  if (isDeeperThan(text, MAX_DEPTH)) throw tooDeep(MAX_DEPTH);
  return text;
}
const MAX_DEPTH = 64;

type Value = { datatype: Datatype; bytes: Buffer };

/** The document with every picked leaf sealed by `seal`. What was sealed before stays as it is. @throws Refusal validation_error beyond the limits */
export async function sealLeaves(data: JsonText, picking: Picking, seal: (value: Value) => string) {
  const text = walkable(data);
  let skipped = 0;
  const found: Leaf[] = [];
  eachPicked(compiled(picking), text, (leaf) => {
    if (sealedText(text, leaf, (value) => parsePortable(value) !== undefined) === null) found.push(leaf);
    else skipped++;
  });
  const replaced = await eachOf(found, 'encrypt', (leaf) => {
    const value = sealable(text, leaf);
    if (value.bytes.byteLength > MAX_LEAF_BYTES)
      throw at(leaf, invalid('data', `each value may have at most ${grouped(MAX_LEAF_BYTES)} bytes`));
    const by = JSON.stringify(seal(value));
    value.bytes.fill(0);
    return by;
  });
  return { ciphertext: jsonText(withReplaced(text, replaced)), encrypted: replaced.length, skipped };
}

/** The sealed values among the picked leaves, in their order. */
export function sealedLeaves(data: JsonText, picking: Picking): { leaf: Leaf; sealed: string }[] {
  const text = walkable(data);
  const found: { leaf: Leaf; sealed: string }[] = [];
  eachPicked(compiled(picking), text, (leaf) => {
    const sealed = sealedText(text, leaf, isMarkedPortable);
    if (sealed !== null) found.push({ leaf, sealed });
  });
  return found;
}

/** The document with each of these leaves replaced by what `by` makes of it. The first failing one fails all, and is named by its place. */
export async function replaceLeaves(
  data: JsonText,
  leaves: readonly { leaf: Leaf; sealed: string }[],
  verb: 'decrypt' | 'rewrap',
  by: (sealed: string) => Promise<string>,
): Promise<JsonText> {
  const sealed = new Map(leaves.map((one) => [one.leaf, one.sealed]));
  const replaced = await eachOf([...sealed.keys()], verb, (leaf) => by(sealed.get(leaf) as string));
  return jsonText(withReplaced(textOfJson(data), replaced));
}

/** So many at a time, so that other calls of the process have their turn: each takes a tenth of a millisecond. */
const AT_A_TIME = 16;

async function eachOf(leaves: readonly Leaf[], verb: string, make: (leaf: Leaf) => string | Promise<string>) {
  if (leaves.length > MAX_LEAVES)
    throw invalid('data', `has ${leaves.length} values to ${verb}; at most ${grouped(MAX_LEAVES)} are allowed`);
  const replaced: { leaf: Leaf; by: string }[] = [];
  for (const leaf of leaves) {
    if (replaced.length > 0 && replaced.length % AT_A_TIME === 0) await new Promise((resolve) => setImmediate(resolve));
    try {
      replaced.push({ leaf, by: await make(leaf) });
    } catch (error) {
      throw at(leaf, error);
    }
  }
  return replaced;
}

/** The same refusal with the place of the leaf, never its content. */
function at({ pointer }: Leaf, error: unknown): unknown {
  if (!(error instanceof Refusal) || error.message.startsWith(PLACE)) return error;
  const { type, message, retryAfter, cause, headers } = error;
  const place = pointer === '' ? 'the whole value' : pointer.length > 200 ? `${pointer.slice(0, 200)}…` : pointer;
  return new Refusal(type, `${PLACE}${place}: ${message}`, { ...(retryAfter === undefined ? {} : { retryAfter }), cause, headers });
}
const PLACE = 'At ';

/** The text of a string leaf that is sealed already; null for any other leaf. */
function sealedText(text: string, { kind, from, to }: Leaf, isSealed: (value: string) => boolean): string | null {
  if (kind !== 'string' || to - from < 6) return null;
  const value = JSON.parse(text.slice(from, to)) as string;
  return isSealed(value) ? value : null;
}

/** The bytes to seal, by kind of leaf; of a number its digits. */
function sealable(text: string, { kind, from, to }: Leaf): Value {
  const source = text.slice(from, to);
  if (kind === 'string') return { datatype: 's', bytes: utf8(JSON.parse(source) as string) };
  if (kind === 'bytes') return { datatype: 'x', bytes: Buffer.from((JSON.parse(source) as { $b64: string }).$b64, 'base64') };
  return { datatype: kind === 'number' ? 'n' : kind === 'boolean' ? 'b' : 'j', bytes: Buffer.from(source) };
}

/** UTF-8 has no lone surrogates: they would come back as another character. */
function utf8(value: string): Buffer {
  if (!value.isWellFormed()) throw invalid('data', 'must not contain invalid Unicode');
  return Buffer.from(value);
}

/** The JSON of an opened value. Whoever has the public key can seal anything, so it is judged like any input. @throws Refusal decrypt_failed */
export function jsonOf(datatype: Datatype, bytes: Buffer): string {
  if (datatype === 'x') return JSON.stringify({ $b64: bytes.toString('base64') });
  let text: string;
  try {
    text = STRICT_UTF8.decode(bytes);
  } catch {
    throw notAsSealed(datatype);
  }
  if (datatype === 's') return JSON.stringify(text);
  const fits = datatype === 'n' ? NUMBER.test(text) : datatype === 'b' ? text === 'true' || text === 'false' : isJson(text);
  if (!fits) throw notAsSealed(datatype);
  return text;
}

const notAsSealed = (datatype: Datatype) =>
  new Refusal(
    'decrypt_failed',
    `The value was sealed as ${DATATYPES[datatype]}, and what it holds is none. Whoever sealed it made a mistake.`,
  );

const STRICT_UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** RFC 8259 §6. */
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/** No deeper than any body: what reads the answer may recurse. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return !isDeeperThan(text, MAX_DEPTH);
  } catch {
    return false;
  }
}
