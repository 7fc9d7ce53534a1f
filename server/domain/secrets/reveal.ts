import type { z } from 'zod';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import type { Reveal } from '#server/kernel/operation.ts';
import type { RevealSecret } from './schema.ts';
import { secretById } from './store.ts';
import { openVersion } from './values.ts';

type Input = z.output<typeof RevealSecret>;

/** Row 1 of interface rule 32 §2. */
export const revealOfValue: Reveal<Input> = {
  class: 'A',
  scope: 'plaintext.reveal',
  policy: 'secret:reveal',
  subject: async (ctx, { id }) => {
    const { name } = await read(ctx, (tx) => secretById(tx, ctx, id));
    return { resource_type: 'secret', resource_id: id, name };
  },
  state: (ctx, { id, environment }) =>
    read(ctx, async (tx) => {
      const secret = await secretById(tx, ctx, id);
      const wanted = environment ?? secret.base_environment;
      const held =
        wanted === null
          ? null
          : await tx.secret_environments.findFirst({
              where: { ...own(ctx), secret_id: id, environment_name: wanted, current_value_id: { not: null } },
              select: { environment_name: true, value_version: true },
            });
      if (!held)
        throw new Refusal('not_found', wanted === null ? `${secret.name} has no value yet.` : `${secret.name} has no value in ${wanted}.`);
      return { environment: held.environment_name, value_version: held.value_version };
    }),
};

/** The value whose version the audit entry names, even if a new one was set a moment ago. */
export async function revealValue(ctx: Ctx, { id }: Input) {
  const { environment, value_version } = ctx.granted as { environment: string; value_version: number };
  const place = { secret_id: id, environment_name: environment };
  const { name, plain } = await read(ctx, async (tx) => ({
    name: (await secretById(tx, ctx, id)).name,
    plain: await openVersion(tx, ctx, place, value_version),
  }));
  try {
    return { id, name, environment, value_version, value: plain.toString('utf8') };
  } finally {
    plain.fill(0);
  }
}
