import { isUtf8 } from 'node:buffer';
import { mapTexts } from '#server/domain/templates/texts.shared.ts';
import { LosslessNumber } from '#server/kernel/lossless-json.ts';
import { grouped } from '#server/kernel/numbers.ts';
import type { Steps } from '#server/kernel/slices.ts';
import { type Refused, refused } from '../core/refusal.ts';
import type { CompiledTemplate } from '../snapshot/model.ts';
import { DEEPEST, MOST_MEMBERS, planOf } from './json-bytes.ts';
import { MOST_FIELDS, renderText, replacePairs, tooManyFields, type Values } from './render.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * Merges the configured body into the caller's (interface rule 10 §7.2): objects member by member, the configured value wins everywhere
 * else. Numbers keep their digits. Answers the new body, and its media type when the caller sent none.
 */
export function* injectBody(
  body: Buffer | null,
  contentType: string,
  injected: Json,
): Steps<{ body: Buffer; contentType: string | null } | Refused> {
  if (body === null || body.length === 0)
    return { body: Buffer.from(written(injected)), contentType: contentType === '' ? 'application/json' : null };
  const end = contentType.indexOf(';');
  const type = (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
  if (type === 'application/x-www-form-urlencoded') return yield* injectForm(body, injected);
  if (type !== 'application/json' && !type.endsWith('+json'))
    return refused('unsupported_media_type', 'This route injects values into the body, which is only possible for JSON and form bodies.');
  const merged = isUtf8(body) ? yield* merge(body, injected) : undefined;
  yield;
  if (merged === undefined)
    return refused(
      'invalid_body',
      `This route injects values into the body, so the request body must be a JSON object in UTF-8, nested at most ${grouped(DEEPEST)} levels deep; where members are added it must not have more than ${grouped(MOST_MEMBERS)} of them, a name of more than 64 KiB, or the same name twice.`,
    );
  return { body: Buffer.concat(merged), contentType: null };
}

/** The configured object with its string templates rendered. */
export function renderBody(injected: Json, templates: ReadonlyMap<string, CompiledTemplate>, values: Values): Json {
  if (templates.size === 0) return injected;
  return mapTexts(injected, ({ text }) => {
    const template = templates.get(text);
    return template ? renderText(template, values) : text;
  }) as Json;
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof LosslessNumber);

/**
 * The caller's object with the configured members put in, as pieces of bytes: what nobody changes is neither read nor written anew, so that numbers keep
 * their digits and no body keeps the gateway busy. Undefined when it is no JSON object, or says something twice.
 */
function* merge(caller: Buffer, injected: Json): Steps<Buffer[] | undefined> {
  const plan = yield* planOf(caller);
  if (!plan) return undefined;
  const pieces: Buffer[] = [];
  let at = 0;
  const known = Object.entries(injected).flatMap(([name, value]) => {
    const place = plan.members.get(name);
    return place ? [{ ...place, value }] : [];
  });
  for (const { from, to, value } of known.sort((a, b) => a.from - b.from)) {
    const before = caller.subarray(from, to);
    const inner = isObject(value) && before[0] === OPEN_BRACE ? yield* merge(before, value) : undefined;
    if (!inner && isObject(value) && before[0] === OPEN_BRACE) return undefined;
    pieces.push(caller.subarray(at, from), ...(inner ?? [Buffer.from(written(value))]));
    at = to;
  }
  const fresh = Object.entries(injected).filter(([name]) => !plan.members.has(name));
  const members = fresh.map(([name, value]) => `${JSON.stringify(name)}:${written(value)}`).join(',');
  pieces.push(caller.subarray(at, plan.close), Buffer.from(plan.members.size > 0 && members !== '' ? `,${members}` : members));
  pieces.push(caller.subarray(plan.close));
  return pieces;
}

const OPEN_BRACE = 0x7b;
const written = (value: unknown): string => JSON.stringify(value) ?? 'null';

function* injectForm(body: Buffer, injected: Json): Steps<{ body: Buffer; contentType: null } | Refused> {
  const pairs: [string, string][] = [];
  for (const [name, value] of Object.entries(injected)) {
    if (value instanceof LosslessNumber) pairs.push([name, value.value]);
    else if (typeof value === 'object' && value !== null)
      return refused('template_invalid', `The injected field ${name} can't be sent in a form body.`);
    else pairs.push([name, value === null ? '' : String(value)]);
  }
  if (tooManyFields(body)) return refused('invalid_body', `The form body must not have more than ${grouped(MOST_FIELDS)} fields.`);
  yield;
  const raw = body.toString('latin1');
  const replaced = yield* replacePairs(raw, new Set(Object.keys(injected)), pairs);
  return { body: Buffer.from(replaced, 'latin1'), contentType: null };
}
