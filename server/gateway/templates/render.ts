import { type Part, printReference, type Reference } from '#server/domain/templates/grammar.ts';
import { STRIDE, type Steps } from '#server/kernel/slices.ts';
import { type Refused, refused } from '../core/refusal.ts';
import type { CompiledTemplate, Injection } from '../snapshot/model.ts';

/** What stands for each reference of a template, which is the same object wherever it is looked up. */
export type Values = ReadonlyMap<Reference, string>;

const MAX_HEADER_VALUE = 16 * 1024;
/** What may stand in a field value (RFC 9110 §5.5), in Latin-1. */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** The text with every value put in as it is; nothing that was put in is looked at again. */
export function renderText(template: CompiledTemplate, values: Values): string {
  if (template.constant !== null) return template.constant;
  let text = '';
  for (const part of template.parts) text += textOf(part, values);
  return text;
}

const textOf = (part: Part, values: Values): string => (part.kind === 'literal' ? part.text : (values.get(part) ?? ''));

/** As a header value, or why it cannot be one. */
export function renderHeader(rule: Injection & { template: CompiledTemplate }, values: Values): string | Refused {
  const text = renderText(rule.template, values);
  if (!FIELD_VALUE.test(text))
    return unfit(
      rule.name,
      rule.template.parts.find((part) => !FIELD_VALUE.test(textOf(part, values))),
    );
  // Some upstream parsers trim, some do not: a value that begins or ends in blanks would mean different things to them.
  return text.length > MAX_HEADER_VALUE
    ? refused('secret_invalid_for_header', `The value of the header ${rule.name} must not exceed 16 KiB.`)
    : text.trim();
}

function unfit(header: string, part: Part | undefined): Refused {
  if (part?.kind === 'secret' || part?.kind === 'secret_id')
    return refused('secret_invalid_for_header', `${printReference(part)} contains characters that aren't allowed in the header ${header}.`);
  if (part?.kind === 'context' && part.name === 'vars')
    return refused('invalid_request', `The query parameter ${part.parameter} contains characters that aren't allowed in a header.`);
  return refused('template_invalid', `The template of the header ${header} produces characters that aren't allowed in a header.`);
}

/** application/x-www-form-urlencoded, for one name or value. */
export function formEncode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()~]|%20/g, (c) => (c === '%20' ? '+' : `%${c.charCodeAt(0).toString(16).toUpperCase()}`));
}

/** What `encode` makes of the text, part by part. */
export function* encodeSteps(text: string, encode: (part: string) => string): Steps<string> {
  const parts: string[] = [];
  for (let from = 0; from < text.length; ) {
    const last = text.charCodeAt(from + ENCODED - 1);
    // The two halves of a character stay together.
    const to = from + ENCODED + (last >= 0xd800 && last < 0xdc00 ? 1 : 0);
    parts.push(encode(text.slice(from, to)));
    from = to;
    yield;
  }
  return parts.join('');
}
const ENCODED = STRIDE / 4;

/** A pair's name or value as the caller wrote it; undefined when it is not valid. */
export function formDecode(text: string): string | undefined {
  if (!text.includes('%') && !text.includes('+')) return text;
  try {
    return decodeURIComponent(text.split('+').join(' ')); // replaceAll takes four times as long
  } catch {
    return undefined;
  }
}

/** The same for a text of any length. */
export function* formDecodeSteps(text: string): Steps<string | undefined> {
  const parts: string[] = [];
  for (let from = 0; from < text.length; ) {
    const to = cutBehind(text, from + STRIDE);
    const part = formDecode(text.slice(from, to));
    if (part === undefined) return undefined;
    parts.push(part);
    from = to;
    yield;
  }
  return parts.join('');
}

/** The first place from `at` on that is neither inside of an escape nor before one that continues a character. Only what is no UTF-8 has none near. */
function cutBehind(text: string, at: number): number {
  let to = at;
  while (to < at + 12 && (text[to - 1] === '%' || text[to - 2] === '%' || (text[to] === '%' && /[89ab]/i.test(text[to + 1] ?? '')))) to++;
  return to;
}

/** A form of megabytes of ampersands would be a million fields to look at one by one, while every other call waits. */
export const MOST_FIELDS = 50_000;
export function tooManyFields(form: Uint8Array): boolean {
  let fields = 1;
  for (let at = form.indexOf(AMPERSAND); at >= 0; at = form.indexOf(AMPERSAND, at + 1)) if (++fields > MOST_FIELDS) return true;
  return false;
}
const AMPERSAND = 0x26;

/** No character of a name takes more than three escapes. */
const LONGEST_SPELLING = 9;

/** The caller's pairs without those of the given names, byte for byte, with the new pairs behind them. */
export function* replacePairs(
  raw: string,
  names: ReadonlySet<string>,
  pairs: readonly (readonly [name: string, value: string])[],
): Steps<string> {
  const longest = LONGEST_SPELLING * Math.max(0, ...[...names].map((name) => name.length));
  const kept: string[] = [];
  let read = 0;
  for (const pair of raw.split('&')) {
    read += pair.length + 1;
    if (read > STRIDE) {
      yield;
      read = 0;
    }
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const written = equals < 0 ? pair : pair.slice(0, equals);
    const name = written.length > longest ? undefined : formDecode(written);
    if (name === undefined || !names.has(name)) kept.push(pair);
  }
  return [...kept, ...pairs.map(([name, value]) => `${formEncode(name)}=${formEncode(value)}`)].join('&');
}
