import { operations } from '#server/api/operations.ts';
import { perform } from '#server/api/perform.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';

/** A valid input of an operation in a fresh workspace; what it needs to exist is made first, by operations as a caller would. */
export type Sample = (ctx: Ctx) => Promise<Record<string, unknown>>;

let counter = 0;
/** A name nobody used yet in this process. */
export const fresh = (word: string) => `${word}-${process.pid}-${++counter}`;

export const operationById = (id: string): AnyOperation => {
  const op = operations.find((o) => o.id === id);
  if (!op) throw new Error(`no operation ${id}`);
  return op;
};

/** Runs an operation for its output. */
// biome-ignore lint/suspicious/noExplicitAny: outputs of every shape
export const made = async (ctx: Ctx, id: string, input: Record<string, unknown> = {}): Promise<any> =>
  (await perform(operationById(id), ctx, input)).output;

const nothing: Sample = async () => ({});
const idOf =
  (id: string, input: Sample): Sample =>
  async (ctx) => ({ id: (await made(ctx, id, await input(ctx))).id });

const environment: Sample = async () => ({ name: fresh('env') });
const apiKey: Sample = async () => ({ name: fresh('key') });

const route: Sample = async () => ({ name: fresh('route'), target_base_url: 'http://127.0.0.1:9' });
const routeId = idOf('routes.create', route);
const routeEnvironment: Sample = async (ctx) => ({
  ...(await routeId(ctx)),
  env: (await made(ctx, 'environments.create', await environment(ctx))).name,
});
const overridden: Sample = async (ctx) => {
  const input = await routeEnvironment(ctx);
  await made(ctx, 'routes.environments.put', { ...input, timeout_ms: 1_000 });
  return input;
};
const secret: Sample = async () => ({ name: fresh('SECRET').replaceAll('-', '_'), value: fresh('a value nobody may see') });
const secretId = idOf('secrets.create', secret);
const twoValues: Sample = async (ctx) => {
  const { id } = await secretId(ctx);
  const env = (await made(ctx, 'environments.create', await environment(ctx))).name;
  await made(ctx, 'secrets.put_value', { id, value: 'second', environment: env });
  return { id, env };
};

/** One sample per operation id; `every operation has a sample` fails for a row without one. */
export const samples: Record<string, Sample> = {
  'account.get': nothing,
  'account.update': async () => ({ name: fresh('Workspace') }),
  'account.usage': nothing,
  'account.plan': nothing,
  'api_keys.list': nothing,
  'api_keys.get': idOf('api_keys.create', apiKey),
  'api_keys.create': apiKey,
  'api_keys.update': async (ctx) => ({ ...(await idOf('api_keys.create', apiKey)(ctx)), name: fresh('renamed') }),
  'api_keys.rotate': idOf('api_keys.create', apiKey),
  'api_keys.revoke': idOf('api_keys.create', apiKey),
  'environments.list': nothing,
  'environments.get': idOf('environments.create', environment),
  'environments.create': environment,
  'environments.update': async (ctx) => ({ ...(await idOf('environments.create', environment)(ctx)), display_name: 'Renamed' }),
  'environments.delete': idOf('environments.create', environment),
  'roles.list': nothing,
  'routes.list': nothing,
  'routes.create': route,
  'routes.get': routeId,
  'routes.update': async (ctx) => ({ ...(await routeId(ctx)), timeout_ms: 2_000 }),
  'routes.delete': routeId,
  'routes.environments.list': routeId,
  'routes.environments.put': async (ctx) => ({ ...(await routeEnvironment(ctx)), timeout_ms: 1_500 }),
  'routes.environments.delete': overridden,
  'routes.clients.list': async (ctx) => ({ ...(await routeId(ctx)), env: 'production' }),
  'routes.clients.set': async (ctx) => ({ ...(await routeId(ctx)), env: 'production', client_ids: [] }),
  'routes.duplicate': routeId,
  'secrets.list': nothing,
  'secrets.get': secretId,
  'secrets.create': secret,
  'secrets.update': async (ctx) => ({ ...(await secretId(ctx)), description: 'changed' }),
  'secrets.delete': secretId,
  'secrets.put_value': async (ctx) => ({ ...(await secretId(ctx)), value: 'rotated' }),
  'secrets.update_environment': async (ctx) => ({
    ...(await secretId(ctx)),
    env: 'production',
    expires_at_override: '2030-01-01T00:00:00Z',
  }),
  'secrets.remove_value': twoValues,
  'secrets.restore': async (ctx) => {
    const { id } = await secretId(ctx);
    await made(ctx, 'secrets.put_value', { id, value: 'newer' });
    return { id };
  },
  'secrets.usage': secretId,
  'secrets.import_env': async () => ({ content: `${fresh('A').replaceAll('-', '_')}=1\n` }),
};
