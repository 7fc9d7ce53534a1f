import { routeId } from '#server/domain/routes/samples.fixture.ts';
import { type Fixture, fresh, idOf, made, nothing, type Sample } from '#server/testing/factories.ts';
import { CREDENTIAL_PROTECTIONS } from './credentials.ts';

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

export const harmless = {
  // An address of a client is a way in like its other credentials, which the same people may add.
  'clients.update': ['name', 'type', 'ip_address', 'ip_notes', 'description', 'enabled', 'collection_id'],
};

export const grantless = {
  'clients.create': 'a server is a kind of client, which calls the routes it is assigned to',
  'clients.update': 'a server is a kind of client, which calls the routes it is assigned to',
};

export const loosening: Fixture['loosening'] = {
  'clients.update_credential': {
    rules: CREDENTIAL_PROTECTIONS,
    of: credentialId,
    pairs: {
      enabled: { strict: { enabled: false }, loose: { enabled: true } },
      expires_at: { strict: { expires_at: '2036-01-01T00:00:00Z' }, loose: { expires_at: null } },
    },
  },
};
