import { randomBuffer } from '#server/crypto/random.ts';
import { inSlices, type Steps } from '#server/kernel/slices.ts';
import { decoded, legible, type Reading, squeezed, unescaped, verbatim } from './decodings.ts';

/** The names of secrets and their values. */
export type Secrets = ReadonlyMap<string, string>;
/** Replaces what it knows in bytes; answers the same object when there is nothing to replace. */
export type Redact = (bytes: Buffer) => Buffer;
/** The same without keeping the process from anything else; null when the text is written in so many ways at once that looking through them takes too long. */
export type PatientRedact = (bytes: Buffer) => Promise<Buffer | null>;
/** Where a value stands in a text, from the first of its bytes to behind the last, and whose it is. */
export type Found = { readonly from: number; readonly to: number; readonly name: string };
/** Where values stand, in order and without overlaps; null as of `PatientRedact`. */
export type Find = (bytes: Buffer) => Promise<readonly Found[] | null>;

/** This many characters of a value in a row are masked, also without the rest of it. */
export const FRAGMENT = 16;
/** JSON in JSON in a URL, base64 of a text with escapes: so often in each other are spellings looked through. */
const DEPTH = 3;
/** Of longer values not every fragment is remembered, but so many that the whole value is covered by them. */
const ALL_FRAGMENTS = 4_096;
/** So many bytes of readings are looked through for one text: a few hundred milliseconds. Ordinary texts of the longest length need less than half. */
const MOST_READ = 4 * 1024 * 1024;
/** Values of secrets that are looked for in texts of strangers, in characters and all together: each character of them is worked on, too. */
const MOST_SECRET = 1024 * 1024;

/**
 * Replaces every value by the name of its secret (interface rule 30 §7.4), however it is written: the text is decoded in every way that writers encode
 * (decodings.ts), and each reading is searched for the value, and for long fragments of it, in one pass whose length does not depend on how many
 * secrets there are. Values shorter than `shortest` characters would take half the text with them and are left out.
 */
export function redactor(secrets: Secrets, shortest = 6): Redact {
  const search = searcher(secrets, shortest);
  return (bytes) => {
    const steps = search(bytes, Number.POSITIVE_INFINITY);
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value ? masked(bytes, value) : bytes;
    }
  };
}

/** For texts that strangers write, on the thread that serves every call: in slices, one text at a time, and no longer than is bearable. */
export function patientRedactor(secrets: Secrets, shortest = 6): PatientRedact {
  const find = patientFinder(secrets, shortest);
  return async (bytes) => {
    const found = await find(bytes);
    return found && masked(bytes, found);
  };
}

/** Where the values stand, found as `patientRedactor` finds them. */
export function patientFinder(secrets: Secrets, shortest = 6): Find {
  const search = searcher(secrets, shortest);
  return (bytes) => {
    const found = line.then(() => inSlices(search(bytes, MOST_READ)));
    line = found.catch(() => undefined);
    return found;
  };
}
let line: Promise<unknown> = Promise.resolve();

/** Searches step by step; null when more than `most` bytes would have to be read, or more than MOST_SECRET looked for. */
function searcher(secrets: Secrets, shortest: number): (bytes: Buffer, most: number) => Steps<Found[] | null> {
  let known: Fragments[] | undefined;
  return function* (bytes, most) {
    if (most < Number.POSITIVE_INFINITY && isTooMuchToFind(secrets)) return null;
    known ??= yield* fragmentsOf(secrets, shortest);
    const fragments = known;
    const least = Math.min(...fragments.map(({ length }) => length));
    const places: Place[] = [];
    let read = 0;
    function* look(reading: Reading, depth: number): Steps<boolean> {
      const plain = squeezed(reading);
      read += plain.bytes.length;
      if (read > most) return false;
      for (const known of fragments) {
        find(plain, known, places);
        yield;
      }
      if (depth === 0) return true;
      const text = legible(reading);
      for (const child of decoded(text, text === reading ? plain : squeezed(text), least)) {
        yield;
        if (!(yield* look(child, depth - 1))) return false;
      }
      return true;
    }
    if (fragments.length === 0 || bytes.length < least) return [];
    if (!(yield* look(verbatim(bytes), DEPTH))) return null;
    return merged(places);
  };
}

/** The same for text. */
export const textRedactor = (secrets: Secrets, shortest = 6): ((text: string) => string) => {
  const redact = redactor(secrets, shortest);
  return (text) => redact(Buffer.from(text)).toString();
};

/** What stands in a value's place. */
export const redactedMark = (secret: string): string => `[redacted:secret:${secret}]`;

/** Fragments of one length, by a hash of their characters; `maybe` says of most stretches at once that they are none. */
type Fragments = { length: number; names: Map<number, string>; maybe: Uint8Array };
type Place = [from: number, to: number, name: string];

/** Whether the values are so long together that no text can be searched for them. */
export const isTooMuchToFind = (secrets: Secrets): boolean => lengthOf(secrets) > MOST_SECRET;

/** Of different values. */
function lengthOf(secrets: Secrets): number {
  let length = 0;
  for (const value of new Set(secrets.values())) length += value.length;
  return length;
}

function* fragmentsOf(secrets: Secrets, shortest: number): Steps<Fragments[]> {
  const byLength = new Map<number, Fragments>();
  const seen = new Set<string>();
  // A fragment that two values share has the name of the longer one.
  for (const [name, value] of [...secrets].sort(([, a], [, b]) => b.length - a.length)) {
    if (seen.has(value)) continue;
    seen.add(value);
    for (const form of formsOf(value, shortest)) {
      yield;
      const length = Math.min(form.length, FRAGMENT);
      const { names, maybe } = byLength.get(length) ?? { names: new Map<number, string>(), maybe: new Uint8Array(0x1_0000) };
      byLength.set(length, { length, names, maybe });
      const step = form.length > ALL_FRAGMENTS ? FRAGMENT : 1;
      rolling(form, length, undefined, (one, two, end) => {
        if ((end - length) % step !== 0 && end !== form.length) return;
        const hash = hashOf(one, two);
        names.set(hash, names.get(hash) ?? name);
        maybe[one & 0xffff] = 1;
      });
    }
  }
  return [...byLength.values()];
}

/** The bytes of a value as they are looked for: in UTF-8, in Latin-1, as which a header carries it, in UTF-16, and of credentials for Basic what they encode. */
function formsOf(value: string, shortest: number): Uint8Array[] {
  const texts = [value, ...basicParts(value)].filter((text) => text.trim().length >= shortest);
  const encoded = texts.flatMap((text) => {
    const wide = Buffer.from(text, 'utf16le');
    return [
      Buffer.from(text),
      ...(isAscii(text) ? [] : [wide, Buffer.from(wide).swap16()]),
      ...(isLatin1(text) ? [Buffer.from(text, 'latin1')] : []),
    ];
  });
  const forms = encoded.flatMap((bytes) => {
    // What a writer left alone reads as an escape all the same: then the value was read so too.
    const once = readAsEscapes(bytes);
    return [bytes, once, readAsEscapes(once)].map((form) => squeezed(verbatim(form)).bytes);
  });
  const different = new Map(forms.map((form) => [Buffer.from(form).toString('latin1'), form]));
  return [...different.values()].filter((form) => form.length > 0);
}

const isAscii = (text: string) => /^[\0-\x7f]*$/.test(text);
const isLatin1 = (text: string) => !isAscii(text) && /^[\0-\xff]*$/.test(text);

/** A value that is base64 of `user:password` is answered as those by upstreams that read it. */
function basicParts(value: string): string[] {
  if (!/^[A-Za-z0-9+/_-]{8,1024}={0,2}$/.test(value)) return [];
  const text = Buffer.from(value, 'base64').toString();
  const colon = text.indexOf(':');
  return colon > 0 && /^[\x20-\x7e]+$/.test(text) ? [text, text.slice(colon + 1)] : [];
}

const readAsEscapes = (bytes: Uint8Array): Uint8Array => unescaped(verbatim(bytes)).bytes;

/** Marks every stretch of a reading that is one of the fragments. */
function find({ bytes, start, end }: Reading, { length, names, maybe }: Fragments, places: Place[]): void {
  let last: Place | undefined;
  rolling(bytes, length, maybe, (one, two, to) => {
    const name = names.get(hashOf(one, two));
    if (name === undefined) return;
    const from = start[to - length] as number;
    // The next fragment of the same value touches this one.
    if (last && last[2] === name && from <= last[1]) last[1] = end[to - 1] as number;
    else {
      last = [from, end[to - 1] as number, name];
      places.push(last);
    }
  });
}

// Drawn anew by each process: nobody can prepare texts that have the hash of another.
const SEED = randomBuffer(8);
const [ONE, TWO] = [SEED.readUInt32LE(0) | 1, SEED.readUInt32LE(4) | 1];
/** Letters count alike in either case: some writers change it, and a key in capitals is nearly the key. */
const FOLDED = Uint16Array.from({ length: 256 }, (_, byte) => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte) + 1);

type Told = (one: number, two: number, end: number) => void;
/** Tells two hashes of every stretch of `length` bytes, and where it ends; with `maybe` only of those that it does not rule out. */
function rolling(bytes: Uint8Array, length: number, maybe: Uint8Array | undefined, each: Told): void {
  const [outOne, outTwo] = [power(ONE, length), power(TWO, length)];
  let one = 0;
  let two = 0;
  for (let i = 0; i < bytes.length; i++) {
    const next = FOLDED[bytes[i] as number] as number;
    const gone = i < length ? 0 : (FOLDED[bytes[i - length] as number] as number);
    one = (Math.imul(one, ONE) + next - Math.imul(gone, outOne)) | 0;
    two = (Math.imul(two, TWO) + next - Math.imul(gone, outTwo)) | 0;
    if (i >= length - 1 && (maybe === undefined || maybe[one & 0xffff] === 1)) each(one, two, i + 1);
  }
}

/** 53 bits of both, which a number carries exactly. */
const hashOf = (one: number, two: number) => (one >>> 0) * 0x20_0000 + (two >>> 11);

function power(base: number, exponent: number): number {
  let out = 1;
  for (let i = 0; i < exponent; i++) out = Math.imul(out, base);
  return out;
}

/** The bytes with a mark in place of every stretch; the same object when there is none. */
export function masked(bytes: Buffer, found: readonly Found[]): Buffer {
  if (found.length === 0) return bytes;
  const parts: Buffer[] = [];
  let at = 0;
  for (const { from, to, name } of found) {
    parts.push(bytes.subarray(at, from), Buffer.from(redactedMark(name)));
    at = to;
  }
  return Buffer.concat([...parts, bytes.subarray(at)]);
}

/** Stretches that overlap become one, named by the longest. */
function merged(places: readonly Place[]): Found[] {
  const out: { from: number; to: number; name: string; longest: number }[] = [];
  for (const [from, to, name] of places.toSorted((a, b) => a[0] - b[0])) {
    const last = out.at(-1);
    if (!last || from >= last.to) {
      out.push({ from, to, name, longest: to - from });
      continue;
    }
    last.to = Math.max(last.to, to);
    if (to - from > last.longest) [last.name, last.longest] = [name, to - from];
  }
  return out;
}
