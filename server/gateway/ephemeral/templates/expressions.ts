import { type Reference, referenceTo } from '#server/domain/templates/grammar.ts';
import { partsAt, STRIDE, type Steps } from '#server/kernel/slices.ts';

// The grammar of interface rule 33 §3. One pass from left to right: what stands for an expression is never looked at again.

export type Step = string | number;
export type Expression =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'encrypted'; readonly path: readonly Step[] }
  | { readonly kind: 'secret'; readonly reference: Reference };
export type Part = string | Expression;
export type Parsed =
  | { readonly ok: true; readonly parts: readonly Part[] }
  | { readonly ok: false; readonly message: string }
  | { readonly ok: false; readonly tooMany: true };

export type Keyword = 'token' | 'encrypted' | 'secret' | 'secret_id';

/** Most expressions of one call. */
export const MOST_EXPRESSIONS = 100;
const LONGEST_ARGUMENT = 256;
const LONGEST_SPACE = 64; // also in OPENING

/** Found by the engine: a body of ten million braces must not hold the process. */
const OPENING = /\{\{[ \t\r\n]{0,64}(token|encrypted|secret_id|secret)(?![A-Za-z0-9_.-])/g;

/**
 * Takes a text apart. Text between braces that begins with none of `keywords` is left as it is; one that does and goes on otherwise than the grammar says is
 * an error. `message` continues the name of a place and quotes nothing but the keyword. Stops at the first expression beyond `most`.
 */
export function* parseExpressions(text: string, keywords: ReadonlySet<Keyword>, most: number): Steps<Parsed> {
  // Most texts of a body of a million short ones.
  if (text.length <= STRIDE && text.search(OPENING) < 0) return { ok: true, parts: [text] };
  const parts: Part[] = [];
  let from = 0;
  let found = 0;
  for (const { from: start, part } of partsAt(text, '{{')) {
    yield;
    OPENING.lastIndex = Math.max(0, from - start);
    for (let opening = OPENING.exec(part); opening !== null; opening = OPENING.exec(part)) {
      const [matched, keyword] = opening as unknown as [string, Keyword];
      const index = start + opening.index;
      if (!keywords.has(keyword)) {
        OPENING.lastIndex = opening.index + 1;
        continue;
      }
      const cursor = new Cursor(text, index + matched.length);
      const expression = expressionOf(cursor, keyword);
      if (expression === undefined)
        return { ok: false, message: `has a {{ ${keyword} … }} placeholder that is malformed: write ${FORMS[keyword]}` };
      if (++found > most) return { ok: false, tooMany: true };
      if (index > from) parts.push(text.slice(from, index));
      parts.push(expression);
      from = cursor.at;
      OPENING.lastIndex = from - start;
    }
  }
  if (from < text.length) parts.push(text.slice(from));
  return { ok: true, parts };
}

const FORMS: Readonly<Record<Keyword, string>> = {
  token: '{{ token: tok_… }}',
  encrypted: '{{ encrypted | json: $.path }}',
  secret: '{{ secret: NAME }}',
  secret_id: '{{ secret_id: ID }}',
};

function expressionOf(cursor: Cursor, keyword: Keyword): Expression | undefined {
  cursor.space();
  if (keyword === 'encrypted') {
    if (!cursor.take('|')) return undefined;
    cursor.space();
    if (!cursor.take('json')) return undefined;
    cursor.space();
    if (!cursor.take(':')) return undefined;
    cursor.space();
    const path = pathOf(cursor);
    return path && cursor.close() ? { kind: 'encrypted', path } : undefined;
  }
  if (!cursor.take(':')) return undefined;
  cursor.space();
  const argument = argumentOf(cursor);
  if (argument === undefined || !cursor.close()) return undefined;
  if (keyword === 'token') return { kind: 'token', token: argument };
  const reference = referenceTo(keyword, argument);
  return reference && { kind: 'secret', reference };
}

/** Bare: printable ASCII without spaces, quotes and braces. Quoted: anything printable up to the same quote. */
function argumentOf(cursor: Cursor): string | undefined {
  const quote = cursor.peek();
  const quoted = quote === '"' || quote === "'";
  if (quoted) cursor.at++;
  const start = cursor.at;
  for (let c = cursor.peek(); c !== ''; c = cursor.peek()) {
    if (quoted ? c === quote : !isBare(c)) break;
    if (c < ' ' || c > '~' || cursor.at - start >= LONGEST_ARGUMENT) return undefined;
    cursor.at++;
  }
  const argument = cursor.text.slice(start, cursor.at);
  if (argument === '' || (quoted && !cursor.take(quote))) return undefined;
  return argument;
}

const isBare = (c: string): boolean => c > ' ' && c <= '~' && c !== '"' && c !== "'" && c !== '{' && c !== '}';

/** `$.card.cvc`, `$['a key'][0]`. */
function pathOf(cursor: Cursor): Step[] | undefined {
  if (!cursor.take('$')) return undefined;
  const steps: Step[] = [];
  for (;;) {
    if (steps.length > 64) return undefined;
    if (cursor.take('.')) {
      const name = cursor.run((c) => /[A-Za-z0-9_-]/.test(c), LONGEST_ARGUMENT);
      if (name === '') return undefined;
      steps.push(name);
    } else if (cursor.take("['")) {
      const name = cursor.run((c) => c !== "'" && c >= ' ', LONGEST_ARGUMENT);
      if (name === '' || !cursor.take("']")) return undefined;
      steps.push(name);
    } else if (cursor.take('[')) {
      const digits = cursor.run((c) => c >= '0' && c <= '9', 6);
      if (digits === '' || !cursor.take(']')) return undefined;
      steps.push(Number(digits));
    } else return steps;
  }
}

/** A place in a text, which only moves on. */
class Cursor {
  readonly text: string;
  at: number;

  constructor(text: string, at: number) {
    this.text = text;
    this.at = at;
  }

  peek(): string {
    return this.text[this.at] ?? '';
  }

  take(word: string): boolean {
    if (!this.text.startsWith(word, this.at)) return false;
    this.at += word.length;
    return true;
  }

  run(fits: (c: string) => boolean, most: number): string {
    const start = this.at;
    while (this.at - start < most && this.peek() !== '' && fits(this.peek())) this.at++;
    return this.text.slice(start, this.at);
  }

  space(): void {
    this.run((c) => c === ' ' || c === '\t' || c === '\n' || c === '\r', LONGEST_SPACE);
  }

  close(): boolean {
    this.space();
    return this.take('}}');
  }
}
