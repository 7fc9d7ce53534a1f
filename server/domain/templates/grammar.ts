import { atOnce, partsAt, type Steps } from '#server/kernel/slices.ts';

/**
 * The placeholder grammar (interface rules 30 §7.1 and 10 §7.3), pure: no look-ups, no values.
 *
 *     {{secret:NAME}}  {{secret_id:UUID}}  {{var:key}}  {{var:collection.key}}  and, in configuration only, context names
 *
 * One pass over the text: what a placeholder is replaced by is never looked at again, so no value can smuggle in another placeholder.
 * Text between braces that is none of these kinds is left as it is; a known kind with a bad argument is an error, never text.
 */
export type Reference =
  | { readonly kind: 'secret'; readonly name: string }
  | { readonly kind: 'secret_id'; readonly id: string }
  /** `collection` is the slug before the dot; null means the collection of the route. */
  | { readonly kind: 'var'; readonly collection: string | null; readonly key: string }
  /** `parameter` is the query parameter of `{{vars.<parameter>}}`, '' for every other name. */
  | { readonly kind: 'context'; readonly name: ContextName; readonly parameter: string };
export type Part = { readonly kind: 'literal'; readonly text: string } | Reference;
export type Template = readonly Part[];
export type Parsed = { ok: true; template: Template } | { ok: false; at: number; message: string };

export const CONTEXT_NAMES = [
  'environment',
  'route.name',
  'route.slug',
  'route.id',
  'tenant_id',
  'request_id',
  'timestamp',
  'client.id',
  'client.name',
] as const;
export type ContextName = (typeof CONTEXT_NAMES)[number] | 'vars';

/** Per call, over all templates and the caller's body together (interface rule 30 §7.1). */
export const MAX_PLACEHOLDERS = 100;
export const MAX_SECRETS = 64;

const OPENING = /\{\{[ \t]*(?:(secret_id|secret|var)[ \t]*:[ \t]*|(vars\.[A-Za-z0-9_.[\]-]{1,128}|[a-z_]+(?:\.[a-z]+)?)[ \t]*\}\})/g;
const NAME = /^[A-Za-z0-9_.-]{1,128}$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const VARIABLE = /^(?:([A-Za-z0-9_-]{1,64})\.)?([A-Za-z0-9_]{1,64})$/;

/**
 * Takes a text apart. `context: false` (a caller's body) leaves context names untouched as literal text. Never throws;
 * `message` continues a field name and quotes no more than 40 characters of the text. A text with more than `most` placeholders is not read to its end.
 */
export const parseTemplate = (text: string, options: Parsing = {}): Parsed => atOnce(templateSteps(text, options));

type Parsing = { context?: boolean; most?: number };

/** The same in steps, for a text of any length. */
export function* templateSteps(text: string, { context = true, most = Number.POSITIVE_INFINITY }: Parsing = {}): Steps<Parsed> {
  const parts: Part[] = [];
  let references = 0;
  let literalFrom = 0;
  const opening = new RegExp(OPENING);
  for (const { from, part } of partsAt(text, '{{')) {
    yield;
    opening.lastIndex = Math.max(0, literalFrom - from);
    for (let match = opening.exec(part); match; match = opening.exec(part)) {
      const [whole, kind, name] = match;
      const at = from + match.index;
      let reference: Reference | undefined;
      let end = at + whole.length;
      if (kind) {
        const close = text.indexOf('}}', end);
        const argument = close === -1 ? '' : text.slice(end, endOfArgument(text, end, close));
        reference = referenceTo(kind, argument);
        if (close === -1 || !reference) return { ok: false, at, message: badArgument(text, at, close) };
        end = close + 2;
      } else if (context) reference = contextOf(name ?? '');
      if (!reference) {
        opening.lastIndex = match.index + (whole.startsWith('{{{') ? 1 : 2);
        continue;
      }
      if (at > literalFrom) parts.push({ kind: 'literal', text: text.slice(literalFrom, at) });
      parts.push(reference);
      if (++references > most) return { ok: false, at, message: `has more than ${most} placeholders` };
      literalFrom = end;
      opening.lastIndex = end - from;
    }
  }
  if (literalFrom < text.length) parts.push({ kind: 'literal', text: text.slice(literalFrom) });
  return { ok: true, template: parts };
}

/** The canonical spelling; parsing it gives the same parts again. */
export function printTemplate(template: Template): string {
  return template.map((part) => (part.kind === 'literal' ? part.text : printReference(part))).join('');
}

/** What the template needs, in order of appearance, repeats included. */
export function listReferences(template: Template): Reference[] {
  return template.filter((part) => part.kind !== 'literal');
}

/** As it would be written in a template, e.g. for messages and the log's list of injected names. */
export function printReference(reference: Reference): string {
  switch (reference.kind) {
    case 'secret':
      return `{{secret:${reference.name}}}`;
    case 'secret_id':
      return `{{secret_id:${reference.id}}}`;
    case 'var':
      return `{{var:${reference.collection === null ? '' : `${reference.collection}.`}${reference.key}}}`;
    case 'context':
      return `{{${reference.name}${reference.name === 'vars' ? `.${reference.parameter}` : ''}}}`;
  }
}

/** A pattern for the trailing blanks would look at every run of blanks again and again; callers choose this text, and it may have megabytes. */
function endOfArgument(text: string, from: number, close: number): number {
  let end = close;
  while (end > from && (text[end - 1] === ' ' || text[end - 1] === '\t')) end--;
  return end;
}

/** The reference of a placeholder's argument; undefined when it can't be one. */
export function referenceTo(kind: string, argument: string): Reference | undefined {
  if (kind === 'secret') return NAME.test(argument) ? { kind, name: argument } : undefined;
  if (kind === 'secret_id') return UUID.test(argument) ? { kind, id: argument.toLowerCase() } : undefined;
  const [, collection, key] = VARIABLE.exec(argument) ?? [];
  return key ? { kind: 'var', collection: collection ?? null, key } : undefined;
}

function contextOf(name: string): Reference | undefined {
  if (name.startsWith('vars.')) return { kind: 'context', name: 'vars', parameter: name.slice(5) };
  const known = CONTEXT_NAMES.find((candidate) => candidate === name);
  return known && { kind: 'context', name: known, parameter: '' };
}

function badArgument(text: string, from: number, close: number): string {
  if (close === -1) return `has an unclosed placeholder: ${text.slice(from, from + 40)}`;
  return `has a malformed placeholder: ${text.slice(from, Math.min(close + 2, from + 40))}`;
}
