import { environment } from '#server/domain/environments/samples.fixture.ts';
import { secret } from '#server/domain/secrets/samples.fixture.ts';
import { vaultNamed } from '#server/domain/vaults/samples.fixture.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { type Fixture, fresh, idOf, made, nothing, type Sample } from '#server/testing/factories.ts';
import { keyActor } from '#server/testing/workspace.ts';
import { captureRequest } from './payload-capture/captured.fixture.ts';
import { ROUTE_PROTECTIONS } from './protections.ts';

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
  'routes.actions.update': async (ctx) => ({ ...(await actionId(ctx)), sort_order: 7 }),
  'routes.actions.delete': actionId,
  'routes.capture.start': routeId,
  'routes.capture.status': link,
  'routes.capture.check': captured,
  'routes.capture.apply': captured,
  'routes.icons': async (ctx) => ({ ids: String((await routeId(ctx)).id) }),
  'routes.overview': async (ctx) => ({ ids: String((await routeId(ctx)).id) }),
};

/** A field action that shows what a vault of the space holds; off, it shows nothing yet. */
export const revealing =
  (enabled: boolean): Sample =>
  async (ctx) => ({
    ...(await routeId(ctx)),
    ...{ direction: 'request', action: 'detokenize', selectors: ['$.card.number'], enabled },
    key_name: (await vaultNamed(ctx)).vault,
  });
/** The route of an action that a machine added, which nobody asks. */
export const withAction = async (ctx: Ctx, input: Record<string, unknown>) => {
  const machine = { ...ctx, actor: keyActor('Key - Infrastructure') };
  return { id: input.id, actionId: (await made(machine, 'routes.actions.create', input)).id };
};

const aClient = async (ctx: Ctx): Promise<string> =>
  (await made(ctx, 'clients.create', { name: fresh('client'), ip_address: '203.0.113.7' })).id;
/** The clients of a route that requires them, and one more. */
const oneMoreClient =
  (reveals: boolean): Sample =>
  async (ctx) => {
    const { id } = reveals ? await withAction(ctx, await revealing(true)(ctx)) : await routeId(ctx);
    await made(ctx, 'routes.update', { id, requires_clients: true });
    return { id, env: 'production', client_ids: [await aClient(ctx)] };
  };
export const confirmedSamples: Record<string, Sample> = {
  'routes.clients.set protection.loosen': oneMoreClient(false),
  'routes.clients.set capability.grant': oneMoreClient(true),
  'routes.environments.delete': async (ctx) => {
    const input = await routeEnvironment(ctx);
    await made(ctx, 'routes.environments.put', { ...input, require_signature: true });
    return input;
  },
  'routes.update protection.loosen': async (ctx) => {
    const { id } = await made(ctx, 'routes.create', { ...(await route(ctx)), require_signature: true });
    return { id, method_configs: [{ method: 'GET', require_signature: false }] };
  },
  'routes.update capability.grant': async (ctx) => {
    const { id } = await withAction(ctx, await revealing(true)(ctx));
    return { id, target_base_url: 'http://127.0.0.1:10' };
  },
  'routes.environments.put capability.grant': async (ctx) => {
    const { id } = await withAction(ctx, await revealing(true)(ctx));
    const { name: env } = await made(ctx, 'environments.create', await environment(ctx));
    return { id, env, target_base_url: 'http://127.0.0.1:10' };
  },
  'routes.actions.create': revealing(true),
  'routes.actions.update': async (ctx) => ({ ...(await withAction(ctx, await revealing(false)(ctx))), enabled: true }),
  'routes.actions.update protection.loosen': async (ctx) => ({ ...(await actionId(ctx)), enabled: false }),
  'routes.duplicate': async (ctx) => ({ id: (await withAction(ctx, await revealing(true)(ctx))).id }),
};

export const freeSamples: Record<string, Sample> = {
  'routes.update': async (ctx) => ({ ...(await routeId(ctx)), requires_clients: true, timeout_ms: 2_000 }),
  'routes.environments.put': async (ctx) => ({ ...(await routeEnvironment(ctx)), requires_clients: true }),
  'routes.environments.delete': overridden,
  // Assigned already: fewer, and none that is new.
  'routes.clients.set': async (ctx) => ({ ...(await oneMoreClient(false)(ctx)), client_ids: [] }),
  'routes.actions.create': masking,
  'routes.actions.update': async (ctx) => ({ ...(await withAction(ctx, await revealing(true)(ctx))), enabled: false }),
  'routes.actions.delete': async (ctx) => withAction(ctx, await revealing(true)(ctx)),
  'routes.duplicate': routeId,
};

const pairs = {
  require_signature: { strict: { require_signature: true }, loose: { require_signature: false } },
  signature_tolerance_sec: { strict: { signature_tolerance_sec: 60 }, loose: { signature_tolerance_sec: 300 } },
  signature_require_nonce: { strict: { signature_require_nonce: true }, loose: { signature_require_nonce: false } },
  signature_scheme: { strict: { signature_scheme: 'rfc9421' }, loose: { signature_scheme: 'concat' } },
  allowed_methods: { strict: { allowed_methods: ['GET'] }, loose: { allowed_methods: ['GET', 'DELETE'] } },
  http_method_restrictions_enabled: {
    strict: { allowed_methods: ['GET'], http_method_restrictions_enabled: true },
    loose: { http_method_restrictions_enabled: false },
  },
  requires_clients: { strict: { requires_clients: true }, loose: { requires_clients: false } },
  ip_allowlist: { strict: { ip_allowlist: ['203.0.113.7'] }, loose: { ip_allowlist: ['203.0.113.0/24'] } },
  body_placeholders: { strict: { body_placeholders: 'off' }, loose: { body_placeholders: 'all' } },
  log_payloads: { strict: { log_payloads: 'off' }, loose: { log_payloads: null } },
};
const overriding = { ...pairs, log_payloads: { strict: { log_payloads: 'off' }, loose: { log_payloads: 'all' } } };
export const loosening: Fixture['loosening'] = {
  'routes.update': { rules: ROUTE_PROTECTIONS, of: routeId, pairs },
  'routes.environments.put': { rules: ROUTE_PROTECTIONS, of: routeEnvironment, pairs: overriding },
};

export const harmless = {
  // Those that are added are judged one by one, with what the route shows them.
  'routes.clients.set': ['client_ids'],
  // Each place of an action is judged as a grant or a protection of the route.
  'routes.actions.update': [
    ...['selectors', 'key_name', 'data_role', 'content_type', 'mode', 'mask', 'signature_header', 'signature_member', 'sort_order'],
    ...['enabled', 'direction', 'action', 'location'],
  ],
  'routes.examples.replace': ['name', 'method', 'path', 'headers', 'body', 'assertions'],
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

const byReference = 'what a route sends there are secrets with pins of their own, and it stores no credential';
export const movesNothing = {
  'routes.environments.put target_base_url': byReference,
  'routes.environments.put upstream_auth.issuer': 'a claim of the tokens that are signed',
  'routes.update target_base_url': byReference,
  'routes.update upstream_auth.issuer': 'a claim of the tokens that are signed',
};

const injecting = {
  ...{ inject_headers_json: { 'X-A': 'a' }, inject_query_json: { b: 'b' }, inject_body_json: { c: { d: ['d'] } } },
  method_configs: [{ method: 'POST', inject_headers_json: { 'X-E': 'e' }, inject_query_json: { f: 'f' }, inject_body_json: { g: 'g' } }],
};
export const templated: Fixture['templated'] = {
  'routes.create': async (ctx) => ({ ...(await route(ctx)), ...injecting }),
  'routes.update': async (ctx) => ({ ...(await routeId(ctx)), ...injecting }),
  'routes.environments.put': async (ctx) => ({ ...(await routeEnvironment(ctx)), ...injecting }),
};

/** No token of a person holds what only Owners and Admins reveal, so it doesn't say where that goes either. */
export const neverByLogin = {
  'routes.update capability.grant': 'forbidden',
  'routes.environments.put capability.grant': 'forbidden',
  'routes.actions.create capability.grant': 'forbidden',
  'routes.actions.update capability.grant': 'forbidden',
};
