import { environment } from '#server/domain/environments/samples.fixture.ts';
import { secret } from '#server/domain/secrets/samples.fixture.ts';
import { type Fixture, fresh, idOf, made, nothing, type Sample } from '#server/testing/factories.ts';
import { captureRequest } from './payload-capture/captured.fixture.ts';

export const route: Sample = async () => ({ name: fresh('route'), target_base_url: 'http://127.0.0.1:9' });
export const routeId = idOf('routes.create', route);
const routeEnvironment: Sample = async (ctx) => ({
  ...(await routeId(ctx)),
  env: (await made(ctx, 'environments.create', await environment(ctx))).name,
});
const overridden: Sample = async (ctx) => {
  const input = await routeEnvironment(ctx);
  await made(ctx, 'routes.environments.put', { ...input, timeout_ms: 1_000 });
  return input;
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

const masking: Sample = async (ctx) => ({
  ...(await routeId(ctx)),
  direction: 'response',
  action: 'mask',
  selectors: ['$.card.number'],
  mask: 'last4',
});
const actionId: Sample = async (ctx) => {
  const input = await masking(ctx);
  return { id: input.id, actionId: (await made(ctx, 'routes.actions.create', input)).id };
};

const link: Sample = async (ctx) => {
  const { id } = await routeId(ctx);
  return { id, token: (await made(ctx, 'routes.capture.start', { id })).token };
};
const captured: Sample = async (ctx) => {
  const input = await link(ctx);
  await captureRequest(String(input.token));
  return input;
};

export const samples: Record<string, Sample> = {
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
  'routes.actions.list': routeId,
  'routes.actions.create': masking,
  'routes.actions.update': async (ctx) => ({ ...(await actionId(ctx)), enabled: false }),
  'routes.actions.delete': actionId,
  'routes.capture.start': routeId,
  'routes.capture.status': link,
  'routes.capture.check': captured,
  'routes.capture.apply': captured,
  'routes.icons': async (ctx) => ({ ids: String((await routeId(ctx)).id) }),
  'routes.overview': async (ctx) => ({ ids: String((await routeId(ctx)).id) }),
};

export const dependsOnState = [
  /must have at least one method|is required while rate limiting is on|rate_limit_burst: must be/,
  /upstream_auth\.secret_id: (?:refers to an unknown secret|requires either secret_id or key_name)|inject_headers_json sets as well/,
  /^(?:mtls|upstream_ca)_certificate_id: no such certificate/,
  /upstream_auth\.key_name: no such key|can't be used with the scheme concat/,
  // Settings of a field action that don't go together.
  /must not be sent for|: is required|is not a selector|send either|responses have no query|can't be (?:used|changed)|only values of bodies/,
  /must have (?:exactly )?one |must name |is not a valid header name|describes the body/,
];
export const secretInput = { 'routes.test': ['headers[].value'] };

export const needsGateway = ['routes.test'];
export const shownOnce = { 'routes.capture.start': ['capture_url', 'token'] };
export const revealed: Fixture['revealed'] = { 'routes.capture.check': ({ body }) => [body] };

const injecting = {
  ...{ inject_headers_json: { 'X-A': 'a' }, inject_query_json: { b: 'b' }, inject_body_json: { c: { d: ['d'] } } },
  method_configs: [{ method: 'POST', inject_headers_json: { 'X-E': 'e' }, inject_query_json: { f: 'f' }, inject_body_json: { g: 'g' } }],
};
export const templated: Fixture['templated'] = {
  'routes.create': async (ctx) => ({ ...(await route(ctx)), ...injecting }),
  'routes.update': async (ctx) => ({ ...(await routeId(ctx)), ...injecting }),
  'routes.environments.put': async (ctx) => ({ ...(await routeEnvironment(ctx)), ...injecting }),
};
