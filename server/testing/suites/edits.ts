import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import { perform } from '#server/api/perform.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { confirm } from '../step-up.ts';
import { memberActor, type Workspace, workspace } from '../workspace.ts';
import { auditCount } from './audit.ts';
import type { Subject } from './subject.ts';

/** What the dashboard promises to two people who edit the same thing (interface rule 70 §3.5). */
export function edits({ operations, sample, fixture }: Subject): void {
  const guarded = operations.filter((op) => op.edits);

  test('every PATCH is guarded against overwriting what somebody else saved, but for those that say why not', () => {
    const unguarded = operations.filter((op) => op.http.startsWith('PATCH ') && !op.edits).map((op) => op.id);
    assert.deepEqual(unguarded.sort(), [...(fixture.unguardedEdits ?? [])].sort());
  });

  describe('an edit that started from an older version changes nothing and is told what the row is now', () => {
    for (const op of guarded)
      test(op.id, async () => {
        const w = await workspace();
        const input = await sample(op, person(w));
        const started = await versionOf(op, person(w), input);
        await perform(op, await acting(op, w, input), { ...input, expected_updated_at: started });
        const [now, count] = [await versionOf(op, person(w), input), await auditCount(w)];
        assert.notEqual(now, started, 'a saved edit is a new version');
        const [late] = await Promise.allSettled([perform(op, await acting(op, w, input), { ...input, expected_updated_at: started })]);
        const refusal = refusalOf(late!);
        assert.deepEqual([refusal.type, refusal.status, refusal.extra?.current_updated_at], ['conflict', 409, now]);
        assert.deepEqual(refusal.extra?.current, (await perform(op.edits!.shown_by, person(w), input)).output);
        assert.deepEqual([await versionOf(op, person(w), input), await auditCount(w)], [now, count], 'nothing was written');
        await perform(op, await acting(op, w, input), { ...input, expected_updated_at: now });
      });
  });

  describe('of two people who save at the same moment exactly one wins', () => {
    for (const op of guarded)
      test(op.id, async () => {
        const w = await workspace();
        const input = await sample(op, person(w));
        const expected_updated_at = await versionOf(op, person(w), input);
        const before = await auditCount(w);
        const results = await Promise.allSettled(
          [1, 2, 3, 4].map(async () => perform(op, await acting(op, w, input), { ...input, expected_updated_at })),
        );
        const lost = results.filter((r) => r.status === 'rejected').map(refusalOf);
        assert.deepEqual(
          lost.map((r) => r.type),
          ['conflict', 'conflict', 'conflict'],
        );
        assert.equal(await auditCount(w), before + 1, 'one change, one entry');
      });
  });

  describe('an edit of what another workspace owns is not found, whatever version it names', () => {
    for (const op of guarded.filter((o) => o.http.includes('{')))
      test(op.id, async () => {
        const [mine, theirs] = [await workspace(), await workspace()];
        const input = await sample(op, person(theirs));
        const expected_updated_at = await versionOf(op, person(theirs), input);
        for (const guess of [expected_updated_at, '2020-01-01T00:00:00.000Z'])
          await assert.rejects(perform(op, await acting(op, mine, input), { ...input, expected_updated_at: guess }), { status: 404 });
      });
  });
}

/** A person's call of its own: each has its own clock, as two requests do. */
const person = (w: Workspace): Ctx => w.ctx('live', memberActor('owner'));

/** The same, and they have confirmed what the operation asks for. */
async function acting(op: AnyOperation, w: Workspace, input: Record<string, unknown>): Promise<Ctx> {
  const ctx = person(w);
  await confirm(op, ctx, input);
  return ctx;
}

const versionOf = async (op: AnyOperation, ctx: Ctx, input: Record<string, unknown>) =>
  (await read(ctx, (tx) => op.edits!.row(tx, ctx, input))).updated_at.toISOString();

const refusalOf = (result: PromiseSettledResult<unknown>): Refusal => {
  assert.ok(result.status === 'rejected' && result.reason instanceof Refusal, JSON.stringify(result));
  return result.reason;
};
