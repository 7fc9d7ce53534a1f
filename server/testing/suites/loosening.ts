import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import { z } from 'zod';
import { perform } from '#server/api/perform.ts';
import { answeringRow } from '#server/api/reveal.ts';
import { scopesByVerb } from '#server/kernel/action-scopes.ts';
import { changed } from '#server/kernel/loosening.ts';
import { type AnyOperation, isChange } from '#server/kernel/operation.ts';
import type { Fixture } from '../factories.ts';
import { asPerson, enrolled, signedInLongAgo, verified } from '../step-up.ts';
import { workspace } from '../workspace.ts';
import { auditCount } from './audit.ts';
import { extraOf, withoutFactor } from './step-up.ts';
import type { Subject } from './subject.ts';

/** Every setting was judged: taking a protection away asks its person, putting it back asks nobody (interface rule 22 §5.4). */
export function loosening({ name, operations, fixture }: Subject): void {
  test(`${name}: every field of every edit either asks before it loosens, or is harmless`, () => {
    assert.deepEqual(unjudgedSettings(operations, fixture), []);
  });

  test(`${name}: what others know by a name is not deleted unasked, if its edits ask`, () => {
    assert.deepEqual(deletedUnasked(operations), []);
  });

  for (const [id, { rules, of, pairs }] of Object.entries(fixture.loosening ?? {})) {
    const op = operations.find((one) => one.id === id);
    test(`${id}: every rule has a strict and a loose value`, () => {
      const tried = new Set(Object.keys(pairs).map((setting) => rules[setting]));
      assert.deepEqual(
        Object.keys(rules).filter((setting) => rules[setting] !== 'harmless' && !tried.has(rules[setting])),
        [],
      );
      assert.ok(!tried.has('harmless') && !tried.has(undefined), 'pairs are for settings that a rule judges');
    });
    for (const space of fixture.ofWorkspace ? (['live'] as const) : (['live', 'test'] as const))
      describe(`${id}: loosening takes a confirmation, tightening none (${space})`, () => {
        for (const [setting, { strict, loose }] of Object.entries(pairs))
          test(setting, async () => {
            assert.ok(op, 'an operation of the family');
            const w = await workspace();
            const ctx = w.member('owner', space);
            const base = await of(ctx);
            const set = async (values: object, at = ctx) => {
              const input = { ...base, ...values };
              return perform(await answeringRow(op, at, input), { ...at, now: new Date(), warnings: [] }, input);
            };
            const who = await asPerson(ctx);
            if (setting === OWN_FACTOR) await enrolled(who.user_id);
            await set(strict);
            const before = await auditCount(w);
            if (setting !== OWN_FACTOR) {
              await assert.rejects(set(loose, signedInLongAgo(ctx)), withoutFactor);
              await enrolled(who.user_id);
            }
            for (const at of [ctx, signedInLongAgo(ctx)])
              await assert.rejects(set(loose, at), { type: 'step_up_required', extra: extraOf('protection.loosen') });
            assert.equal(await auditCount(w), before, 'a refusal changes nothing');
            await verified(who, 'protection.loosen');
            await set(loose);
            if (rules[setting] !== changed) await set(strict, signedInLongAgo(ctx));
          });
      });
  }
}

/** Only somebody who has a factor can demand one of others. */
const OWN_FACTOR = 'require_mfa';

/** Edits with a field that nobody judged, or that ask and have no pairs. */
export const unjudgedSettings = (operations: readonly AnyOperation[], fixture: Pick<Fixture, 'harmless' | 'loosening'>): string[] =>
  operations.filter(isEdit).flatMap((op) => {
    if (typeof op.step_up === 'string' || fixture.loosening?.[op.id]) return [];
    const judged = fixture.harmless?.[op.id];
    if (!judged && asksToLoosen(op)) return [`${op.id} asks before it loosens: add its pairs to loosening`];
    return settingsOf(op).flatMap((field) =>
      judged?.includes(field) ? [] : [`${op.id} has ${field}: does changing it loosen a protection?`],
    );
  });

/**
 * Deletions that go around the edit's question: whoever refers to a thing by its name gets the next one of that name, however loose it is. A reference by ID
 * fails instead.
 */
export const deletedUnasked = (operations: readonly AnyOperation[]): string[] =>
  operations.filter(isEdit).flatMap((edit) => {
    const path = edit.http.slice(edit.http.indexOf(' ') + 1);
    const removal = operations.find(({ http }) => http === `DELETE ${path}`);
    const named = path.endsWith('}') && !path.toLowerCase().endsWith('id}');
    if (!removal || !named || !asksToLoosen(edit) || typeof removal.step_up === 'string' || asksToLoosen(removal)) return [];
    return [`${removal.id} loosens what ${edit.id} asks about: call confirmLoosening`];
  });

const asksToLoosen = ({ step_up }: AnyOperation): boolean =>
  typeof step_up === 'object' && 'by_verb' in step_up && scopesByVerb(step_up).includes('protection.loosen');

const isEdit = (op: AnyOperation): boolean => /^(?:PATCH|PUT) /.test(op.http) && (isChange(op) || op.kind === 'reveal');

/** What the input sets: its members without those of the path. */
function settingsOf({ input, http }: AnyOperation): string[] {
  const schema = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as { properties?: object };
  return Object.keys(schema.properties ?? {}).filter((field) => !http.includes(`{${field}}`));
}
