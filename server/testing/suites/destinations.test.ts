import assert from 'node:assert/strict';
import test from 'node:test';
import { z } from 'zod';
import { webhooks } from '#server/domain/webhooks/family.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { type AnyOperation, operation } from '#server/kernel/operation.ts';
import { testDatabase } from '../database.ts';
import { operationById } from '../factories.ts';
import { assertRefused, undeclaredAddresses } from './destinations.ts';
import { subjectOf } from './subject.ts';

await testDatabase();
const subject = await subjectOf(webhooks);
const update = operationById('webhooks.update');

test('the suite passes for a verb that asks before a credential moves', () => assertRefused(subject, update, 'url', 'live'));

test('the suite notices a verb that stores another address beside the credential without asking', async () => {
  const careless: AnyOperation = {
    ...update,
    run: (ctx, { id, url }) =>
      mutate(ctx, async (tx) => {
        const row = await tx.webhooks.update({ where: { id }, data: { url, updated_at: ctx.now } });
        return audited(
          { ...row, route_filter: null, pending: 0, dropped: 0 },
          { action: 'update', resource_type: 'webhook', resource_id: id },
        );
      }),
  };
  await assert.rejects(assertRefused(subject, careless, 'url', 'live'), /Missing expected rejection/);
});

test('the suite notices an edit with an address that nobody speaks of, and an exception that excepts nothing', () => {
  const edit = operation({
    id: 'things.update',
    summary: 'Update a thing',
    http: 'PATCH /things/{id}',
    kind: 'change',
    needs: ['webhook:update'],
    refuses: [],
    input: z.object({ id: z.string(), target: z.object({ endpoint: z.string().optional() }).optional(), token: z.string().optional() }),
    output: z.object({}),
    run: async () => ({}),
  }) as AnyOperation;
  const fixture = { samples: {}, secretInput: { 'things.create': ['token'] } };
  assert.deepEqual(undeclaredAddresses([edit], fixture), ['things.update target.endpoint']);
  const declared = { ...edit, moves: { to: ['target.endpoint'], credentials: ['token'] } };
  assert.deepEqual(undeclaredAddresses([declared], fixture), []);
  assert.deepEqual(undeclaredAddresses([declared], { ...fixture, movesNothing: { 'things.update target.endpoint': 'why' } }), [
    'things.update target.endpoint',
  ]);
});
