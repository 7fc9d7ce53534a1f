import { sealerOf, sealValue } from '#server/custody/portable.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Sample } from '#server/testing/factories.ts';

const sealed = async (ctx: Ctx) => (await sealValue(ctx, { datatype: 's', bytes: Buffer.from('4242') })).text;
const document: Sample = async (ctx) => ({ data: { card: await sealed(ctx), note: 'x' } });

export const samples: Record<string, Sample> = {
  'encryption.encrypt': async () => ({ data: { card: { number: '4242424242424242' }, paid: true } }),
  'encryption.decrypt': document,
  'encryption.rewrap': document,
  'encryption.inspect': async (ctx) => ({ value: await sealed(ctx) }),
  'encryption.bundle': async (ctx) => {
    await sealerOf(ctx); // the first call makes the default key
    return {};
  },
  'encryption.reveal': document,
};

/** Keys exist or not, and a pattern can't count steps. */
export const dependsOnState = [/^key: doesn't exist/, /only one "\.\."/];
