import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import { z } from 'zod';
import { scopeFor } from '#server/kernel/action-scopes.ts';
import { type AnyPersonOperation, isChange, successesOf, takesRecentSignIn } from '#server/kernel/operation.ts';
import { db } from '#server/platform/db.ts';
import { HARSH, NAUGHTY } from '../hostile/strings.ts';
import { textPlaces, withTextAt } from '../hostile/text-places.ts';
import { type Answer, browser } from '../people.ts';
import { verified } from '../step-up.ts';
import { createTestPerson, type TestPerson } from '../test-person.ts';
import { THOROUGH } from '../thorough.ts';
import { ajv } from './document.ts';
import { personRequest } from './person-request.ts';
import type { Subject } from './subject.ts';

/** What holds for every operation of the session plane (interface rule 22). */
export function personal({ name, ofPerson, fixture }: Subject): void {
  const { personSamples = {}, testedElsewhere = {}, unaudited = {} } = fixture;
  test(`${name}: every operation of a person has a sample or is tested elsewhere`, () => {
    for (const { id } of ofPerson) assert.ok(id in personSamples !== id in testedElsewhere, id);
  });

  describe('an answer to a person agrees with its schema, and a change is in the audit log', () => {
    for (const op of ofPerson.filter(({ id }) => personSamples[id]))
      test(op.id, async () => {
        const who = await createTestPerson({ signedIn: op.needs === 'session' });
        const input = await personSamples[op.id]!(who);
        await confirmed(op, who, input);
        const answer = await who.b.call(...personRequest(op, input));
        assert.ok(successesOf(op).includes(answer.status as 200), answer.text);
        const validate = ajv.compile(z.toJSONSchema(op.output, { io: 'output', unrepresentable: 'any' }));
        assert.ok(validate(answer.body), `${ajv.errorsText(validate.errors)}\n${answer.text}`);
        const request_id = String(answer.headers.get('x-request-id'));
        const entries = await db().audit_logs.count({ where: { tenant_id: who.w.tenant.id, request_id } });
        assert.equal(entries > 0, isChange(op) && !unaudited[op.id], `${entries} audit entries`);
      });
  });

  describe('an operation of a person refuses whoever is not signed in, another origin, and a call without the CSRF token', () => {
    for (const op of ofPerson.filter(({ needs }) => needs === 'session'))
      test(op.id, async () => {
        const stranger = await browser().call(...personRequest(op, {}));
        assert.deepEqual([stranger.status, stranger.body.error], [401, 'not_authenticated']);
        if (op.http.startsWith('GET ')) return;
        const { b: person } = await createTestPerson({ signedIn: true });
        const forged: Record<string, string | null>[] = [
          { origin: 'https://elsewhere.example' },
          { 'x-csrf-token': 'wrong' },
          { 'x-csrf-token': null },
        ];
        for (const headers of forged) {
          const answer = await person.call(...personRequest(op, {}), headers);
          assert.deepEqual([answer.status, answer.body.error], [403, 'csrf_failed'], JSON.stringify(headers));
        }
      });
  });

  describe('a naughty text in any field of the session plane is answered or refused as declared, and breaks nothing', () => {
    for (const op of ofPerson.filter(({ takes }) => !takes)) {
      const places = textPlaces(op.input);
      if (places.length === 0) continue;
      test(`${op.id} (${places.length} places)`, async () => {
        for (const [index, place] of places.entries()) {
          const who = await createTestPerson({ signedIn: op.needs === 'session' });
          const sample = await personSamples[op.id]?.(who);
          for (const text of textsFor(index)) {
            const input = withTextAt(op.input, sample, place.path, text) as Record<string, unknown>;
            if (!fitsPath(op, input)) continue;
            assertDeclared(op, await who.b.call(...personRequest(op, input)), `${place.label} = ${JSON.stringify(text).slice(0, 80)}`);
          }
        }
      });
    }
  });
}

const PART = THOROUGH ? 1 : 24;
const textsFor = (index: number) => [...HARSH, ...NAUGHTY].filter((_, i) => i % PART === index % PART);

/** Refusals of the plane itself, beyond those of a row. */
const OF_THE_PLANE = [
  'not_found',
  'invalid',
  'rate_limited',
  'not_authenticated',
  'csrf_failed',
  'unsupported_media_type',
  'payload_too_large',
];

function assertDeclared(op: AnyPersonOperation, answer: Answer, what: string): void {
  if (answer.status < 400) {
    const successes: readonly number[] = op.redirects ? [303] : successesOf(op);
    assert.ok(successes.includes(answer.status), `${what}: ${answer.status}`);
    return;
  }
  assert.ok(answer.status < 500, `${what}: ${answer.status} ${answer.text}`);
  const { error, code, message, request_id } = answer.body as Record<string, unknown>;
  assert.ok(error === code && message && request_id, `${what}: ${answer.text}`);
  const confirming = op.step_up ? ['step_up_required', 'mfa_required'] : takesRecentSignIn(op) ? ['step_up_required'] : [];
  assert.ok([...OF_THE_PLANE, ...confirming, ...op.refuses].includes(String(error)), `${what}: ${error} is not declared`);
}

/** A URL carries neither a lone surrogate nor a segment that is a dot. */
const fitsPath = (op: AnyPersonOperation, input: Record<string, unknown>) =>
  [...op.http.matchAll(/\{(\w+)\}/g)].every(([, name = '']) => {
    const value = String(input[name] ?? 'x');
    return value.isWellFormed() && !['', '.', '..'].includes(value);
  });

async function confirmed(op: AnyPersonOperation, person: TestPerson, input: unknown): Promise<void> {
  const scope = scopeFor(op.step_up, input);
  if (scope) await verified(await person.who(), scope);
}
