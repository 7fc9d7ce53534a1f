import { routeId } from '#server/domain/routes/samples.fixture.ts';
import { fresh, idOf, made, nothing, type Sample } from '#server/testing/factories.ts';

const client: Sample = async () => ({ name: fresh('client'), ip_address: '203.0.113.7' });
const clientId = idOf('clients.create', client);
const credential: Sample = async (ctx) => ({ ...(await clientId(ctx)), kind: 'ip', data: { value: '198.51.100.0/24' } });
const credentialId: Sample = async (ctx) => {
  const input = await credential(ctx);
  return { id: input.id, credentialId: (await made(ctx, 'clients.create_credential', input)).id };
};
const assignment: Sample = async (ctx) => ({
  ...(await clientId(ctx)),
  assignments: [{ route_id: (await routeId(ctx)).id, environment_name: 'production' }],
});

export const samples: Record<string, Sample> = {
  'clients.list': nothing,
  'clients.get': clientId,
  'clients.create': client,
  'clients.update': async (ctx) => ({ ...(await clientId(ctx)), description: 'changed' }),
  'clients.delete': clientId,
  'clients.list_credentials': clientId,
  'clients.create_credential': credential,
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
