import type { Writable } from 'node:stream';
import type { PoolClient, Submittable } from 'pg';

// PostgreSQL's COPY, which takes a row at half the cost of any INSERT: most of an INSERT of many rows is taking its JSON or arrays apart.

/**
 * A column's value: `word` for text that can hold nothing COPY or JSON would read otherwise, `json` for objects, `array` for lists of texts; an object
 * brings its own writer of JSON, in whose text nothing has to be escaped for COPY.
 */
export type CopyColumn = 'word' | 'text' | 'number' | 'boolean' | 'array' | 'json' | { readonly toJson: (value: never) => string };
export type CopyColumns<R extends object> = readonly (readonly [name: keyof R & string, kind: CopyColumn])[];

/** Bytes the message that carries the lines has before them: its kind and its length (PostgreSQL protocol, CopyData). */
export const MESSAGE_HEAD = 5;

/**
 * Copies lines made by `copyLine` into a table, inside the client's transaction. Rejects with the database's error; then none of the rows is
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

/** A row in COPY's text format, with its line end. */
export function copyLine<R extends object>(columns: CopyColumns<R>, row: R): string {
  let line = '';
  for (let i = 0; i < columns.length; i++) {
    const [name, kind] = columns[i] as CopyColumns<R>[number];
    line += (i === 0 ? '' : '\t') + field(row[name], kind);
  }
  return `${line}\n`;
}

/** The row a line was made of; what was undefined is null. */
export function readCopyLine<R extends object>(columns: CopyColumns<R>, line: string): R {
  const fields = line.split('\t');
  return Object.fromEntries(columns.map(([name, kind], i) => [name, fieldValue(fields[i] as string, kind)])) as R;
}

/** A field in COPY's text format: `\N` for null, a backslash before what would end or change it. */
function field(value: unknown, kind: CopyColumn): string {
  if (value === null || value === undefined) return '\\N';
  if (typeof value === 'string') return kind === 'word' ? value : escaped(value);
  if (typeof kind === 'object') return kind.toJson(value as never);
  if (kind === 'json') return escaped(JSON.stringify(value));
  if (kind === 'array') return arrayOf(value as readonly string[]);
  return String(value);
}

function fieldValue(field: string, kind: CopyColumn): unknown {
  if (field === '\\N') return null;
  const text = field.replace(/\\(.)/g, (_, c: string) => UNESCAPES[c] ?? c);
  if (typeof kind === 'object') return JSON.parse(text);
  switch (kind) {
    case 'number':
      return Number(text);
    case 'boolean':
      return text === 'true';
    case 'json':
      return JSON.parse(text);
    case 'array':
      return Array.from(text.matchAll(ELEMENT), ([, element = '']) => element.replace(/\\(.)/gs, '$1'));
    default:
      return text;
  }
}

const escaped = (text: string): string => (SPECIAL.test(text) ? text.replace(EVERY_SPECIAL, (c) => ESCAPES[c] as string) : text);
const SPECIAL = /[\\\t\n\r]/;
const EVERY_SPECIAL = /[\\\t\n\r]/g;
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };
const UNESCAPES: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r' };

/** An array literal with every element quoted, so that none is taken for NULL or for structure; escaped for COPY. */
function arrayOf(items: readonly string[]): string {
  let elements = '';
  for (const item of items)
    elements += `${elements === '' ? '' : ','}"${PLAIN.test(item) ? item : escaped(item.replace(/["\\]/g, '\\$&'))}"`;
  return `{${elements}}`;
}
const PLAIN = /^[^"\\\t\n\r]*$/;
const ELEMENT = /"((?:[^"\\]|\\.)*)"/gs;

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
