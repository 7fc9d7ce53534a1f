import type { z } from 'zod';
import { countOf, limitOf } from '#server/domain/plans/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { writeAudits } from '#server/kernel/mutate.ts';
import type { Reveal } from '#server/kernel/operation.ts';
import { moreRoom } from '#server/kernel/plan-limits.ts';
import { admitted, handedOut, insertLease, MOST_LEASES, planned, usernameFor } from './minting.ts';
import type { MintDynDbCredential } from './schema.ts';
import { connectionByName, type LeaseRow, liveLeases, roleByName } from './store.ts';

type Input = z.output<typeof MintDynDbCredential>;

/**
 * Row 9 of interface rule 32 §2. The lease and its entry commit with that of the reveal, and only then the database is touched. Whatever else could
 * refuse the mint does so before anything is spent.
 */
export const revealOfCredential: Reveal<Input> = {
  class: 'B',
  scope: 'plaintext.reveal',
  policy: 'dyn_db_cred:mint',
  subject: async (ctx, { connection, role }) => {
    const row = await read(ctx, async (tx) => roleByName(tx, ctx, (await connectionByName(tx, ctx, connection)).id, role));
    return { resource_type: 'dyn_db_role', resource_id: row.id, name: row.name, details: { connection } };
  },
  state: async (ctx, input) => {
    const plan = await planned(ctx, input);
    await assertRoom(ctx, plan.connection.id);
    const giveBack = await admitted(ctx, plan);
    await giveBack(); // it is counted when it is made
    return { username: usernameFor(plan, ctx.now), ttl: plan.ttl };
  },
  beside: async (tx, ctx, input, { details }) => {
    const plan = await planned({ ...ctx, tx }, input);
    const { entry } = await insertLease(tx, ctx, plan, String(details?.username));
    await writeAudits(tx, ctx, [entry]);
  },
};

async function assertRoom(ctx: Ctx, connection_id: string): Promise<void> {
  await read(ctx, async (tx) => {
    const limit = await limitOf(tx, ctx, 'dyn_db_leases');
    if (limit !== null && (await countOf(tx, ctx, 'dyn_db_leases')) >= limit)
      throw new Refusal(
        'plan_limit',
        `The ${ctx.plan} plan allows ${limit} live database leases in this space. Revoke one or ${moreRoom(ctx.plan)}.`,
      );
    if ((await liveLeases(tx, ctx, { connection_id })) >= MOST_LEASES)
      throw new Refusal('lease_limit', `A connection has at most ${MOST_LEASES} live leases. Revoke some, or wait until they expire.`);
  });
}

/** The credential whose lease was committed with the reveal. */
export async function revealCredential(ctx: Ctx, input: Input) {
  const plan = await planned(ctx, input);
  await admitted(ctx, plan).catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error; // the last place went to another call in between: this one was granted
  });
  const lease = await read(ctx, (tx) =>
    tx.dyn_db_leases.findFirst({
      where: { ...own(ctx), connection_id: plan.connection.id, username: String(ctx.granted?.username), phase: 'creating', ended_at: null },
      orderBy: { number: 'desc' },
    }),
  );
  if (!lease) throw new Error('the lease of a granted reveal is gone');
  return handedOut(ctx, plan, lease as unknown as LeaseRow);
}
