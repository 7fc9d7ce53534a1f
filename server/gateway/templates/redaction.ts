import { base64Reading, placeIn, type Reading, readingsOf } from './readings.ts';

/**
 * Replaces every value, in each form an upstream may echo it in, by the name of its secret (interface rule 30 §7.4). For everything that is
 * stored or shown of a call. Values shorter than `shortest` characters would take half the text with them and are left out. A form is looked for as its
 * bytes, so that it is found in text, in a file, and in text of any encoding that keeps ASCII.
 */
export function redactBytes(bytes: Buffer, secrets: ReadonlyMap<string, string>, shortest = 6): Buffer {
  if (secrets.size === 0 || bytes.length === 0) return bytes;
  const text = bytes.toString('latin1');
  const wanted = longestFirst(secrets).map(([name, value]) => ({ name, forms: formsOf(value, shortest) }));
  const plain = readingsOf(
    text,
    wanted.some(({ forms }) => forms.some((form) => form.includes(' '))),
  );
  const base64 = [...new Set(plain.slice(0, 2).map(base64Reading))];
  const hex = { text: text.toLowerCase(), at: null };
  const places: Place[] = [];
  for (const { name, forms } of wanted) {
    const look = (reading: Reading, needle: string, before = 0, after = 0) => {
      for (let at = reading.text.indexOf(needle); at !== -1; at = reading.text.indexOf(needle, at + needle.length))
        places.push([...placeIn(reading, Math.max(0, at - before), Math.min(reading.text.length, at + needle.length + after)), name]);
    };
    for (const form of forms) {
      // What a writer left alone reads as an escape all the same: then the value was read so too.
      for (const needle of new Set(readingsOf(form, false).map((read) => read.text)))
        if (needle.length >= Math.min(shortest, form.length)) for (const reading of plain) look(reading, needle);
      for (const reading of base64) for (const { core, before, after } of encodingsOf(form)) look(reading, core, before, after);
      look(hex, Buffer.from(form, 'latin1').toString('hex'));
    }
  }
  return Buffer.from(without(text, places), 'latin1');
}

export const redactText = (text: string, secrets: ReadonlyMap<string, string>, shortest = 6): string =>
  redactBytes(Buffer.from(text), secrets, shortest).toString();

type Place = [from: number, to: number, name: string];

/** What stands in a value's place. */
export const redactedMark = (secret: string): string => `[redacted:secret:${secret}]`;

const latin = (text: string): string => Buffer.from(text).toString('latin1');

/** Of two values that overlap the longer one gives the name. */
const longestFirst = (secrets: ReadonlyMap<string, string>) => [...secrets].sort(([, a], [, b]) => b.length - a.length);

/** The bytes of a value, also without the blanks around it, which no header keeps, in Latin-1, as which a header carries it, and with plain line ends. */
function formsOf(value: string, shortest: number): string[] {
  const texts = [value, value.trim(), value.replaceAll('\r\n', '\n')].filter((text) => text.length >= shortest);
  return [...new Set(texts.flatMap((text) => [latin(text), ...(/^[\0-\xff]*$/.test(text) ? [text] : [])]))];
}

/**
 * Base64 of a text that holds the bytes behind 0, 1 or 2 others (modulo 3), as in `user:password`: the characters that they alone decide. One on each side
 * may be shared with the neighbours. So little is left of very short values that it would be found everywhere: they are looked for as encoded alone.
 */
function encodingsOf(form: string): { core: string; before: number; after: number }[] {
  return [0, 1, 2].flatMap((offset) => {
    const text = Buffer.from('\0'.repeat(offset) + form, 'latin1')
      .toString('base64')
      .replace(/=+$/, '');
    const core = text.slice(offset === 0 ? 0 : offset + 1, Math.floor(((offset + form.length) * 4) / 3));
    if (core.length < 6) return offset === 0 ? [{ core: text, before: 0, after: 0 }] : [];
    return [{ core, before: offset === 0 ? 0 : 1, after: (offset + form.length) % 3 === 0 ? 0 : 1 }];
  });
}

/** The text with a mark in place of every stretch; stretches that touch the same characters become one. */
function without(text: string, places: Place[]): string {
  let clean = '';
  let at = 0;
  for (const [from, to, name] of merged(places)) {
    clean += text.slice(at, from) + latin(redactedMark(name));
    at = to;
  }
  return clean + text.slice(at);
}

function merged(places: readonly Place[]): Place[] {
  const out: Place[] = [];
  // The sort is stable: of those that begin together the longest value's stays first.
  for (const [from, to, name] of places.toSorted((a, b) => a[0] - b[0])) {
    const last = out.at(-1);
    if (last && from < last[1]) last[1] = Math.max(last[1], to);
    else out.push([from, to, name]);
  }
  return out;
}
