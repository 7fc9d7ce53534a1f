import { revealing, route, withAction } from '#server/domain/routes/samples.fixture.ts';
import { secret, secretId } from '#server/domain/secrets/samples.fixture.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { fresh, idOf, made, nothing, type Sample } from '#server/testing/factories.ts';

const collection: Sample = async () => ({ name: fresh('Collection') });
const collectionId = idOf('collections.create', collection);
const variable: Sample = async (ctx) => ({ ...(await collectionId(ctx)), key: 'region', type: 'value', value: 'eu' });
const variableId: Sample = async (ctx) => {
  const input = await variable(ctx);
  return { id: input.id, variableId: (await made(ctx, 'collections.variables.create', input)).id };
};
const membership: Sample = async (ctx) => {
  const { id } = await collectionId(ctx);
  return { id, routeId: (await made(ctx, 'routes.create', { ...(await route(ctx)), collection_id: id })).id };
};

export const samples: Record<string, Sample> = {
  'collections.list': nothing,
  'collections.create': collection,
  'collections.get': collectionId,
  'collections.update': async (ctx) => ({ ...(await collectionId(ctx)), description: 'changed' }),
  'collections.delete': collectionId,
  'collections.variables.list': collectionId,
  'collections.variables.create': variable,
  'collections.variables.update': async (ctx) => ({ ...(await variableId(ctx)), value: 'us' }),
  'collections.variables.delete': variableId,
  'collections.environment_defaults.get': collectionId,
  'collections.environment_defaults.put': async (ctx) => ({ ...(await collectionId(ctx)), expected_environments: ['production'] }),
  'collections.sync_status': collectionId,
  'collections.routes.reset': membership,
  'collections.access': collectionId,
  'collections.overview': async (ctx) => ({ ids: String((await collectionId(ctx)).id) }),
  'collections.owners.get': collectionId,
  'collections.owners.put': async (ctx) => ({ ...(await collectionId(ctx)), user_ids: [] }),
  'collections.members.move': async (ctx) => ({ ...(await collectionId(ctx)), type: 'secret', ids: [(await secretId(ctx)).id] }),
};

/** A collection that sends its routes elsewhere, and a route that shows what a vault holds. */
async function elsewhere(ctx: Ctx, environment_name: string) {
  const { id } = await collectionId(ctx);
  const environments = [{ environment_name, base_url: 'http://127.0.0.1:10', default_client_ids: [] }];
  await made(ctx, 'collections.environment_defaults.put', { id, expected_environments: [environment_name], environments });
  return { id: String(id), action: await revealing(true)(ctx) };
}

/** A collection whose routes admit a client, and a route that requires clients. */
async function admitting(ctx: Ctx, environment_name: string) {
  const { id } = await collectionId(ctx);
  const client = await made(ctx, 'clients.create', { name: fresh('client'), ip_address: '203.0.113.7' });
  const environments = [{ environment_name, base_url: null, default_client_ids: [client.id] }];
  await made(ctx, 'collections.environment_defaults.put', { id, expected_environments: [environment_name], environments });
  return { id: String(id), route: await made(ctx, 'routes.create', { ...(await route(ctx)), requires_clients: true }) };
}

/** A route that calls by a variable of its collection, and shows what a vault holds. */
async function aimed(ctx: Ctx, host: string) {
  const { id } = await collectionId(ctx);
  const variable = await made(ctx, 'collections.variables.create', { id, key: 'host', type: 'value', value: host });
  const action = await revealing(true)(ctx);
  await made(ctx, 'routes.update', { id: action.id, collection_id: id, target_base_url: 'https://{{var:host}}' });
  await withAction(ctx, action);
  return { id: String(id), variableId: variable.id };
}

/** A secret that callers of the collection's routes may name, and no others. */
async function closed(ctx: Ctx) {
  const { id } = await collectionId(ctx);
  return { id: String(id), secret: await made(ctx, 'secrets.create', { ...(await secret(ctx)), collection_id: id }) };
}

export const confirmedSamples: Record<string, Sample> = {
  'collections.delete': async (ctx) => ({ id: (await closed(ctx)).id }),
  'collections.routes.reset protection.loosen': async (ctx) => {
    const { id, route } = await admitting(ctx, 'production');
    await made(ctx, 'routes.update', { id: route.id, collection_id: id });
    return { id, routeId: route.id };
  },
  'collections.members.move protection.loosen': async (ctx) => {
    const { name } = await made(ctx, 'environments.create', { name: fresh('stage') });
    const { id, route } = await admitting(ctx, name);
    return { id, type: 'route', ids: [route.id] };
  },
  'collections.variables.update': async (ctx) => ({ ...(await aimed(ctx, '127.0.0.1')), value: 'localhost' }),
  'collections.routes.reset': async (ctx) => {
    const { id, action } = await elsewhere(ctx, 'production');
    await made(ctx, 'routes.update', { id: action.id, collection_id: id });
    await withAction(ctx, action);
    return { id, routeId: action.id };
  },
  'collections.members.move': async (ctx) => {
    const { name } = await made(ctx, 'environments.create', { name: fresh('stage') });
    const { id, action } = await elsewhere(ctx, name);
    await withAction(ctx, action);
    return { id, type: 'route', ids: [action.id] };
  },
};
export const freeSamples: Record<string, Sample> = {
  'collections.delete': collectionId,
  'collections.variables.update': async (ctx) => ({ ...(await aimed(ctx, '127.0.0.1')), value: '127.0.0.1', description: 'the same host' }),
  'collections.routes.reset': membership,
  'collections.members.move': samples['collections.members.move'] as Sample,
};

/** No token of a person holds what only Owners and Admins reveal, so it doesn't say where that goes either. */
export const neverByLogin = {
  'collections.routes.reset capability.grant': 'forbidden',
  'collections.variables.update capability.grant': 'forbidden',
};

export const dependsOnState = [/is required for variables of type|is only for variables of type|looks like a credential/i];

export const harmless = {
  // They bind no route that is a member already.
  'collections.environment_defaults.put': ['expected_environments', 'environments'],
  'collections.owners.put': ['user_ids'],
  // How it is called.
  'collections.update': ['name', 'slug', 'description', 'color', 'icon'],
  // Where routes call by a value, it is judged as their target.
  'collections.variables.update': ['key', 'type', 'value', 'secret_id', 'description'],
};
