import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import { z } from 'zod';
import { perform } from '#server/api/perform.ts';
import { answeringRow } from '#server/api/reveal.ts';
import { ACTION_SCOPE_NAMES, type ActionScope, scopeFor, scopesByVerb } from '#server/kernel/action-scopes.ts';
import type { Space } from '#server/kernel/context.ts';
import type { Refusal } from '#server/kernel/errors.ts';
import { isSatisfied } from '#server/kernel/needs.ts';
import { type AnyOperation, isChange, takesRecentSignIn } from '#server/kernel/operation.ts';
import { db } from '#server/platform/db.ts';
import type { Answer } from '../calls.ts';
import type { Fixture, Sample } from '../factories.ts';
import { ownerOf } from '../owner.ts';
import { ageSession, asPerson, type Confirming, enrolled, signedInLongAgo, verified } from '../step-up.ts';
import { createTestPerson } from '../test-person.ts';
import { memberActor, workspace } from '../workspace.ts';
import { auditCount, contentsOf } from './audit.ts';
import { personRequest } from './person-request.ts';
import { send } from './send.ts';
import type { Subject } from './subject.ts';

/** What a row declares by `step_up` holds: one verification of its scope buys one use, and nothing else does (interface rule 22 §5.4). */
export function stepUp(subject: Subject): void {
  const { operations, ofPerson, fixture } = subject;
  const asked = operations.flatMap((op) => askedBy(op, fixture));
  if (asked.length > 0)
    describe('a member confirms what the row asks for, and a verification of another scope does not help', () => {
      for (const { op, title, sample, scope: named } of asked)
        for (const space of spacesOf(named, fixture))
          test(space === 'live' ? title : `${title} in Test`, async () => {
            const w = await workspace();
            const ctx = w.member('owner', space);
            assert.ok(sample, `needs a sample that asks: confirmedSamples['${title}']`);
            const input = await sample(ctx);
            const row = await answeringRow(op, ctx, input);
            const scope = named ?? scopeFor(row.step_up, input);
            assert.ok(scope, 'the sample of a row with step_up asks for one');
            const who = await asPerson(ctx);
            const call = (at = ctx) => perform(row, { ...at, warnings: [] }, input);
            const before = await auditCount(w);
            if (typeof row.step_up !== 'object') await assert.rejects(call(), { type: 'mfa_required', status: 403 });
            else if ('by_verb' in row.step_up) await assert.rejects(call(signedInLongAgo(ctx)), withoutFactor);
            await enrolled(who.user_id);
            await verified(who, otherThan(scope));
            await assert.rejects(call(), { type: 'step_up_required', extra: extraOf(scope) });
            assert.deepEqual([await auditCount(w), await unused(who)], [before, 1]);
            await verified(who, scope);
            await call();
            assert.equal(await unused(who, scope), 0);
          });
    });

  test(`${subject.name}: nothing trusts tokens of another issuer without asking`, () => {
    assert.deepEqual(trustingUnasked(operations), []);
  });

  const minting = operations.filter((op) => takesRecentSignIn(op) && isSatisfied(op.needs, memberActor('owner').capabilities));
  if (minting.length > 0)
    describe('a session of several days mints no credential that may outlive it', () => {
      for (const op of minting)
        for (const space of SPACES)
          test(`${op.id} in ${space}`, async () => {
            const w = await workspace();
            const ctx = w.member('owner', space);
            const input = await subject.sample(op, ctx);
            const contents = async () => [await contentsOf(subject.tables, w), await auditCount(w)];
            const before = await contents();
            await assert.rejects(perform(op, { ...signedInLongAgo(ctx), warnings: [] }, input), {
              type: 'step_up_required',
              extra: MINT_REFUSED,
            });
            assert.deepEqual(await contents(), before, 'a refused call changed something');
          });
    });

  const mintingOfPeople = ofPerson.filter(takesRecentSignIn);
  if (mintingOfPeople.length > 0)
    describe('a session of several days mints no credential that may outlive it, above workspaces too', () => {
      for (const op of mintingOfPeople)
        test(op.id, async () => {
          const person = await createTestPerson({ signedIn: true });
          const input = (await fixture.personSamples?.[op.id]?.(person)) ?? {};
          const { session_id } = await person.who();
          await ageSession(session_id);
          const contents = async () => [await contentsOf(subject.tables, person.w), await auditCount(person.w)];
          const before = await contents();
          const refused = await person.b.call(...personRequest(op, input));
          assert.deepEqual([refused.status, refused.body.error], [403, 'step_up_required'], refused.text);
          assert.deepEqual({ ...refused.body, ...MINT_REFUSED }, refused.body);
          assert.deepEqual(await contents(), before, 'a refused call changed something');
        });
    });

  stepUpOfLogins(subject);

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

/** An access token of a person is asked what the person is: its login was confirmed with a second factor, or nothing happens (interface rule 21 §11). */
function stepUpOfLogins({ v1, tables, fixture }: Subject): void {
  const asked = v1.filter(({ kind }) => kind !== 'reveal').flatMap((op) => askedBy(op, fixture));
  if (asked.length > 0)
    describe('a login that was not confirmed with a second factor does nothing that takes one, and one that was does it', () => {
      for (const { op, title, sample, scope } of asked)
        for (const space of fixture.onlyInLive?.includes(title) ? (['live'] as const) : SPACES)
          test(`${title} in ${space}`, async () => {
            const w = await workspace();
            const ctx = w.member('owner', space);
            assert.ok(sample, `needs a sample that asks: confirmedSamples['${title}']`);
            const input = await sample(ctx);
            const person = await ownerOf(w);
            const login = (step_up_at?: Date) => w.token({ space, person, ...(step_up_at ? { step_up_at } : {}) });
            const [never, late, fresh] = [await login(), await login(new Date(Date.now() - 8 * 3_600_000)), await login(new Date())];
            const contents = async () => [await contentsOf(tables, w), await auditCount(w)];
            const attempt = (text: string) => send(op, input, text);
            // A move takes what a reveal takes, which no machine passes.
            const refusal =
              scope === 'credential.move' ? 'validation_error' : (fixture.neverByLogin?.[title] ?? fixture.neverByLogin?.[op.id]);
            // A verb that asks in single cases may take a recent login of an account without a factor.
            if (scope === undefined) await refusedUnconfirmed(() => attempt(never.text), contents, refusal ?? 'mfa_required');
            await enrolled(person.id);
            for (const { text } of [never, late]) await refusedUnconfirmed(() => attempt(text), contents, refusal);
            if (refusal) return refusedUnconfirmed(() => attempt(fresh.text), contents, refusal);
            const answer = await attempt(fresh.text);
            assert.ok(answer.status < 300, answer.text);
            const entries = await db().audit_logs.findMany({
              where: { tenant_id: w.tenant.id, request_id: answer.headers.get('x-request-id') },
            });
            assert.ok(entries.length > 0, 'no audit entry');
            for (const { details } of entries) {
              const { step_up } = details as { step_up?: { oauth_family_id?: string } };
              assert.equal(step_up?.oauth_family_id, fresh.row.family_id, 'the entry names the login');
            }
          });
    });
}

/** A call by a login that was not confirmed: refused with the next step, and nothing is different afterwards. */
export async function refusedUnconfirmed(attempt: () => Promise<Answer>, contents: () => Promise<unknown>, type = 'step_up_required') {
  const before = await contents();
  const answer = await attempt();
  assert.deepEqual([answer.status, answer.body.error?.type], [type === 'validation_error' ? 400 : 403, type], answer.text);
  if (type === 'step_up_required' || type === 'mfa_required') assert.match(answer.body.error.message, /service-cli login --confirm/);
  assert.deepEqual(await contents(), before, 'a refused call changed something');
}

const SPACES = ['live', 'test'] as const;

type Asked = { op: AnyOperation; title: string; sample: Sample | undefined; scope: ActionScope | undefined };

/** Every confirmation that a row may ask for, with an input that makes it ask. Pairs of strict and loose values have a suite of their own. */
function askedBy(op: AnyOperation, { confirmedSamples: own = {}, samples, loosening, moving }: Fixture): Asked[] {
  const byVerb = typeof op.step_up === 'object' && 'by_verb' in op.step_up ? scopesByVerb(op.step_up) : [];
  // The ordinary row behind a reveal has no place in the table: its samples say what it asks for.
  const scopes = op.kind === 'reveal' ? ACTION_SCOPE_NAMES.filter((scope) => own[`${op.id} ${scope}`]) : byVerb;
  if (scopes.length === 0) return op.step_up ? [{ op, title: op.id, sample: own[op.id] ?? samples[op.id], scope: undefined }] : [];
  return scopes.flatMap((scope, i) => {
    const title = `${op.id} ${scope}`;
    if (scope === 'protection.loosen' && loosening?.[op.id] && !own[title]) return [];
    const moved = scope === 'credential.move' ? Object.values(moving?.[op.id]?.edits ?? {})[0] : undefined;
    return [{ op, scope, title, sample: own[title] ?? moved ?? (i === 0 ? (own[op.id] ?? samples[op.id]) : undefined) }];
  });
}

/** What one space asks for, the other does too. */
const spacesOf = (scope: ActionScope | undefined, { ofWorkspace }: Fixture): readonly Space[] =>
  (scope === 'capability.grant' || scope === 'protection.loosen') && !ofWorkspace ? ['live', 'test'] : ['live'];

/** Operations that store an issuer whose tokens count here from now on, and ask neither for a confirmation nor for the sign-in of a mint. */
export const trustingUnasked = (operations: readonly AnyOperation[]): string[] =>
  operations
    .filter((op) => op.http.startsWith('POST ') && isChange(op) && !op.step_up && !takesRecentSignIn(op))
    .filter(({ input }) => input instanceof z.ZodObject && 'issuer' in input.shape)
    .map(({ id }) => `${id} takes an issuer: give its row \`trusts\``);

const MINT_REFUSED = { action_scope: 'credential.mint', allowed_methods: ['sign_in'] };

/** An account without a factor adds one, or signs in again where that is enough. */
export const withoutFactor = ({ type, extra }: Refusal): boolean =>
  type === 'mfa_required' || (type === 'step_up_required' && JSON.stringify(extra?.allowed_methods) === '["sign_in"]');

const otherThan = (scope: ActionScope): ActionScope => (scope === 'tenant.kms' ? 'tenant.slug' : 'tenant.kms');
export const extraOf = (scope: ActionScope) => ({ requires_step_up: true, action_scope: scope, allowed_methods: ['passkey', '2fa'] });
const unused = (who: Confirming, scope?: ActionScope) =>
  db().step_up_verifications.count({ where: { ...who, consumed_at: null, ...(scope ? { action_scope: scope } : {}) } });
