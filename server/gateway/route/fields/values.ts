import { isUtf8 } from 'node:buffer';
import { formDecode, formEncode } from '../../templates/render.ts';
import type { ValueKind } from './picks.ts';

/** A value that was picked: the characters of a string or a field, or the JSON source of anything else, so that numbers keep their digits. */
export type FieldValue = { kind: Exclude<ValueKind, 'text'>; text: string };

/** How values are written where they stand. */
export type Format = {
  /** Undefined: nobody can say which characters these are. */
  read(source: string | Buffer, kind: ValueKind): FieldValue | undefined;
  /** Undefined: such a value can't stand here. */
  write(value: FieldValue): string | undefined;
};

export const JSON_FORMAT: Format = {
  read(source, kind) {
    const text = typeof source === 'string' ? source : source.toString();
    if (kind !== 'string') return { kind: kind as FieldValue['kind'], text };
    const value = text.includes('\\') ? (JSON.parse(text) as string) : text.slice(1, -1);
    return value.isWellFormed() ? { kind, text: value } : undefined;
  },
  write: ({ kind, text }) => (kind === 'string' ? JSON.stringify(text) : text),
};

export const FORM_FORMAT: Format = {
  read(source) {
    const raw = typeof source === 'string' ? Buffer.from(source) : source;
    if (!isUtf8(raw)) return undefined;
    const text = formDecode(raw.toString());
    return text === undefined ? undefined : { kind: 'string', text };
  },
  write: ({ text }) => (text.isWellFormed() ? formEncode(text) : undefined),
};

/** What may stand in a field value (RFC 9110 §5.5), in Latin-1. */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const LONGEST_HEADER = 16 * 1024;

/** Header values are bytes, one character each, which are read and written as UTF-8. */
export const HEADER_FORMAT: Format = {
  read(source) {
    const raw = typeof source === 'string' ? Buffer.from(source) : source;
    return isUtf8(raw) ? { kind: 'string', text: raw.toString() } : undefined;
  },
  write({ text }) {
    const bytes = Buffer.from(text);
    return bytes.length <= LONGEST_HEADER && text === text.trim() && FIELD_VALUE.test(bytes.toString('latin1')) ? text : undefined;
  },
};

/** Whether a text is one JSON value that can stand where another did. */
export function jsonKindOf(text: string): FieldValue['kind'] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value as 'string' | 'number' | 'boolean' | 'object';
}

/** Raw bytes as JSON names them (interface rule 41 §4). */
export const bytesValue = (bytes: Buffer): FieldValue => ({ kind: 'object', text: JSON.stringify({ $b64: bytes.toString('base64') }) });
