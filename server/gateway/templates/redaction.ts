/**
 * Replaces every value, in each form an upstream may echo it in, by the name of its secret (interface rule 30 §7.4). For everything that is
 * stored or shown of a call. Values shorter than `shortest` characters would take half the text with them and are left out. A form is looked for as its UTF-8
 * bytes, so that it is found in text, in a file, and in text of any encoding that keeps ASCII.
 */
export function redactBytes(bytes: Buffer, secrets: ReadonlyMap<string, string>, shortest = 6): Buffer {
  let clean = bytes.toString('latin1');
  for (const [name, value] of longestFirst(secrets)) {
    if (value.length < shortest) continue;
    for (const form of formsOf(value)) clean = clean.replaceAll(latin(form), latin(`[redacted:secret:${name}]`));
  }
  return Buffer.from(clean, 'latin1');
}

export const redactText = (text: string, secrets: ReadonlyMap<string, string>, shortest = 6): string =>
  redactBytes(Buffer.from(text), secrets, shortest).toString();

const latin = (text: string): string => Buffer.from(text).toString('latin1');

/** A value that is part of another must not break it up before that one was looked for. */
const longestFirst = (secrets: ReadonlyMap<string, string>) => [...secrets].sort(([, a], [, b]) => b.length - a.length);

function formsOf(value: string): string[] {
  const bytes = Buffer.from(value);
  const unpadded = bytes.toString('base64').replace(/=+$/, '');
  const hex = bytes.toString('hex');
  return [
    ...new Set([
      value,
      unpadded,
      bytes.toString('base64url'),
      encodeURIComponent(value),
      encodeURIComponent(value).replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
      new URLSearchParams({ v: value }).toString().slice(2),
      JSON.stringify(value).slice(1, -1),
      hex,
      hex.toUpperCase(),
    ]),
  ].sort((a, b) => b.length - a.length);
}
