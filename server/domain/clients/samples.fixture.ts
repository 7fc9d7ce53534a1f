import { revealing, route, routeId, withAction } from '#server/domain/routes/samples.fixture.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { type Fixture, fresh, idOf, made, nothing, type Sample } from '#server/testing/factories.ts';
import { keyActor } from '#server/testing/workspace.ts';
import { CREDENTIAL_PROTECTIONS } from './credentials.ts';
import { CLIENT_PROTECTIONS } from './service.ts';

const client: Sample = async () => ({ name: fresh('client'), ip_address: '203.0.113.7' });
const clientId = idOf('clients.create', client);
const credential: Sample = async (ctx) => ({ ...(await clientId(ctx)), kind: 'ip', data: { value: '198.51.100.0/24' } });
const signing: Sample = async (ctx) => ({ ...(await clientId(ctx)), kind: 'signature_hmac', data: { mode: 'generate' } });
const credentialId: Sample = async (ctx) => {
  const input = await credential(ctx);
  return { id: input.id, credentialId: (await made(ctx, 'clients.create_credential', input)).id };
};
const assignment: Sample = async (ctx) => ({
  ...(await clientId(ctx)),
  assignments: [{ route_id: (await routeId(ctx)).id, environment_name: 'production' }],
});

/** A route that only its clients may call; revealing ones show them what a vault holds. */
export async function guardedRoute(ctx: Ctx, reveals = false): Promise<string> {
  if (!reveals) return (await made(ctx, 'routes.create', { ...(await route(ctx)), requires_clients: true })).id;
  const { id } = await withAction(ctx, await revealing(true)(ctx));
  await made(ctx, 'routes.update', { id, requires_clients: true });
  return String(id);
}

/** A client that a machine assigned to such a route, which nobody asks. */
const assignedClient =
  (reveals: boolean): Sample =>
  async (ctx) => {
    const [input, route_id] = [await clientId(ctx), await guardedRoute(ctx, reveals)];
    const machine = { ...ctx, actor: keyActor('Key - Infrastructure') };
    await made(machine, 'clients.assign', { ...input, assignments: [{ route_id, environment_name: 'production' }] });
    return input;
  };
const assigning =
  (reveals: boolean): Sample =>
  async (ctx) => ({
    ...(await clientId(ctx)),
    assignments: [{ route_id: await guardedRoute(ctx, reveals), environment_name: 'production' }],
  });
const adding =
  (reveals: boolean): Sample =>
  async (ctx) => ({ ...(await assignedClient(reveals)(ctx)), kind: 'ip', data: { value: '192.0.2.0/24' } });
const prolonging: Sample = async (ctx) => {
  const { id } = await assignedClient(true)(ctx);
  const machine = { ...ctx, actor: keyActor('Key - Infrastructure') };
  const input = { id, kind: 'ip', data: { value: '192.0.2.0/24' }, enabled: false };
  return { id, credentialId: (await made(machine, 'clients.create_credential', input)).id, enabled: true };
};

export const confirmedSamples: Record<string, Sample> = {
  'clients.update capability.grant': async (ctx) => ({ ...(await assignedClient(true)(ctx)), ip_address: '203.0.113.0/24' }),
  'clients.assign protection.loosen': assigning(false),
  'clients.assign capability.grant': assigning(true),
  'clients.create_credential protection.loosen': adding(false),
  'clients.create_credential capability.grant': adding(true),
  'clients.update_credential capability.grant': prolonging,
};

export const samples: Record<string, Sample> = {
  'clients.list': nothing,
  'clients.get': clientId,
  'clients.create': client,
  'clients.update': async (ctx) => ({ ...(await clientId(ctx)), description: 'changed' }),
  'clients.delete': clientId,
  'clients.list_credentials': clientId,
  'clients.create_credential': signing,
  'clients.update_credential': async (ctx) => ({ ...(await credentialId(ctx)), label: 'office' }),
  'clients.delete_credential': credentialId,
  'clients.assign': assignment,
  'clients.unassign': async (ctx) => {
    const input = await assignment(ctx);
    await made(ctx, 'clients.assign', input);
    return input;
  },
};

/** Which members belong together depends on the kind. */
export const dependsOnState = [/^data\.\w+: /];
export const secretInput = { 'clients.create_credential': ['data.secret'] };
export const shownOnce = { 'clients.create_credential': ['reveal.private_key_pem', 'reveal.secret'] };

/** A label, edited in place. */
export const unguardedEdits = ['clients.update_credential'];

export const grantless = {
  'clients.create': 'a server is a kind of client, which calls the routes it is assigned to',
};

/** Where no clients are required, or by less, nobody gets in by more. */
export const freeSamples: Record<string, Sample> = {
  'clients.update': async (ctx) => ({ ...(await clientId(ctx)), ip_address: '203.0.113.0/24' }),
  'clients.assign': assignment,
  'clients.create_credential': credential,
};

export const loosening: Fixture['loosening'] = {
  'clients.update': {
    rules: CLIENT_PROTECTIONS,
    of: assignedClient(false),
    pairs: {
      ip_address: { strict: { ip_address: '203.0.113.7' }, loose: { ip_address: '203.0.113.0/24' } },
      enabled: { strict: { enabled: false }, loose: { enabled: true } },
    },
  },
  'clients.update_credential': {
    rules: CREDENTIAL_PROTECTIONS,
    of: credentialId,
    pairs: {
      enabled: { strict: { enabled: false }, loose: { enabled: true } },
      expires_at: { strict: { expires_at: '2036-01-01T00:00:00Z' }, loose: { expires_at: null } },
    },
  },
};
