import type { Writable } from 'node:stream';
import type { PoolClient, Submittable } from 'pg';

// PostgreSQL's COPY, which takes a row at half the cost of any INSERT: most of an INSERT of many rows is taking its JSON or arrays apart.

/** What a column's value is read back as. */
export type CopyColumn = 'text' | 'number' | 'boolean' | 'array' | 'json';
export type CopyColumns<R extends object> = readonly (readonly [name: keyof R & string, kind: CopyColumn])[];

/** Bytes the message that carries the lines has before them: its kind and its length (PostgreSQL protocol, CopyData). */
export const MESSAGE_HEAD = 5;

/**
 * Copies lines of fields into a table, inside the client's transaction. Rejects with the database's error; then none of the rows is
 * there. `message` has room for its head before the lines; it is sent as it is, and nobody reads it any more when the promise is fulfilled.
 */
export function copyIn<R extends object>(client: PoolClient, table: string, columns: CopyColumns<R>, message: Buffer): Promise<void> {
  const names = columns.map(([name]) => name).join(', ');
  message.write('d', 0, 'latin1');
  message.writeInt32BE(message.length - 1, 1);
  return new Promise((resolve, reject) => {
    client.query(new CopyIn(`copy ${table} (${names}) from stdin`, message, (error) => (error ? reject(error) : resolve())));
  });
}

/** The row a line was made of; what was undefined is null. */
export function readCopyLine<R extends object>(columns: CopyColumns<R>, line: string): R {
  const fields = line.split('\t');
  return Object.fromEntries(columns.map(([name, kind], i) => [name, fieldValue(fields[i] as string, kind)])) as R;
}

// A field in COPY's text format: `\N` for null, a backslash before what would end or change it.

/** What can hold nothing COPY reads otherwise. */
export const word = <T extends string | number | boolean>(value: T | null | undefined): T | '\\N' => value ?? '\\N';
export const text = (value: string | null | undefined): string => (value === null || value === undefined ? '\\N' : escaped(value));

function fieldValue(field: string, kind: CopyColumn): unknown {
  if (field === '\\N') return null;
  const plain = field.replace(/\\(.)/g, (_, c: string) => UNESCAPES[c] ?? c);
  switch (kind) {
    case 'number':
      return Number(plain);
    case 'boolean':
      return plain === 'true';
    case 'json':
      return JSON.parse(plain);
    case 'array':
      return Array.from(plain.matchAll(ELEMENT), ([, element = '']) => element.replace(/\\(.)/gs, '$1'));
    default:
      return plain;
  }
}

const escaped = (text: string): string => (SPECIAL.test(text) ? text.replace(EVERY_SPECIAL, (c) => ESCAPES[c] as string) : text);
const SPECIAL = /[\\\t\n\r]/;
const EVERY_SPECIAL = /[\\\t\n\r]/g;
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };
const UNESCAPES: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r' };

/** An array literal with every element quoted, so that none is taken for NULL or for structure; escaped for COPY. */
export function array(items: readonly string[] | null | undefined): string {
  if (!items) return '\\N';
  if (items.length === 0) return '{}';
  let elements = '';
  for (const item of items)
    elements += `${elements === '' ? '' : ','}"${PLAIN.test(item) ? item : escaped(item.replace(/["\\]/g, '\\$&'))}"`;
  return `{${elements}}`;
}
const PLAIN = /^[^"\\\t\n\r]*$/;
/** Sticky: an element begins where the last one ended. */
const ELEMENT = /[{,]"((?:[^"\\]|\\.)*)"/gsy;

/** What the driver's connection offers beyond its published types. */
type CopyConnection = { query(text: string): void; stream: Writable; endCopyFrom(): void };

/** The driver's interface for statements of other kinds; it puts its own timeout around `callback`. */
class CopyIn implements Submittable {
  callback: (error: Error | null) => void;
  readonly #text: string;
  readonly #message: Buffer;
  #failed = false;

  constructor(text: string, message: Buffer, callback: (error: Error | null) => void) {
    this.#text = text;
    this.#message = message;
    this.callback = callback;
  }

  submit(connection: unknown): void {
    (connection as CopyConnection).query(this.#text);
  }

  handleCopyInResponse(connection: unknown): void {
    // The driver's own way of sending a chunk copies it into memory that grows until it fits.
    (connection as CopyConnection).stream.write(this.#message);
    (connection as CopyConnection).endCopyFrom();
  }

  handleCommandComplete(): void {}

  handleError(error: Error): void {
    this.#failed = true;
    this.callback(error);
  }

  handleReadyForQuery(): void {
    if (!this.#failed) this.callback(null);
  }
}
