import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import { perform } from '#server/api/perform.ts';
import { type ActionScope, scopeFor } from '#server/kernel/action-scopes.ts';
import { db } from '#server/platform/db.ts';
import { asPerson, type Confirming, enrolled, verified } from '../step-up.ts';
import { createTestPerson } from '../test-person.ts';
import { workspace } from '../workspace.ts';
import { auditCount } from './audit.ts';
import { personRequest } from './person-request.ts';
import type { Subject } from './subject.ts';

/** What a row declares by `step_up` holds: one verification of its scope buys one use, and nothing else does (interface rule 22 §5.4). */
export function stepUp({ operations, ofPerson, fixture }: Subject): void {
  const asked = operations.filter(({ step_up }) => step_up);
  if (asked.length > 0)
    describe('a member confirms what the row asks for, and a verification of another scope does not help', () => {
      for (const op of asked)
        test(op.id, async () => {
          const w = await workspace();
          const ctx = w.member('owner');
          const moving = Object.values(fixture.moving?.[op.id]?.edits ?? {})[0];
          const input = await (fixture.confirmedSamples?.[op.id] ?? moving ?? fixture.samples[op.id]!)(ctx);
          const scope = scopeFor(op.step_up, input);
          assert.ok(scope, 'the sample of a row with step_up asks for one');
          const who = await asPerson(ctx);
          const call = () => perform(op, { ...ctx, warnings: [] }, input);
          if (typeof op.step_up !== 'object') await assert.rejects(call(), { type: 'mfa_required', status: 403 });
          await enrolled(who.user_id);
          await verified(who, otherThan(scope));
          const before = await auditCount(w);
          await assert.rejects(call(), { type: 'step_up_required', extra: extraOf(scope) });
          assert.deepEqual([await auditCount(w), await unused(who)], [before, 1]);
          await verified(who, scope);
          await call();
          assert.equal(await unused(who, scope), 0);
        });
    });

  const ofPeople = ofPerson.filter(({ id, step_up }) => step_up && fixture.personSamples?.[id]);
  if (ofPeople.length > 0)
    describe('a person confirms what the row asks for, and a verification of another scope does not help', () => {
      for (const op of ofPeople)
        test(op.id, async () => {
          const person = await createTestPerson({ signedIn: true });
          const input = await fixture.personSamples![op.id]!(person);
          const scope = scopeFor(op.step_up, input);
          assert.ok(scope, 'the sample of a row with step_up asks for one');
          const who = await person.who();
          if (!(await db().totp_secrets.findFirst({ where: { user_id: who.user_id, enabled_at: { not: null } } })))
            await enrolled(who.user_id);
          await verified(who, otherThan(scope));
          const refused = await person.b.call(...personRequest(op, input));
          assert.deepEqual([refused.status, refused.body.error], [403, 'step_up_required'], refused.text);
          assert.deepEqual({ ...refused.body, ...extraOf(scope) }, refused.body);
          assert.equal(await unused(who), 1);
          await verified(who, scope);
          const answer = await person.b.call(...personRequest(op, input));
          assert.ok(answer.status < 300, answer.text);
          assert.equal(await unused(who, scope), 0);
        });
    });
}

const otherThan = (scope: ActionScope): ActionScope => (scope === 'tenant.kms' ? 'tenant.slug' : 'tenant.kms');
const extraOf = (scope: ActionScope) => ({ requires_step_up: true, action_scope: scope, allowed_methods: ['passkey', '2fa'] });
const unused = (who: Confirming, scope?: ActionScope) =>
  db().step_up_verifications.count({ where: { ...who, consumed_at: null, ...(scope ? { action_scope: scope } : {}) } });
