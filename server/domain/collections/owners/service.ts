import type { z } from 'zod';
import { namedMembers } from '#server/domain/people/service.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid } from '#server/kernel/errors.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { MOST_OWNERS } from '../owners.shared.ts';
import type { PutOwners } from '../schema.ts';
import { collectionById, lockedCollection } from '../service.ts';

/** As many people as a list to choose from can show. */
const MOST_SHOWN = 200;

/** Who answers for the collection, and the members of the workspace who could; somebody who left does neither. */
export const collectionOwners = (ctx: Ctx, input: { id: string }) =>
  read(ctx, async (tx) => answer(tx, ctx, await collectionById(tx, ctx, input.id)));

/** Replaces the owners. It gives nobody a right: what they may do is still said by their role. @throws Refusal not_found, validation_error */
export function putOwners(ctx: Ctx, { id, user_ids }: z.output<typeof PutOwners>) {
  return mutate(ctx, async (tx) => {
    const before = await lockedCollection(tx, ctx, id);
    const owner_ids = [...new Set(user_ids)];
    const known = await namedMembers(tx, ctx, { ids: owner_ids, most: MOST_OWNERS });
    // One answer for a person who is elsewhere and one who is nowhere.
    const stranger = user_ids.findIndex((user) => !known.some((member) => member.id === user));
    if (stranger >= 0) throw invalid(`user_ids.${stranger}`, 'is not a member of this workspace');
    const after = await tx.collections.update({ where: { id: before.id, ...own(ctx) }, data: { owner_ids, updated_at: ctx.now } });
    return audited(await answer(tx, ctx, after), {
      action: 'update',
      resource_type: 'collection',
      resource_id: after.id,
      name: after.name,
      changes: changesOf(before, after, ['owner_ids']),
      details: { change: 'owners' },
    });
  });
}

/** A person who leaves the workspace answers for no collection any more. @returns how many they answered for */
export const endOwnerships = (tx: Tx, ctx: Ctx, userId: string): Promise<number> =>
  tx.$executeRaw`
    update collections set owner_ids = array_remove(owner_ids, ${userId}::uuid)
    where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and ${userId}::uuid = any(owner_ids)`;

async function answer(tx: Tx, ctx: Ctx, { owner_ids }: { owner_ids: string[] }) {
  return {
    owners: await namedMembers(tx, ctx, { ids: owner_ids, most: MOST_OWNERS }),
    members: await namedMembers(tx, ctx, { most: MOST_SHOWN }),
  };
}
