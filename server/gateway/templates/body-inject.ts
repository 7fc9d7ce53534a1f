import { isUtf8 } from 'node:buffer';
import { isLosslessNumber, parse, stringify } from 'lossless-json';
import { type Refused, refused } from '../refusal.ts';
import type { CompiledTemplate } from '../snapshot/model.ts';
import { renderText, replacePairs, type Values } from './render.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * Merges the configured body into the caller's (interface rule 10 §7.2): objects member by member, the configured value wins everywhere
 * else. Numbers keep their digits. Answers the new body, and its media type when the caller sent none.
 */
export function injectBody(
  body: Buffer | null,
  contentType: string,
  injected: Json,
): { body: Buffer; contentType: string | null } | Refused {
  if (body === null || body.length === 0)
    return { body: Buffer.from(text(injected)), contentType: contentType === '' ? 'application/json' : null };
  const end = contentType.indexOf(';');
  const type = (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
  if (type === 'application/x-www-form-urlencoded') return injectForm(body, injected);
  if (type !== 'application/json' && !type.endsWith('+json'))
    return refused('unsupported_media_type', 'This route adds to the body, and can do so only for JSON and form bodies.');
  const caller = parseObject(body);
  if (caller === undefined) return refused('invalid_body', 'This route adds to the body, which must be a JSON object for that.');
  return { body: Buffer.from(text(merge(caller, injected))), contentType: null };
}

/** The configured object with its string templates rendered. */
export function renderBody(injected: Json, templates: ReadonlyMap<string, CompiledTemplate>, values: Values): Json {
  const render = (value: unknown): unknown => {
    if (typeof value === 'string') {
      const template = templates.get(value);
      return template ? renderText(template, values) : value;
    }
    if (Array.isArray(value)) return value.map(render);
    if (typeof value !== 'object' || value === null || isLosslessNumber(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, render(member)]));
  };
  return templates.size === 0 ? injected : (render(injected) as Json);
}

function parseObject(body: Buffer): Json | undefined {
  if (!isUtf8(body)) return undefined;
  try {
    const value = parse(body.toString('utf8'));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined; // not JSON, or nested deeper than the stack
  }
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);

function merge(caller: Json, injected: Json): Json {
  const merged = new Map<string, unknown>(Object.entries(caller));
  for (const [key, value] of Object.entries(injected)) {
    const before = merged.get(key);
    merged.set(key, isObject(before) && isObject(value) ? merge(before, value) : value);
  }
  return Object.fromEntries(merged);
}

const text = (value: Json): string => stringify(value) ?? '{}';

function injectForm(body: Buffer, injected: Json): { body: Buffer; contentType: null } | Refused {
  const pairs: [string, string][] = [];
  for (const [name, value] of Object.entries(injected)) {
    if (isLosslessNumber(value)) pairs.push([name, value.value]);
    else if (typeof value === 'object' && value !== null)
      return refused('template_invalid', `The body member ${name} cannot stand in a form.`);
    else pairs.push([name, value === null ? '' : String(value)]);
  }
  const raw = body.toString('latin1');
  return { body: Buffer.from(replacePairs(raw, new Set(Object.keys(injected)), pairs), 'latin1'), contentType: null };
}
