import { routeId } from '#server/domain/routes/samples.fixture.ts';
import { made, type Sample } from '#server/testing/factories.ts';

/** Something in the other space that can move into the one of the caller's row of samples. */
const promotion =
  (from: 'test' | 'live'): Sample =>
  async (ctx) => ({ items: [{ type: 'route', ...(await routeId({ ...ctx, sandbox: from === 'test' })) }] });

export const samples: Record<string, Sample> = {
  'sandbox.promote': promotion('test'),
  'sandbox.clone': promotion('live'),
  'sandbox.reset': async (ctx) => ({ confirm_name: (await made(ctx, 'account.get')).name }),
};

export const secretInput = { 'sandbox.reset': ['password'] };
