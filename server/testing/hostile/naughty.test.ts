import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import { domainToASCII } from 'node:url';
import { errorTypesOf } from '#server/api/openapi/refusals.ts';
import { dashboardOperations, v1Operations } from '#server/api/operations.ts';
import { perform } from '#server/api/perform.ts';
import { KEY_ROLES } from '#server/kernel/capabilities.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { asRefusal } from '#server/kernel/errors.ts';
import { areMet } from '#server/kernel/needs.ts';
import { type AnyOperation, successesOf } from '#server/kernel/operation.ts';
import { sql } from '#server/platform/sql.ts';
import { type Answer, call } from '../calls.ts';
import { testDatabase } from '../database.ts';
import { quickPasswords } from '../quick-passwords.ts';
import { samples } from '../samples.ts';
import { memberActor, type Workspace, workspace } from '../workspace.ts';
import { type Place, planted, textPlaces, valueAt } from './planting.ts';
import { HARSH, NAUGHTY } from './strings.ts';

/**
 * Every text that an operation takes is given every kind of text that has broken something before. The answer is a success that keeps the text
 * byte for byte, or a declared 4xx that changed nothing. What is walked is the operation table, so a new field is covered the day it is declared.
 */
await testDatabase({ LOG_LEVEL: 'silent' });
quickPasswords();

/**
 * Each place gets all harsh texts and a share of the others: a twelfth, or in an operation of more places so many that together they have all. Where an operation
 * of the same family has had a field of the very same schema, it gets a third of the harsh ones, another each time.
 */
function textsFor(op: AnyOperation, { label, schema }: Place, index: number, places: number): string[] {
  const share = Math.max(12, places);
  const field = `${op.id.slice(0, op.id.lastIndexOf('.'))} ${label}`;
  const had = timesHad.get(schema) ?? new Map<string, number>();
  const times = had.get(field) ?? 0;
  timesHad.set(schema, had.set(field, times + 1));
  return [...HARSH.filter((_, i) => times === 0 || i % 3 === times % 3), ...NAUGHTY.filter((_, i) => i % share === index % share)];
}
const timesHad = new Map<Place['schema'], Map<string, number>>();

const infrastructure = KEY_ROLES.at(-1)?.capabilities ?? new Set();
const byKey = v1Operations.filter((op) => op.needs !== 'anonymous' && areMet(op.needs, infrastructure));

describe('a naughty text in any field of the Management API is kept byte for byte or refused, and breaks nothing', () => {
  for (const op of byKey) {
    const places = textPlaces(op.input);
    if (places.length > 0) test(`${op.id} (${places.length} places)`, () => overHttp(op, places));
  }
});

type Input = Record<string, unknown>;
type Outcome = 'accepted' | 'refused' | 'unsayable';
type Attempt = (input: Input, place: Place, text: string, what: string) => Promise<Outcome>;

/**
 * Plants every text at every place; answers how many were accepted. Of what the schema itself refuses each place is sent a part, and all places
 * together every text: what comes after the schema sees none of them. They come first, so that whether a refusal wrote something is asked once for
 * all of those, and of an operation that only reads once a place; of every other refusal it is asked at once.
 */
async function tryAll(op: AnyOperation, places: readonly Place[], w: Workspace, ctx: () => Ctx, attempt: Attempt): Promise<number> {
  const reads = op.kind === 'read' && !op.stream; // an export is in the audit log
  const spends = op.http.startsWith('POST ') || op.http.startsWith('DELETE ');
  let input = await samples[op.id]?.(ctx());
  assert.ok(input, `${op.id} has no sample`);
  let before = await written(w);
  let accepted = 0;
  const quarter = Math.min(4, places.length);
  const untouched = async (what: string) => assert.deepEqual(await written(w), before, `${what}: refused, yet something was written`);
  const withText = (place: Place, text: string) => planted(op.input, input, place.path, text) as Input;
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
        if (spends) input = await samples[op.id]?.(ctx()); // what was made has a name now, what was deleted is gone
        before = await written(w);
      }
      await untouched(`${op.id}, ${place.label}`);
    }
  }
  return accepted;
}

async function overHttp(op: AnyOperation, places: readonly Place[]): Promise<void> {
  const w = await workspace();
  const { text: key } = await w.key('live');
  const accepted = await tryAll(
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
      if (!op.stream && !op.list) await assertKept(op, place, text, answer, key, what);
      return 'accepted';
    },
  );
  const free = places.some(({ label }) => label === 'name' || label === 'label' || label === 'description');
  if (free && !op.http.startsWith('GET '))
    assert.ok(accepted > 5, `${op.id}: ${accepted} texts were accepted, so nothing was really tried`);
}

function assertRefusal(op: AnyOperation, answer: Answer, what: string): void {
  assert.ok(answer.status < 500, `${what}: ${answer.status} ${answer.text}`);
  assert.deepEqual(Object.keys(answer.body), ['error'], what);
  assert.deepEqual(Object.keys(answer.body.error), ['type', 'message', 'request_id'], what);
  assert.equal(answer.body.error.request_id, answer.headers.get('x-request-id'), what);
  assert.ok((errorTypesOf(op) as string[]).includes(answer.body.error.type), `${what}: ${answer.body.error.type} is not declared`);
}

/** Normalisations the interface names; everything else comes back as it was sent, or trimmed. */
const NORMALISED: Record<string, (text: string) => string> = {
  'allowed_hosts.*': (text) => domainToASCII(text.trim()), // hosts are compared in the spelling of the URL standard
};

async function assertKept(op: AnyOperation, place: Place, text: string, answer: Answer, key: string, what: string): Promise<void> {
  const normalised = NORMALISED[place.label]?.(text);
  const same = (value: unknown, where: string) => {
    if (value === undefined || value === null || typeof value !== 'string') return;
    assert.ok([text, text.trim(), normalised].includes(value), `${what}: ${where} says ${JSON.stringify(value).slice(0, 200)}`);
  };
  same(valueAt(answer.body.data, place.path, text), 'the answer');
  const id = answer.body.data?.id;
  const get = v1Operations.find((other) => other.id === `${op.id.split('.')[0]}.get`);
  if (typeof id !== 'string' || !get?.http.endsWith('/{id}') || op.id.split('.').length > 2 || op.http.split('/').length > 3) return;
  const read = await call('GET', get.http.replace('GET ', '').replace('{id}', id), { key });
  assert.equal(read.status, 200, `${what}: it was stored, but reading it says ${read.text.slice(0, 200)}`);
  same(valueAt(read.body.data, place.path, text), 'the next read');
}

/** Audit entries and live rows of a workspace: what a refused call must leave as they were. */
async function written(w: Workspace): Promise<{ audits: string; rows: string }> {
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

describe('a naughty text in any field of the dashboard is answered or refused, and breaks nothing', () => {
  for (const op of dashboardOperations) {
    const places = textPlaces(op.input);
    if (places.length === 0 || !samples[op.id]) continue;
    test(`${op.id} (${places.length} places)`, async () => {
      const w = await workspace();
      const ctx = () => w.ctx('live', memberActor('owner'));
      await tryAll(op, places, w, ctx, async (input, _place, _text, what) => {
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
    });
  }
});
