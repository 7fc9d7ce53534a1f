import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import { flushUses } from '#server/custody/uses.ts';
import { successesOf, takesIdempotencyKey } from '#server/kernel/operation.ts';
import { workspace } from '../workspace.ts';
import { auditCount } from './audit.ts';
import { send } from './send.ts';
import type { Subject } from './subject.ts';

export function idempotency({ byKey, sample }: Subject): void {
  describe('a repeated idempotency key replays byte for byte and does nothing again', () => {
    for (const op of byKey.filter(takesIdempotencyKey))
      test(op.id, async () => {
        const w = await workspace();
        const key = await w.credentialFor(op);
        const input = await sample(op, w.live);
        const first = await send(op, input, key, { 'idempotency-key': 'once' });
        assert.ok(successesOf(op).includes(first.status as 200), first.text);
        await flushUses();
        const audits = await auditCount(w);
        const second = await send(op, input, key, { 'idempotency-key': 'once' });
        assert.deepEqual([second.status, second.text, second.headers.get('x-idempotent-replay')], [first.status, first.text, 'true']);
        await flushUses();
        assert.equal(await auditCount(w), audits);
      });
  });
}
