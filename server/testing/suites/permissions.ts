import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import { perform } from '#server/api/perform.ts';
import { KEY_ROLES, keyCapabilities, MEMBER_ROLES, memberCapabilities, scopeOf } from '#server/kernel/capabilities.ts';
import type { Refusal } from '#server/kernel/errors.ts';
import { capabilitiesOf, isSatisfied } from '#server/kernel/needs.ts';
import { oncePerFile } from '../file-end.ts';
import { keyActor, memberActor, workspace } from '../workspace.ts';
import type { Subject } from './subject.ts';

/** Every role of keys and members may do exactly what the register says. */
export function permissions({ operations, v1 }: Subject): void {
  // A call that is let in finds nothing of that id: one workspace serves every test.
  const ours = oncePerFile(workspace);
  describe('the scope matrix: each role may do exactly what the register says', () => {
    for (const op of operations.filter(({ kind }) => kind !== 'reveal'))
      test(op.id, async () => {
        const w = await ours();
        const actors = [
          ...KEY_ROLES.map((r) => ({ name: r.name, held: keyCapabilities([r.id]), ctx: w.ctx('live', keyActor(r.name)) })),
          ...MEMBER_ROLES.map((role) => ({
            name: role,
            held: memberCapabilities(role, { reveal_secrets: false }),
            ctx: w.ctx('live', memberActor(role)),
          })),
        ];
        for (const { name, held, ctx } of actors) {
          const refused = await perform(op, ctx, { id: 'x', page: 'nonsense' }).then(
            () => false,
            (e: Refusal) => /lacks the capability|does not include/.test(e.message),
          );
          assert.equal(refused, !isSatisfied(op.needs, held), `${name} on ${op.id}`);
        }
      });
  });

  test('every capability an operation needs is covered by a scope, unless it is dashboard-only', () => {
    for (const op of v1) for (const c of capabilitiesOf(op.needs)) assert.ok(scopeOf(c), `${op.id}: no scope covers ${c}`);
  });
}
