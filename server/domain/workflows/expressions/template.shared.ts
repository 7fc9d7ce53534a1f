import { mapTexts } from '#server/domain/templates/texts.shared.ts';
import { applied, asText, FILTERS, type FilterCall, type Hash, isFilter } from './filters.shared.ts';
import { assertShort, COST, charge, chargeWhole, type Meter } from './meter.shared.ts';
import {
  Cursor,
  expected,
  type Reference,
  readLiteral,
  readReference,
  resolve,
  type Scope,
  SyntaxProblem,
  shortened,
} from './reference.shared.ts';

// Templates of node configs. A secret's placeholder is a part of its own that evaluation only ever masks: whoever sends a request puts the value in
// afterwards, into the parts that the config itself wrote. What a reference brings in is never read as a template again.

export type SecretName = { by: 'name' | 'id'; secret: string };
export type Part =
  | { kind: 'text'; text: string }
  | { kind: 'reference'; reference: Reference; filters: FilterCall[] /** Has default(): a missing value is no error. */; safe: boolean }
  | ({ kind: 'secret' } & SecretName);

const MOST_PARTS = 400;
const MOST_FILTERS = 10;

/** @throws SyntaxProblem */
export function parseTemplate(text: string): Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (let open = text.indexOf('{{'); open !== -1; open = text.indexOf('{{', from)) {
    if (open > from) parts.push({ kind: 'text', text: text.slice(from, open) });
    const cursor = new Cursor(text, open + 2);
    cursor.skipSpace();
    parts.push(cursor.take('secret') ? secretPart(cursor, open) : referencePart(cursor));
    cursor.skipSpace();
    if (!cursor.take('}}')) throw expected('}}', cursor);
    from = cursor.at;
    if (parts.length > MOST_PARTS) throw new SyntaxProblem(`a text can have at most ${MOST_PARTS / 2} placeholders`);
  }
  if (from < text.length) parts.push({ kind: 'text', text: text.slice(from) });
  return parts;
}

/** `secret:NAME` and `secret_id:UUID`. A node may be called secret, too. */
function secretPart(cursor: Cursor, open: number): Part {
  const by = cursor.take('_id:') ? 'id' : cursor.take(':') ? 'name' : null;
  if (by === null) {
    cursor.at = open + 2;
    cursor.skipSpace();
    return referencePart(cursor);
  }
  const secret = cursor.run((char) => /[A-Za-z0-9_.-]/.test(char));
  if (secret === '') throw expected('the name of a secret', cursor);
  if (by === 'id' && !UUID.test(secret)) throw new SyntaxProblem('secret_id takes the ID of a secret');
  return { kind: 'secret', by, secret: by === 'id' ? secret.toLowerCase() : secret };
}
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

function referencePart(cursor: Cursor): Part {
  const reference = readReference(cursor);
  const filters: FilterCall[] = [];
  for (;;) {
    cursor.skipSpace();
    if (!cursor.take('|')) break;
    cursor.skipSpace();
    filters.push(readFilter(cursor));
    if (filters.length > MOST_FILTERS) throw new SyntaxProblem(`a placeholder can have at most ${MOST_FILTERS} filters`);
  }
  return { kind: 'reference', reference, filters, safe: filters.some(({ name }) => name === 'default') };
}

function readFilter(cursor: Cursor): FilterCall {
  const name = cursor.run((char) => /[a-z0-9]/.test(char));
  if (!isFilter(name)) throw new SyntaxProblem(`there is no filter "${shortened(name)}"`);
  const args: FilterCall['args'] = [];
  if (cursor.take('(')) {
    cursor.skipSpace();
    while (!cursor.take(')')) {
      if (args.length > 0 && !cursor.take(',')) throw expected(', or )', cursor);
      cursor.skipSpace();
      const literal = readLiteral(cursor);
      if (!literal) throw expected('a quoted text or a number', cursor);
      args.push(literal.value);
      cursor.skipSpace();
    }
  }
  const [least, most] = FILTERS[name].takes;
  if (args.length < least || args.length > most)
    throw new SyntaxProblem(`the filter ${name} takes ${least === most ? least : `${least} to ${most}`} argument${most === 1 ? '' : 's'}`);
  return { name, args };
}

/** A reference to a missing or null value, where one is needed. */
export class Unresolved extends Error {
  override readonly name = 'Unresolved';
}

export type Evaluation = {
  scope: Scope;
  hash: Hash;
  /** One for all texts of a node. */
  meter: Meter;
  /** A null reference is an error (url, headers, to) unless it has default(). */
  strict?: boolean;
};

/** The value of a text: one placeholder alone keeps its type, else everything becomes text. @throws SyntaxProblem, Unresolved, TooLarge */
export function evaluateText(text: string, evaluation: Evaluation): unknown {
  charge(evaluation.meter, text.length + 1);
  if (!text.includes('{{')) return text;
  const parts = parsed(text, evaluation);
  const [only] = parts;
  if (parts.length === 1 && only?.kind === 'reference') {
    // Passed as it is: whoever writes or measures it charges for that, or stops.
    charge(evaluation.meter, COST.step);
    return valueAt(only, evaluation) ?? null;
  }
  let built = '';
  for (const part of parts) {
    built += part.kind === 'text' ? part.text : part.kind === 'secret' ? maskOf(part) : asText(valueAt(part, evaluation), evaluation.meter);
    assertShort(built.length);
  }
  chargeWhole(evaluation.meter, built);
  return built;
}

function parsed(text: string, { meter }: Pick<Evaluation, 'meter'>): Part[] {
  charge(meter, text.length * COST.parse);
  return parseTemplate(text);
}

/** Whether a text has the placeholder of a secret. @throws SyntaxProblem */
export const namesSecret = (text: string): boolean => text.includes('{{') && parseTemplate(text).some(({ kind }) => kind === 'secret');

/** A text in pieces: what is there, and the secrets that whoever sends it puts in. */
export function evaluatePieces(text: string, evaluation: Evaluation): (string | SecretName)[] {
  return parsed(text, evaluation).map((part) =>
    part.kind === 'text'
      ? part.text
      : part.kind === 'secret'
        ? { by: part.by, secret: part.secret }
        : asText(valueAt(part, evaluation), evaluation.meter),
  );
}

export const maskOf = ({ by, secret }: SecretName): string => (by === 'name' ? `[secret:${secret}]` : `[secret_id:${secret}]`);

function valueAt({ reference, filters, safe }: Extract<Part, { kind: 'reference' }>, { scope, hash, meter, strict }: Evaluation): unknown {
  let value = resolve(reference, scope);
  if (strict && !safe && (value === null || value === undefined))
    throw new Unresolved(`{{${shortened(written(reference))}}} has no value. Use default() when it may be missing.`);
  for (const call of filters) value = applied(value, call, { hash, meter });
  return value;
}

export const written = ({ node, path }: Reference): string =>
  node +
  path
    .map((step) => (typeof step === 'number' ? `[${step}]` : /^[A-Za-z0-9_$-]+$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`))
    .join('');

/** A walk that makes a value again costs this much more than writing it. */
export const WALK = 3;
/** The same for every text of a JSON value; names of members stay as they are. @throws SyntaxProblem, Unresolved, TooLarge */
export function evaluateValue(value: unknown, evaluation: Evaluation): unknown {
  if (typeof value !== 'string') chargeWhole(evaluation.meter, value, WALK);
  return mapTexts(value, ({ text, place }) => (place === 'value' ? evaluateText(text, evaluation) : text));
}
