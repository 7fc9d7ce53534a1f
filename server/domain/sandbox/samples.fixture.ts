import { routeId } from '#server/domain/routes/samples.fixture.ts';
import { fresh, made, type Sample } from '#server/testing/factories.ts';

/** Something in the other space that can move into the one of the caller's row of samples. */
const promotion =
  (from: 'test' | 'live'): Sample =>
  async (ctx) => ({ items: [{ type: 'route', ...(await routeId({ ...ctx, sandbox: from === 'test' })) }] });

/** A secret with a value on either side, which is pinned where it goes to and free where it comes from. */
const pinnedThere =
  (from: 'test' | 'live'): Sample =>
  async (ctx) => {
    const [here, there] = [
      { ...ctx, sandbox: from === 'test' },
      { ...ctx, sandbox: from !== 'test' },
    ];
    const name = fresh('PINNED').replaceAll('-', '_');
    await made(there, 'secrets.create', { name, value: 'a value', allowed_hosts: ['api.example.com'] });
    const { id } = await made(here, 'secrets.create', { name, value: 'another value' });
    return { items: [{ type: 'secret', id }] };
  };
export const confirmedSamples = { 'sandbox.promote': pinnedThere('test'), 'sandbox.clone': pinnedThere('live') };

export const samples: Record<string, Sample> = {
  'sandbox.promote': promotion('test'),
  'sandbox.clone': promotion('live'),
  'sandbox.reset': async (ctx) => ({ confirm_name: (await made(ctx, 'account.get')).name }),
};

export const secretInput = { 'sandbox.reset': ['password'] };
