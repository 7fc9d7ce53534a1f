import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import { perform } from '#server/api/perform.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { call } from '../calls.ts';
import { oncePerFile } from '../file-end.ts';
import { confirm } from '../step-up.ts';
import { workspace } from '../workspace.ts';
import { auditCount } from './audit.ts';
import { hasBody } from './send.ts';
import type { Subject } from './subject.ts';

/** Rows of another workspace or of the other space do not exist for a caller, and a key belongs to one space. */
export function isolation({ operations, v1, sample, caller, fixture }: Subject): void {
  // Nothing is ever written to it, so one workspace serves every test.
  const ours = oncePerFile(workspace);
  const otherKey = oncePerFile(async () => (await (await ours()).key('test')).text);

  describe('no operation reads or changes a row of another workspace or of the other space', () => {
    for (const op of operations.filter((o) => o.http.includes('{') && !fixture.byName?.includes(o.id)))
      test(op.id, async () => {
        const [mine, theirs] = [await ours(), await workspace()];
        const input = await sample(op, caller(op, theirs));
        const before = await auditCount(theirs);
        for (const ctx of [caller(op, mine), caller(op, mine, 'test'), ...(fixture.ofWorkspace ? [] : [caller(op, theirs, 'test')])]) {
          await confirm(op, ctx, input);
          await assert.rejects(perform(op, ctx, input), (error: unknown) => {
            assert.ok(error instanceof Refusal, String(error));
            assert.equal(error.status, 404, `${op.id} answered ${error.type}: ${error.message}`);
            return true;
          });
        }
        assert.equal(await auditCount(theirs), before, 'nothing of theirs changed');
        assert.equal(await auditCount(mine), 0, 'nothing of mine was written');
      });
  });

  describe('a key of the other space is refused before anything else is looked at', () => {
    for (const op of v1)
      test(op.id, async () => {
        const key = await otherKey();
        const [method, path] = op.http.split(' ') as [string, string];
        const answer = await call(method, path.replace(/\{\w+\}/g, crypto.randomUUID()), {
          key,
          space: 'live',
          ...(hasBody(op) ? { body: {} } : {}),
        });
        assert.equal(answer.body.error.type, 'wrong_key_type');
      });
  });
}
