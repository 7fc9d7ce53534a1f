import assert from 'node:assert/strict';
import test from 'node:test';
import { forgetRules } from '#server/domain/policies/service.ts';
import { secret } from '#server/domain/secrets/samples.fixture.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { memberActor, workspace } from '#server/testing/workspace.ts';

await testDatabase();

type Held = { id: string; from: string; to: string };

/** Every door by which a secret leaves its collection. */
const DOORS: Record<string, (by: Ctx, held: Held) => Promise<unknown>> = {
  'an edit': (by, { id }) => made(by, 'secrets.update', { id, collection_id: null }),
  'a move to another collection': (by, { id, to }) => made(by, 'collections.members.move', { id: to, type: 'secret', ids: [id] }),
  'the end of the collection': (by, { from }) => made(by, 'collections.delete', { id: from }),
};

for (const space of ['live', 'test'] as const)
  for (const [door, leave] of Object.entries(DOORS))
    test(`a secret is not opened to other routes by ${door} of somebody whom a policy keeps from it (${space})`, async () => {
      const w = await workspace();
      const ctx = w[space];
      const [from, to] = [
        await made(ctx, 'collections.create', { name: fresh('C') }),
        await made(ctx, 'collections.create', { name: fresh('C') }),
      ];
      const { id } = await made(ctx, 'secrets.create', { ...(await secret(ctx)), collection_id: from.id });
      const denied = w.ctx(space, memberActor('admin'));
      const data = { id: newId(), tenant_id: w.tenant.id, name: 'hidden', actions: ['secret:read'], space: 'both', resources: [id] };
      await db().tenant_policies.create({ data: { ...data, subjects: { user_ids: [denied.actor.id] } } });
      forgetRules(w.tenant.id);
      const held = { id, from: from.id, to: to.id };
      const place = async () => (await db().secrets.findUniqueOrThrow({ where: { id } })).collection_id;
      await assert.rejects(leave(denied, held), { type: 'role_denied', message: /tenant policy hidden/ });
      assert.equal(await place(), from.id);
      await leave(w.ctx(space, memberActor('admin')), held);
      assert.notEqual(await place(), from.id, 'another Admin may');
    });
