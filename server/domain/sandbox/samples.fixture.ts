import { revealing, route, routeId } from '#server/domain/routes/samples.fixture.ts';
import { fresh, made, type Sample } from '#server/testing/factories.ts';
import { keyActor } from '#server/testing/workspace.ts';

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

export const samples: Record<string, Sample> = {
  'sandbox.promote': promotion('test'),
  'sandbox.clone': promotion('live'),
  'sandbox.reset': async (ctx) => ({ confirm_name: (await made(ctx, 'account.get')).name }),
};

/** The same route on both sides, which the source opens to everybody. */
const opening =
  (from: 'test' | 'live'): Sample =>
  async (ctx) => {
    const input = { ...(await route(ctx)), slug: fresh('opened') };
    const here = { ...ctx, sandbox: from === 'test' };
    await made({ ...ctx, sandbox: from !== 'test' }, 'routes.create', { ...input, requires_clients: true });
    return { items: [{ type: 'route', id: (await made(here, 'routes.create', input)).id }] };
  };

/** A route that shows what a vault holds, and a vault of that name on the other side. */
const revealingRoute =
  (from: 'test' | 'live'): Sample =>
  async (ctx) => {
    const machine = { ...ctx, actor: keyActor('Key - Infrastructure') };
    const here = { ...machine, sandbox: from === 'test' };
    const action = await revealing(true)(here);
    await made({ ...machine, sandbox: from !== 'test' }, 'vaults.create', { name: action.key_name });
    await made(here, 'routes.actions.create', action);
    return { items: [{ type: 'route', id: action.id }] };
  };

export const confirmedSamples: Record<string, Sample> = {
  'sandbox.promote credential.move': pinnedThere('test'),
  'sandbox.promote capability.grant': revealingRoute('test'),
  'sandbox.promote protection.loosen': opening('test'),
  'sandbox.clone credential.move': pinnedThere('live'),
  'sandbox.clone capability.grant': revealingRoute('live'),
  'sandbox.clone protection.loosen': opening('live'),
};
export const freeSamples: Record<string, Sample> = { 'sandbox.promote': promotion('test'), 'sandbox.clone': promotion('live') };

export const secretInput = { 'sandbox.reset': ['password'] };
