import { revealing, route, routeId } from '#server/domain/routes/samples.fixture.ts';
import { fresh, made, type Sample } from '#server/testing/factories.ts';
import { keyActor } from '#server/testing/workspace.ts';

/** Something in the other space that can move into the one of the caller's row of samples. */
const promotion =
  (from: 'test' | 'live'): Sample =>
  async (ctx) => ({ items: [{ type: 'route', ...(await routeId({ ...ctx, sandbox: from === 'test' })) }] });

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
  'sandbox.promote': revealingRoute('test'),
  'sandbox.promote protection.loosen': opening('test'),
  'sandbox.clone': revealingRoute('live'),
  'sandbox.clone protection.loosen': opening('live'),
};
export const freeSamples: Record<string, Sample> = { 'sandbox.promote': promotion('test'), 'sandbox.clone': promotion('live') };

export const secretInput = { 'sandbox.reset': ['password'] };
