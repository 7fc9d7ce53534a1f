import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import { z } from 'zod';
import { perform } from '#server/api/perform.ts';
import { answeringRow } from '#server/api/reveal.ts';
import { type ActionScope, scopesByVerb } from '#server/kernel/action-scopes.ts';
import type { Refusal } from '#server/kernel/errors.ts';
import { type AnyOperation, isChange, takesRecentSignIn } from '#server/kernel/operation.ts';
import { asPerson, enrolled, signedInLongAgo, verified } from '../step-up.ts';
import { workspace } from '../workspace.ts';
import type { Subject } from './subject.ts';

/**
 * Nobody hands on unasked what people reach only by confirming. That a grant is refused to a session without a fresh factor, and passes with one, the suite
 * of step-up tests; here: that every door is one of those, and that what grants nothing doesn't ask.
 */
export function grants({ name, operations, fixture }: Subject): void {
  test(`${name}: every operation that can grant something asks, or says why it grants nothing`, () => {
    assert.deepEqual(unaskedGrants(operations, fixture.grantless ?? {}), []);
  });

  const free = operations.filter(({ id }) => fixture.freeSamples?.[id]);
  test(`${name}: what may ask for a grant or a loosening has a sample that doesn't`, () => {
    assert.deepEqual(operations.filter((op) => mayAsk(op) && !fixture.freeSamples?.[op.id] && !fixture.loosening?.[op.id]).map(idOf), []);
  });
  if (free.length > 0)
    describe('a change that grants and loosens nothing asks nobody', () => {
      for (const op of free)
        test(op.id, async () => {
          const ctx = (await workspace()).member('owner');
          const input = await fixture.freeSamples![op.id]!(ctx);
          await enrolled((await asPerson(ctx)).user_id);
          await perform(await answeringRow(op, ctx, input), ctx, input);
        });
    });
  if (free.length > 0)
    describe('an old session is asked for nothing that its row does not name, and what it is asked for lets it through', () => {
      for (const op of free)
        test(op.id, async () => {
          const recent = (await workspace()).member('owner');
          const input = await fixture.freeSamples![op.id]!(recent);
          const ctx = signedInLongAgo(recent);
          const who = await asPerson(ctx);
          await enrolled(who.user_id);
          const row = await answeringRow(op, ctx, input);
          const refused = await perform(row, { ...ctx, warnings: [] }, input).then(
            () => undefined,
            (error: Refusal) => error,
          );
          if (refused === undefined) return;
          assert.equal(refused.type, 'step_up_required', String(refused));
          const scope = refused.extra?.action_scope as ActionScope;
          // A mint takes a new sign-in before its verb is asked.
          if (takesRecentSignIn(row)) return assert.equal(scope, 'credential.mint');
          assert.ok(asksFor(row, scope), `the row does not name ${scope}`);
          await verified(who, scope);
          await perform(row, { ...ctx, warnings: [] }, input);
        });
    });
}

const asksFor = ({ step_up }: AnyOperation, scope: ActionScope): boolean =>
  typeof step_up === 'object' && 'by_verb' in step_up && scopesByVerb(step_up).includes(scope);

const idOf = ({ id }: AnyOperation) => id;

/** Changes whose input names something to grant, or that hand on what another thing has, and that neither ask nor say why not. */
export const unaskedGrants = (operations: readonly AnyOperation[], grantless: Readonly<Record<string, string>>): string[] =>
  operations.flatMap((op) => {
    const what = isChange(op) && !asks(op) && !grantless[op.id] ? grantNamedBy(op) : undefined;
    return what === undefined ? [] : [`${op.id} names ${what}`];
  });

const asks = ({ step_up }: AnyOperation): boolean =>
  typeof step_up === 'string' ||
  (typeof step_up === 'object' && 'by_verb' in step_up && scopesByVerb(step_up).some((one) => GRANTING.has(one)));
const GRANTING: ReadonlySet<string> = new Set(['capability.grant', 'oauth.client', 'member.role']);

const mayAsk = ({ step_up }: AnyOperation): boolean =>
  typeof step_up === 'object' &&
  'by_verb' in step_up &&
  scopesByVerb(step_up).some((one) => one === 'capability.grant' || one === 'protection.loosen');

/** What the input of an operation can grant: by a word that it takes, by the name of a member, or by copying. */
function grantNamedBy({ id, input }: AnyOperation): string | undefined {
  if (COPIES.test(id)) return 'what it copies or gives anew';
  for (const { name, words } of membersOf(z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }))) {
    if (GRANTING_NAMES.test(name)) return name;
    const word = words.find((one) => GRANTING_WORDS.has(one));
    if (word !== undefined) return `${name}: ${word}`;
  }
  return undefined;
}

const COPIES = /\.(?:duplicate|promote|clone|import|restore|rotate|rotate_secret|resend_invitation|decide|accept|transfer_ownership)$/;
const GRANTING_NAMES = /^(?:role_ids|scopes?|[a-z]+_scopes|capabilities|reveal_secrets|migration_reviewer|definition)$/;
/** A word of each closed list: member roles, field actions, modes of agents. */
const GRANTING_WORDS: ReadonlySet<string> = new Set(['admin', 'editor', 'decrypt', 'detokenize', 'intercept', 'server']);

type Schema = { properties?: Record<string, Schema>; items?: unknown; enum?: unknown[]; const?: unknown; [more: string]: unknown };

function* membersOf(schema: unknown, name = ''): Generator<{ name: string; words: string[] }> {
  if (Array.isArray(schema)) for (const one of schema) yield* membersOf(one, name);
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return;
  const { properties = {}, enum: words, ...more } = schema as Schema;
  if (name !== '') yield { name, words: (words ?? []).map(String) };
  for (const [member, one] of Object.entries(properties)) yield* membersOf(one, member);
  for (const key of ['items', 'anyOf', 'allOf', 'oneOf', 'additionalProperties'] as const) yield* membersOf(more[key], name);
}
