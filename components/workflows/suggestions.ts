import { isExact } from '#server/kernel/lossless-number.ts';
import { type Document, sampleOf, stepOf, TRIGGER_ID, upstreamOf } from './document.ts';

/** A value that an expression can refer to: what is written between the braces, and what it was in the last run. */
export type Suggestion = { path: string; preview: string; of: string };

/** What steps gave: of the last run, or kept as a sample. */
export type Outputs = ReadonlyMap<string, unknown>;

const MOST = 300;
const DEEPEST = 6;
const PREVIEW = 48;

/** What expressions of a step can refer to, nearest step first. Steps that have not run yet are there by the shape their kind always gives. */
export function suggestionsFor(doc: Document, id: string, outputs: Outputs): Suggestion[] {
  const found: Suggestion[] = [];
  for (const before of upstreamOf(doc, id)) {
    const step = stepOf(doc, before);
    if (!step) continue;
    const value = sampleOf(step) ?? outputs.get(before) ?? SHAPES[step.type];
    walk(before === TRIGGER_ID ? 'trigger' : before, value, step.name ?? before, 0, found);
    if (step.type === 'loop')
      for (const part of ['item', 'index']) found.push({ path: `${before}.${part}`, preview: '', of: step.name ?? before });
  }
  return uniqueBy(found).slice(0, MOST);
}

function walk(path: string, value: unknown, of: string, depth: number, found: Suggestion[]): void {
  if (found.length >= MOST) return;
  found.push({ path, preview: value === undefined ? '' : previewOf(value), of });
  if (value === null || typeof value !== 'object' || isExact(value) || depth >= DEEPEST) return;
  // One item says what the others hold.
  const parts = Array.isArray(value) ? (value.length > 0 ? [[0, value[0]] as const] : []) : Object.entries(value);
  for (const [key, part] of parts) walk(path + memberOf(key), part, of, depth + 1, found);
}

const memberOf = (key: string | number): string =>
  typeof key === 'number' ? `[${key}]` : /^[A-Za-z_][A-Za-z0-9_-]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;

function previewOf(value: unknown): string {
  if (value === null || typeof value !== 'object' || isExact(value)) {
    const text = JSON.stringify(value);
    return text.length > PREVIEW ? `${text.slice(0, PREVIEW)}…` : text;
  }
  const count = Object.keys(value).length;
  return Array.isArray(value) ? `[${count}]` : `{${count}}`;
}

const uniqueBy = (all: readonly Suggestion[]) => [...new Map(all.map((one) => [one.path, one])).values()];

const ANSWER = { status: null, statusText: null, headers: {}, body: null, url: null, method: null, success: null };
/** What each kind of step gives, by name, before there was a run (spec 62 §3.1). */
const SHAPES: Record<string, unknown> = {
  trigger: { type: null, data: null, timestamp: null },
  http_request: ANSWER,
  route_request: { ...ANSWER, request_id: null },
  email: { message_id: null, accepted: null },
  sms: { message_id: null },
  condition: { result: null },
  router: { matched: [] },
  loop: { results: [], count: null, failed: null },
  delay: { resumed_at: null },
  error_handler: { node_id: null, error_code: null, message: null },
};

/** The reference that is being typed before the cursor: where it begins, and what there is of it. Undefined outside of one. */
export function typedAt(text: string, cursor: number, bare = false): { from: number; typed: string } | undefined {
  const before = text.slice(0, cursor);
  if (bare) {
    const typed = /[A-Za-z_][A-Za-z0-9_.\-[\]"]*$/.exec(before)?.[0];
    return typed === undefined ? undefined : { from: cursor - typed.length, typed };
  }
  const open = before.lastIndexOf('{{');
  if (open < 0 || before.indexOf('}}', open) >= 0 || before.indexOf('|', open) >= 0) return undefined;
  const inner = before.slice(open + 2);
  const typed = inner.trimStart();
  return { from: open + 2 + (inner.length - typed.length), typed };
}

/** The text with a suggestion in the place of what was typed, and where the cursor then stands. */
export function completed(text: string, cursor: number, path: string, bare = false): { text: string; cursor: number } {
  const at = typedAt(text, cursor, bare);
  if (!at) {
    const whole = bare ? path : `{{${path}}}`;
    return { text: text.slice(0, cursor) + whole + text.slice(cursor), cursor: cursor + whole.length };
  }
  const rest = text.slice(cursor);
  const close = bare || /^\s*(?:\}\}|\|)/.test(rest) ? '' : '}}';
  return { text: text.slice(0, at.from) + path + close + rest, cursor: at.from + path.length + close.length };
}

/** Those that hold every word typed, those that begin with it first. */
export function matching(all: readonly Suggestion[], typed: string): Suggestion[] {
  const wanted = typed.toLowerCase();
  const hits = all.filter(({ path }) => path.toLowerCase().includes(wanted));
  return [
    ...hits.filter(({ path }) => path.toLowerCase().startsWith(wanted)),
    ...hits.filter(({ path }) => !path.toLowerCase().startsWith(wanted)),
  ].slice(0, 50);
}
