import { route } from '#server/domain/routes/samples.fixture.ts';
import { secretId } from '#server/domain/secrets/samples.fixture.ts';
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

export const dependsOnState = [/is required for variables of type|is only for variables of type|looks like a credential/i];
