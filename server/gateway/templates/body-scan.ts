import { MAX_PLACEHOLDERS, type Reference, type Template, templateSteps } from '#server/domain/templates/grammar.ts';
import { grouped } from '#server/kernel/numbers.ts';
import { holdsAny, STRIDE, type Steps } from '#server/kernel/slices.ts';
import { type Refused, refused } from '../core/refusal.ts';
import { encodeSteps, formDecodeSteps, formEncode, MOST_FIELDS, tooManyFields, type Values } from './render.ts';

// Placeholders in a caller's body (interface rules 10 §7.4, 30 §7.2). The body is handled as Latin-1 text, one character a byte, so that
// everything around a placeholder leaves byte for byte as it came: numbers, spacing, other encodings. Values go in as UTF-8.

/** Above this a body is not scanned. */
export const SCAN_LIMIT = 5 * 1024 * 1024;

export type Scannable = 'json' | 'form' | 'text' | 'xml' | 'multipart';

/** What the media type says about placeholders; undefined: never looked into. */
export function scannable(contentType: string): Scannable | undefined {
  const end = contentType.indexOf(';');
  const type = (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
  if (type === 'application/json' || type.endsWith('+json')) return 'json';
  if (type === 'application/x-www-form-urlencoded') return 'form';
  if (type === 'application/xml' || type === 'text/xml' || type.endsWith('+xml')) return 'xml';
  if (type.startsWith('text/')) return 'text';
  return type === 'multipart/form-data' || type === 'multipart/mixed' ? 'multipart' : undefined;
}

/** Pieces of the body in order: bytes that stay, and placeholders with the way their value is written. */
type Piece = string | { reference: Reference; encode: (value: string) => string };
export type Scan = { pieces: readonly Piece[]; references: readonly Reference[] };

/** Finds the placeholders. Undefined when there are none: then the bytes are forwarded as they are. */
export function* scanBody(body: Buffer, kind: Scannable, contentType: string): Steps<Scan | Refused | undefined> {
  if (!(yield* holdsAny(body, kind === 'form' ? ['{{', '%7B', '%7b'] : ['{{']))) return undefined;
  if (kind === 'form' && tooManyFields(body))
    return refused('invalid_body', `The form body must not have more than ${grouped(MOST_FIELDS)} fields.`);
  const text = body.toString('latin1');
  yield;
  const pieces =
    kind === 'form'
      ? yield* formPieces(text)
      : kind === 'multipart'
        ? yield* multipartPieces(text, contentType)
        : yield* textPieces(text, kind);
  if (!Array.isArray(pieces)) return pieces;
  const references = pieces.flatMap((piece) => (typeof piece === 'string' ? [] : [piece.reference]));
  return references.length > 0 ? { pieces, references } : undefined;
}

/** The body with the values in the places of their placeholders. */
export function writeBody(scan: Scan, values: Values): Buffer {
  const text = scan.pieces.map((piece) => (typeof piece === 'string' ? piece : piece.encode(values.get(piece.reference) ?? ''))).join('');
  return Buffer.from(text, 'latin1');
}

const utf8 = (value: string) => Buffer.from(value, 'utf8').toString('latin1');
const ENCODE = {
  json: (value: string) => utf8(JSON.stringify(value).slice(1, -1)),
  text: utf8,
  xml: (value: string) => utf8(value.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)),
};

function* textPieces(text: string, kind: 'json' | 'text' | 'xml'): Steps<Piece[] | Refused> {
  const parsed = yield* templateSteps(text, { context: false, most: MAX_PLACEHOLDERS });
  if (!parsed.ok) return refused('template_invalid', `The body ${parsed.message}.`);
  if (kind === 'json' && !(yield* insideStrings(parsed.template)))
    return refused('template_invalid', 'Placeholders in a JSON body must be inside strings.');
  return parsed.template.map((part) => (part.kind === 'literal' ? part.text : { reference: part, encode: ENCODE[kind] }));
}

/** Whether every placeholder of a JSON text stands between two quotation marks. */
function* insideStrings(template: Template): Steps<boolean> {
  let inString = false;
  for (const part of template) {
    let stop = STRIDE;
    if (part.kind !== 'literal') {
      if (!inString) return false;
      continue;
    }
    for (let i = 0; i < part.text.length; i++) {
      if (i > stop) {
        yield;
        stop = i + STRIDE;
      }
      const c = part.text.charCodeAt(i);
      if (c === 0x22) inString = !inString;
      else if (c === 0x5c && inString) i++;
    }
  }
  return true;
}

/** A pair with a placeholder, however it was percent-encoded, is written anew; every other pair stays as it is. */
function* formPieces(text: string): Steps<Piece[] | Refused> {
  const pieces: Piece[] = [];
  let read = 0;
  for (const [i, pair] of text.split('&').entries()) {
    read += pair.length;
    if (read > STRIDE) {
      yield;
      read = 0;
    }
    if (i > 0) pieces.push('&');
    const equals = pair.indexOf('=');
    const value = equals < 0 || !BRACE.test(pair) ? undefined : yield* formDecodeSteps(pair.slice(equals + 1));
    if (value?.includes('{{')) {
      const parsed = yield* templateSteps(value, { context: false });
      if (!parsed.ok) return refused('template_invalid', `The body ${parsed.message}.`);
      if (parsed.template.some((part) => part.kind !== 'literal')) {
        pieces.push(pair.slice(0, equals + 1));
        for (const part of parsed.template)
          pieces.push(part.kind === 'literal' ? yield* encodeSteps(part.text, formEncode) : { reference: part, encode: formEncode });
        continue;
      }
    }
    pieces.push(pair);
  }
  return pieces;
}
const BRACE = /\{|%7b/i;

const MOST_SECTIONS = 10_000;

/** RFC 2046 §5.1: only parts with a text content type (or none, which means text) are looked into. */
function* multipartPieces(text: string, contentType: string): Steps<Piece[] | Refused> {
  const boundary = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType);
  const marker = `--${boundary?.[1] ?? boundary?.[2] ?? ''}`;
  if (marker === '--') return refused('invalid_body', 'The multipart body has no boundary.');
  const pieces: Piece[] = [];
  const sections = text.split(marker, MOST_SECTIONS + 1);
  if (sections.length > MOST_SECTIONS)
    return refused('invalid_body', `The multipart body must not have more than ${grouped(MOST_SECTIONS)} parts.`);
  for (const [i, section] of sections.entries()) {
    yield;
    if (i > 0) pieces.push(marker);
    const blank = section.indexOf('\r\n\r\n');
    const type = blank < 0 ? 'none/none' : (/^content-type:[ \t]*([^\r\n]*)/im.exec(section.slice(0, blank))?.[1] ?? 'text/plain');
    const kind = scannable(type);
    if (i === 0 || blank < 0 || kind === undefined || kind === 'multipart' || kind === 'form' || !section.includes('{{', blank)) {
      pieces.push(section);
      continue;
    }
    pieces.push(section.slice(0, blank));
    const inner = yield* textPieces(section.slice(blank), kind);
    if (!Array.isArray(inner)) return inner;
    pieces.push(...inner);
  }
  return pieces;
}
