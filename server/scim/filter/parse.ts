import { grouped } from '#server/kernel/numbers.ts';
import type { Attribute, ResourceType } from '../schema/attribute.ts';
import { partOf, resolve } from '../schema/resolve.ts';
import { COMPARISONS, type Comparison, type Filter } from './filter.ts';
import { invalidFilter, type Token, tokensOf } from './tokens.ts';
import { typedValue } from './values.ts';

// The grammar of RFC 7644 §3.4.2.2 by recursive descent (interface rule 23 §5.1).

const MAX_LENGTH = 4_096;
const MAX_DEPTH = 20;
const MAX_COMPARISONS = 50;

/** Understands a filter over a kind of resource. @throws ScimProblem invalidFilter */
export const parseFilter = (text: string, type: ResourceType): Filter => parse(text, resourceScope(type));

/** Understands what stands between the brackets of a PATCH path, such as `type eq "work"`. @throws ScimProblem invalidFilter */
export const parseValueFilter = (text: string, attribute: Attribute): Filter =>
  parse(
    text,
    elementScope(attribute, () => true),
  );

/** What a name means where it stands: on a resource, or between the brackets of an attribute. */
type Scope = (name: Token & { kind: 'word' }) => Named;
type Named = {
  path: string;
  attribute: Attribute;
  /** The multi-valued attribute that it is, or is a part of: any one element has to pass. */
  within?: string;
  /** What its parts are called, unless it has none. */
  parts?: Scope;
};

function parse(text: string, scope: Scope): Filter {
  if (text.length > MAX_LENGTH) throw invalidFilter(`A filter has at most ${grouped(MAX_LENGTH)} characters.`);
  const cursor: Cursor = { tokens: tokensOf(text), next: 0, comparisons: 0 };
  const filter = alternatives(cursor, scope, 0);
  if (cursor.next < cursor.tokens.length) throw unexpected(cursor);
  return filter;
}

type Cursor = { tokens: readonly Token[]; next: number; comparisons: number };

const alternatives = (cursor: Cursor, scope: Scope, depth: number): Filter =>
  chain(cursor, 'or', () => chain(cursor, 'and', () => operand(cursor, scope, depth)));

function chain(cursor: Cursor, kind: 'and' | 'or', operandOf: () => Filter): Filter {
  const parts = [operandOf()];
  while (takeKeyword(cursor, kind)) parts.push(operandOf());
  return parts.length === 1 ? (parts[0] as Filter) : { kind, parts };
}

/** Takes `and` or `or`, which stands between spaces. */
function takeKeyword(cursor: Cursor, keyword: string): boolean {
  const [token, after] = cursor.tokens.slice(cursor.next, cursor.next + 2);
  if (token?.kind !== 'word' || token.text.toLowerCase() !== keyword || !token.spaced || !after?.spaced) return false;
  cursor.next++;
  return true;
}

function operand(cursor: Cursor, scope: Scope, depth: number): Filter {
  const token = cursor.tokens[cursor.next];
  if (token?.kind === '(') return group(cursor, scope, depth, ')');
  if (token?.kind !== 'word') throw unexpected(cursor);
  cursor.next++;
  if (token.text.toLowerCase() === 'not' && cursor.tokens[cursor.next]?.kind === '(')
    return { kind: 'not', part: group(cursor, scope, depth, ')') };
  const named = scope(token);
  const bracket = cursor.tokens[cursor.next];
  return bracket?.kind === '[' && !bracket.spaced ? valuePath(cursor, named, depth) : comparison(cursor, named);
}

/** What stands between brackets, both included. */
function group(cursor: Cursor, scope: Scope, depth: number, closing: ')' | ']'): Filter {
  if (depth === MAX_DEPTH) throw invalidFilter(`A filter has at most ${MAX_DEPTH} levels of brackets.`);
  cursor.next++;
  const filter = alternatives(cursor, scope, depth + 1);
  if (cursor.tokens[cursor.next]?.kind !== closing) throw unexpected(cursor);
  cursor.next++;
  return filter;
}

/** `emails[type eq "work"]`, or `emails[type eq "work"].value ew "@acme.com"`: one element passes all of it. */
function valuePath(cursor: Cursor, { path, parts, within }: Named, depth: number): Filter {
  if (!parts) throw invalidFilter(`${path} has no parts to filter by.`);
  let filter = group(cursor, parts, depth, ']');
  const part = cursor.tokens[cursor.next];
  if (part?.kind === 'word' && part.text.startsWith('.') && !part.spaced) {
    cursor.next++;
    filter = { kind: 'and', parts: [filter, comparison(cursor, parts({ ...part, text: part.text.slice(1) }))] };
  }
  return within === undefined ? filter : { kind: 'within', path: within, part: filter };
}

function comparison(cursor: Cursor, named: Named): Filter {
  const [operator, token] = cursor.tokens.slice(cursor.next, cursor.next + 2);
  if (operator?.kind !== 'word' || !operator.spaced) throw unexpected(cursor);
  if (++cursor.comparisons > MAX_COMPARISONS) throw invalidFilter(`A filter has at most ${MAX_COMPARISONS} comparisons.`);
  const op = operator.text.toLowerCase();
  cursor.next++;
  if (op === 'pr') return presence(named);
  if (!isComparison(op)) throw invalidFilter(`Unknown operator at position ${operator.at + 1}: use ${COMPARISONS.join(', ')} or pr.`);
  if (!token?.spaced || (token.kind !== 'word' && token.kind !== 'text')) throw unexpected(cursor);
  cursor.next++;
  if (token.kind === 'word' && token.text.toLowerCase() === 'null') return comparedWithNull(named, op);
  const { path, attribute } = comparableOf(named);
  const compared: Filter = { kind: 'compare', path, attribute, op, value: typedValue(attribute, op, token) };
  return inElement(named, compared);
}

const isComparison = (op: string): op is Comparison => (COMPARISONS as readonly string[]).includes(op);

function comparedWithNull(named: Named, op: Comparison): Filter {
  if (op !== 'eq' && op !== 'ne') throw invalidFilter('Compare with null by eq or ne.');
  return op === 'ne' ? presence(named) : { kind: 'not', part: presence(named) };
}

/** A complex attribute is present when one of its parts is. */
function presence(named: Named): Filter {
  const { path, attribute, parts } = named;
  if (!parts) return inElement(named, { kind: 'present', path, attribute });
  const names = attribute.subAttributes?.filter((part) => part.filterable).map((part) => part.name) ?? ['value'];
  const present = names.map((name): Filter => ({ kind: 'present', ...leaf(parts({ kind: 'word', text: name, at: 0, spaced: true })) }));
  return inElement(named, present.length === 1 ? (present[0] as Filter) : { kind: 'or', parts: present });
}

const inElement = ({ within }: Named, part: Filter): Filter => (within === undefined ? part : { kind: 'within', path: within, part });

/** What a comparison with the attribute compares: of a list, the values of its elements (`emails co "x"`). */
function comparableOf(named: Named): { path: string; attribute: Attribute } {
  if (!named.parts) return leaf(named);
  if (named.within === undefined) throw invalidFilter(`${named.path} has parts: compare one of them.`);
  return leaf(named.parts({ kind: 'word', text: 'value', at: 0, spaced: true }));
}

const leaf = ({ path, attribute }: Named) => ({ path, attribute });

const resourceScope =
  (type: ResourceType): Scope =>
  ({ text, at }) => {
    const found = resolve(type, text);
    if (!found?.attribute.filterable || found.sub?.filterable === false) throw unknownName(text, at);
    const { path, attribute, sub } = found;
    if (!attribute.multiValued)
      return sub ? { path, attribute: sub } : { path, attribute, ...(attribute.subAttributes ? { parts: partsOf(attribute) } : {}) };
    const within = attribute.name;
    return sub ? { path: sub.name, attribute: sub, within } : { path, attribute, within, parts: elementScope(attribute) };
  };

/** The parts of a single-valued attribute: `name[givenName eq "Ann"]`. */
const partsOf =
  (attribute: Attribute): Scope =>
  (token) => {
    const { path, attribute: part } = elementScope(attribute)(token);
    return { path: `${attribute.name}.${path}`, attribute: part };
  };

const elementScope =
  (attribute: Attribute, allows = (part: Attribute) => part.filterable): Scope =>
  ({ text, at }) => {
    const part = partOf(attribute, text);
    if (!part || !allows(part)) throw unknownName(text, at);
    return { path: part.name, attribute: part };
  };

const unknownName = (name: string, at: number) =>
  invalidFilter(`There is no attribute ${name.slice(0, 100)} to filter by (position ${at + 1}).`);

function unexpected({ tokens, next }: Cursor) {
  const token = tokens[next];
  return invalidFilter(token ? `Unexpected input at position ${token.at + 1}.` : 'The filter ends too early.');
}
