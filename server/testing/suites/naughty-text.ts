import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import { domainToASCII } from 'node:url';
import { errorTypesOf } from '#server/api/openapi/refusals.ts';
import { perform } from '#server/api/perform.ts';
import { flushUses } from '#server/custody/uses.ts';
import { normalizePattern } from '#server/domain/pki/names.shared.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { asRefusal } from '#server/kernel/errors.ts';
import { type AnyOperation, successesOf } from '#server/kernel/operation.ts';
import { sql } from '#server/platform/sql.ts';
import { type Answer, call } from '../calls.ts';
import { HARSH, NAUGHTY } from '../hostile/strings.ts';
import { type Place, textPlaces, valueAt, withTextAt } from '../hostile/text-places.ts';
import { quickPasswords } from '../quick-passwords.ts';
import { THOROUGH } from '../thorough.ts';
import { memberActor, type Workspace, workspace } from '../workspace.ts';
import type { Subject } from './subject.ts';

/**
 * Every text that an operation takes is given texts that have broken something before. The answer is a success that keeps the text byte for byte, or a
 * declared 4xx that changed nothing. A fixed sample of them by default, all of them with `npm test -- --thorough`.
 */
export function naughtyText(subject: Subject): void {
  const { byKey, dashboard } = subject;
  describe('a naughty text in any field of the Management API is kept byte for byte or refused, and breaks nothing', () => {
    for (const op of byKey) {
      const places = textPlaces(op.input);
      if (places.length > 0) test(`${op.id} (${places.length} places)`, () => overHttp(subject, op, places));
    }
  });

  describe('a naughty text in any field of the dashboard is answered or refused, and breaks nothing', () => {
    for (const op of dashboard) {
      const places = textPlaces(op.input);
      if (places.length > 0) test(`${op.id} (${places.length} places)`, () => inDashboard(subject, op, places));
    }
  });
}

/**
 * Thorough, each place gets all harsh texts and a share of the others: a twelfth, or in an operation of more places so many that together they have all.
 * A field of a schema that the family had before gets a third of the harsh ones, another each time. By default a quarter of all that.
 */
function textsFor(op: AnyOperation, { label, schema }: Place, index: number, places: number): string[] {
  const share = Math.max(12, places) * (THOROUGH ? 1 : 4);
  const field = `${op.id.slice(0, op.id.lastIndexOf('.'))} ${label}`;
  const seen = timesSeen.get(schema) ?? new Map<string, number>();
  const times = seen.get(field) ?? 0;
  timesSeen.set(schema, seen.set(field, times + 1));
  const part = !THOROUGH ? 4 : times === 0 ? 1 : 3;
  return [...HARSH.filter((_, i) => i % part === (index + times) % part), ...NAUGHTY.filter((_, i) => i % share === index % share)];
}
const timesSeen = new Map<Place['schema'], Map<string, number>>();

type Input = Record<string, unknown>;
type Outcome = 'accepted' | 'refused' | 'unsayable';
type Attempt = (input: Input, place: Place, text: string, what: string) => Promise<Outcome>;

/**
 * Plants every text at every place; answers how many were accepted. Of what the schema itself refuses each place is sent a part, and all places
 * together every text: what comes after the schema sees none of them. They come first, so that whether a refusal wrote something is asked once for
 * all of those, and of an operation that only reads once a place; of every other refusal it is asked at once.
 */
async function tryAll(
  { sample }: Subject,
  op: AnyOperation,
  places: readonly Place[],
  w: Workspace,
  ctx: () => Ctx,
  attempt: Attempt,
): Promise<number> {
  const reads = op.kind === 'read' && !op.stream; // an export is in the audit log
  const spends = op.http.startsWith('POST ') || op.http.startsWith('DELETE ');
  let input = await sample(op, ctx());
  let before = await written(w);
  let accepted = 0;
  const quarter = Math.min(4, places.length);
  const untouched = async (what: string) => assert.deepEqual(await written(w), before, `${what}: refused, yet something was written`);
  const withText = (place: Place, text: string) => withTextAt(op.input, input, place.path, text) as Input;
  for (const [index, place] of places.entries()) {
    const texts = Map.groupBy(textsFor(op, place, index, places.length), (text) => op.input.safeParse(withText(place, text)).success);
    for (const possible of [false, true]) {
      for (const [turn, text] of (texts.get(possible) ?? []).entries()) {
        if (!possible && turn % quarter !== index % quarter) continue;
        const what = `${op.id}, ${place.label} = ${JSON.stringify(text).slice(0, 80)}`;
        const outcome = await attempt(withText(place, text), place, text, what);
        if (outcome === 'accepted') accepted++;
        if (reads || outcome === 'unsayable') continue;
        if (outcome === 'refused') {
          if (possible) await untouched(what);
          continue;
        }
        if (spends) input = await sample(op, ctx()); // what was made has a name now, what was deleted is gone
        before = await written(w);
      }
      await untouched(`${op.id}, ${place.label}`);
    }
  }
  return accepted;
}

async function overHttp(subject: Subject, op: AnyOperation, places: readonly Place[]): Promise<void> {
  const w = await workspace();
  const key = await w.credentialFor(op);
  const accepted = await tryAll(
    subject,
    op,
    places,
    w,
    () => w.live,
    async (input, place, text, what) => {
      const answer = await send(op, input, key);
      if (!answer) return 'unsayable'; // HTTP has no spelling for it at this place
      assert.equal(answer.headers.get('x-request-id')?.length, 36, what);
      if (answer.status >= 400) {
        assertRefusal(op, answer, what);
        return 'refused';
      }
      assert.ok(successesOf(op).includes(answer.status as 200), `${what}: ${answer.status}`);
      if (!op.stream && !op.list) await assertKept(subject, op, place, text, answer, key, what);
      return 'accepted';
    },
  );
  // A name in the path is that of something that exists.
  const free = places.some(({ label }) => ['name', 'label', 'description'].includes(label) && !op.http.includes(`{${label}}`));
  if (free && !op.http.startsWith('GET '))
    assert.ok(accepted > (THOROUGH ? 5 : 0), `${op.id}: ${accepted} texts were accepted, so nothing was really tried`);
}

function assertRefusal(op: AnyOperation, answer: Answer, what: string): void {
  assert.ok(answer.status < 500, `${what}: ${answer.status} ${answer.text}`);
  assert.deepEqual(Object.keys(answer.body), ['error'], what);
  assert.deepEqual(Object.keys(answer.body.error), ['type', 'message', 'request_id'], what);
  assert.equal(answer.body.error.request_id, answer.headers.get('x-request-id'), what);
  assert.ok((errorTypesOf(op) as string[]).includes(answer.body.error.type), `${what}: ${answer.body.error.type} is not declared`);
}

/** An amount has two decimals at least: 50 is answered as 50.00 (interface rule 50 §5.1). */
const amount = (text: string) => (/^\d+(?:\.\d{1,2})?$/.test(text) ? Number(text).toFixed(2) : text);

/** Normalisations the interface names; everything else comes back as it was sent, or trimmed. */
const NORMALISED: Record<string, (text: string) => string> = {
  budget_daily_usd: amount,
  budget_monthly_usd: amount,
  provider: (text) => text.trim().toLowerCase(), // a label that filters compare
  'hosts.*': (text) => text.toLowerCase().replace(/\.$/, ''),
  'allowed_domains.*': (text) => normalizePattern(text.trim()) ?? text, // patterns are compared in one spelling
  'allowed_hosts.*': (text) => domainToASCII(text.trim()), // hosts are compared in the spelling of the URL standard
};

async function assertKept(
  { v1 }: Subject,
  op: AnyOperation,
  place: Place,
  text: string,
  answer: Answer,
  key: string,
  what: string,
): Promise<void> {
  const normalised = NORMALISED[place.label]?.(text);
  const same = (value: unknown, where: string) => {
    if (value === undefined || value === null || typeof value !== 'string') return;
    assert.ok([text, text.trim(), normalised].includes(value), `${what}: ${where} says ${JSON.stringify(value).slice(0, 200)}`);
  };
  same(valueAt(answer.body.data, place.path, text), 'the answer');
  const id = answer.body.data?.id;
  const get = v1.find((other) => other.id === `${op.id.split('.')[0]}.get`);
  if (typeof id !== 'string' || !get?.http.endsWith('/{id}') || op.id.split('.').length > 2 || op.http.split('/').length > 3) return;
  const read = await call('GET', get.http.replace('GET ', '').replace('{id}', id), { key });
  assert.equal(read.status, 200, `${what}: it was stored, but reading it says ${read.text.slice(0, 200)}`);
  same(valueAt(read.body.data, place.path, text), 'the next read');
}

/** Audit entries and live rows of a workspace: what a refused call must leave as they were. */
async function written(w: Workspace): Promise<{ audits: string; rows: string }> {
  await flushUses(); // entries of uses follow their answers
  const { rows } = await sql().query<{ audits: string; rows: string }>({
    name: 'written',
    text: `select (select count(*) from audit_logs where tenant_id = $1) as audits, (select coalesce(sum(n), 0) from row_counts where tenant_id = $1) as rows`,
    values: [w.tenant.id],
  });
  return rows[0] as { audits: string; rows: string };
}

/** The request of an input, or null when a URL cannot carry it (a lone surrogate, a segment that is a dot). */
async function send(op: AnyOperation, input: Input, key: string): Promise<Answer | null> {
  const [method, template] = op.http.split(' ') as [string, string];
  const rest = { ...input };
  let fits = true;
  const segment = (_: string, name: string) => {
    const value = String(rest[name]);
    delete rest[name];
    fits &&= value.isWellFormed() && value !== '.' && value !== '..' && value !== '';
    return fits ? encodeURIComponent(value) : '-';
  };
  const path = template.replace(/\{(\w+)\}/g, segment);
  if (!fits) return null;
  if (method !== 'GET') return call(method, path, { key, ...(Object.keys(rest).length > 0 ? { body: rest } : {}) });
  const query = Object.entries(rest).map(([name, value]) => [name, String(value)] as const);
  if (query.some(([, value]) => !value.isWellFormed())) return null;
  return call(method, query.length > 0 ? `${path}?${new URLSearchParams(query.map((pair) => [...pair]))}` : path, { key });
}

async function inDashboard(subject: Subject, op: AnyOperation, places: readonly Place[]): Promise<void> {
  const restore = quickPasswords();
  try {
    const w = await workspace();
    const ctx = () => w.ctx('live', memberActor('owner'));
    await tryAll(subject, op, places, w, ctx, async (input, _place, _text, what) => {
      try {
        await perform(op, ctx(), input);
        return 'accepted';
      } catch (error) {
        const refusal = asRefusal(error);
        // The text was taken, and what takes it next does not run beside this test: the gateway has its own.
        if (refusal.type === 'dependency_unavailable') return 'accepted';
        assert.ok(refusal.status < 500, `${what}: ${String(refusal.cause ?? refusal.message)}`);
        return 'refused';
      }
    });
  } finally {
    restore();
  }
}
