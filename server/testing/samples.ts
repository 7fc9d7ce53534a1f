import { operations } from '#server/api/operations.ts';
import { perform } from '#server/api/perform.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { sql } from '#server/platform/sql.ts';

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
const collection: Sample = async () => ({ name: fresh('Collection') });
const collectionId = idOf('collections.create', collection);
const variable: Sample = async (ctx) => ({ ...(await collectionId(ctx)), key: 'region', type: 'value', value: 'eu' });
const variableId: Sample = async (ctx) => {
  const input = await variable(ctx);
  return { id: input.id, variableId: (await made(ctx, 'collections.variables.create', input)).id };
};
const example: Sample = async (ctx) => ({
  ...(await routeId(ctx)),
  name: 'a call',
  method: 'GET',
  path: '/',
  headers: [],
  body: '',
  assertions: [{ kind: 'status', equals: 200 }],
});
const exampleId: Sample = async (ctx) => {
  const input = await example(ctx);
  return { id: input.id, exampleId: (await made(ctx, 'routes.examples.create', input)).id };
};
const membership: Sample = async (ctx) => {
  const { id } = await collectionId(ctx);
  return { id, routeId: (await made(ctx, 'routes.create', { ...(await route(ctx)), collection_id: id })).id };
};

/** A private one is nobody else's business and leaves no audit entry. */
const sharedView: Sample = async () => ({ page: 'routes', name: fresh('View'), query: 'enabled=true', shared: true });
const viewId = idOf('views.create', sharedView);

/** A call as the gateway logs it, old enough to have passed every watermark. */
const loggedCall: Sample = async (ctx) => {
  const request_id = newId();
  await sql().query(
    `insert into request_logs (request_id, tenant_id, sandbox, ts, method, status_code, path, proxy_mode) values ($1, $2, $3, now() - interval '1 minute', 'GET', 200, '/hello', 'route')`,
    [request_id, ctx.tenant_id, ctx.sandbox],
  );
  return { request_id };
};

/** Something in the other space that can move into the one of the caller's row of samples. */
const promotion =
  (from: 'test' | 'live'): Sample =>
  async (ctx) => ({ items: [{ type: 'route', ...(await routeId({ ...ctx, sandbox: from === 'test' })) }] });

/** A logo that can be taken down: to hang one takes a person. */
const hungLogo = (ctx: Ctx) =>
  sql().query("insert into pictures (id, tenant_id, etag, bytes) values ($1, $2, 'a', 'b') on conflict (tenant_id) do nothing", [
    newId(),
    ctx.tenant_id,
  ]);

/** One sample per operation id; `every operation has a sample` fails for a row without one. */
export const samples: Record<string, Sample> = {
  'account.get': nothing,
  'account.update': async () => ({ name: fresh('Workspace') }),
  'account.settings': nothing,
  'account.update_settings': async (ctx) => {
    await hungLogo(ctx);
    return { logo_upload_id: null };
  },
  'account.usage': nothing,
  'account.plan': nothing,
  'api_keys.list': nothing,
  'api_keys.get': idOf('api_keys.create', apiKey),
  'api_keys.uses': idOf('api_keys.create', apiKey),
  'api_keys.versions': nothing,
  'api_keys.create': apiKey,
  'api_keys.update': async (ctx) => ({ ...(await idOf('api_keys.create', apiKey)(ctx)), name: fresh('renamed') }),
  'api_keys.rotate': idOf('api_keys.create', apiKey),
  'api_keys.revoke': idOf('api_keys.create', apiKey),
  'environments.list': nothing,
  'environments.get': idOf('environments.create', environment),
  'environments.create': environment,
  'environments.update': async (ctx) => ({ ...(await idOf('environments.create', environment)(ctx)), display_name: 'Renamed' }),
  'environments.delete': idOf('environments.create', environment),
  'environments.duplicate': async (ctx) => ({ ...(await idOf('environments.create', environment)(ctx)), ...(await environment(ctx)) }),
  'environments.usage': nothing,
  'environments.impact': idOf('environments.create', environment),
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
  'explorer.history': nothing,
  'search.query': async () => ({ q: 'anything' }),
  'search.inspect': async (ctx) => ({ id: String((await routeId(ctx)).id) }),
  'routes.secret_by_id': async (ctx) => {
    const input = await secret(ctx);
    const { id } = await made(ctx, 'secrets.create', input);
    await made(ctx, 'routes.create', { ...(await route(ctx)), inject_headers_json: { 'X-Key': `{{secret:${input.name}}}` } });
    return { id };
  },
  'routes.impact': routeId,
  'routes.probe': async () => ({ target_base_url: 'http://127.0.0.1:9' }),
  'routes.test': async (ctx) => ({ ...(await routeId(ctx)), method: 'GET', dry_run: true }),
  'routes.examples.list': routeId,
  'routes.examples.create': example,
  'routes.examples.replace': async (ctx) => ({ ...(await example(ctx)), ...(await exampleId(ctx)) }),
  'routes.examples.delete': exampleId,
  'routes.icons': async (ctx) => ({ ids: String((await routeId(ctx)).id) }),
  'routes.overview': async (ctx) => ({ ids: String((await routeId(ctx)).id) }),
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
  'secrets.versions': secretId,
  'secrets.import_env': async () => ({ content: `${fresh('A').replaceAll('-', '_')}=1\n` }),
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
  'audit_logs.list': nothing,
  'audit_logs.events': nothing,
  'audit_logs.browse': nothing,
  'audit_logs.get': async (ctx) => {
    await made(ctx, 'environments.create', await environment(ctx));
    return { id: (await made(ctx, 'audit_logs.list')).at(0).id };
  },
  'audit_logs.facets': nothing,
  'audit_logs.export': nothing,
  'audit_logs.critical': nothing,
  'audit_logs.verify_critical': nothing,
  'audit_logs.export_critical': nothing,
  'tenant_keys.list': nothing,
  'tenant_keys.rotate': nothing,
  'import.propose': async () => ({ kind: 'curl', text: "curl https://api.example.com/v1/things -H 'Authorization: Bearer abc123def456'" }),
  'import.apply': async (ctx) => ({ routes: [await route(ctx)], secrets: [await secret(ctx)] }),
  'sandbox.promote': promotion('test'),
  'sandbox.clone': promotion('live'),
  'sandbox.reset': async (ctx) => ({ confirm_name: (await made(ctx, 'account.get')).name }),
  'openapi.get': nothing,
  'logs.follow': nothing,
  'logs.get': loggedCall,
  'logs.proof': loggedCall,
  'routes.logs': routeId,
  'logs.browse': nothing,
  'logs.inspect': loggedCall,
  'logs.stats': nothing,
  'logs.traffic': async (ctx) => ({ kind: 'secret', ids: [(await secretId(ctx)).id] }),
  'logs.days': nothing,
  'logs.days_export': nothing,
  'logs.facets': nothing,
  'logs.failures': nothing,
  'logs.export': nothing,
  'views.list': async () => ({ page: 'routes' }),
  'views.create': sharedView,
  'views.update': async (ctx) => ({ ...(await viewId(ctx)), name: fresh('Other view') }),
  'views.delete': viewId,
};
