import type { Ctx } from '#server/kernel/context.ts';
import { type Fixture, fresh, idOf, made, nothing, type Sample } from '#server/testing/factories.ts';

/** Nobody listens there, and the port is one that webhooks may use. */
export const webhook: Sample = async () => ({ name: fresh('webhook'), url: 'http://127.0.0.1:65001/hooks', event_types: ['audit.event'] });
const existing = idOf('webhooks.create', webhook);

/** A webhook that was tested, so that its log has an attempt. */
async function tested(ctx: Ctx): Promise<{ id: string; log_id: string }> {
  const { id } = (await existing(ctx)) as { id: string };
  await made(ctx, 'webhooks.test', { id });
  const { rows } = await made(ctx, 'webhooks.logs', { id }).then((page) => ({ rows: page.rows ?? page.data ?? page }));
  return { id, log_id: rows[0].id };
}
const log: Sample = async (ctx) => ({ id: (await tested(ctx)).log_id });

export const samples: Record<string, Sample> = {
  'webhooks.list': nothing,
  'webhooks.event_types': nothing,
  'webhooks.create': webhook,
  'webhooks.get': existing,
  'webhooks.update': async (ctx) => ({ ...(await existing(ctx)), description: 'changed' }),
  'webhooks.delete': existing,
  'webhooks.logs': existing,
  'webhooks.test': existing,
  'webhooks.rotate_secret': existing,
  'webhooks.redeliver': tested,
  'webhooks.recover': async (ctx) => ({ ...(await existing(ctx)), since: new Date(Date.now() - 3_600_000).toISOString() }),
  'webhooks.stats': existing,
  'webhooks.usage': nothing,
  'webhooks.browse_logs': nothing,
  'webhooks.inspect_log': log,
  'webhooks.reveal_log': log,
  'webhooks.reveal_secret': existing,
};

export const unaudited: Fixture['unaudited'] = { 'webhooks.test': 'it changes nothing of the webhook, and stands in its log' };
export const revealed: Fixture['revealed'] = {
  'webhooks.reveal_secret': ({ secret_key }) => [secret_key],
  'webhooks.reveal_log': () => [],
};
export const secretInput = {
  'webhooks.create': ['auth_config', 'request_headers'],
  'webhooks.update': ['auth_config', 'request_headers'],
};
/** One that sends a credential which is written out. */
const authenticated: Sample = async (ctx) => {
  const auth = { auth_type: 'bearer', auth_config: { token: fresh('a token nobody may see') }, request_headers: { 'X-Tenant': 'one' } };
  return { id: (await made(ctx, 'webhooks.create', { ...(await webhook(ctx)), ...auth })).id };
};
export const moving: Fixture['moving'] = {
  'webhooks.update': {
    edits: { url: async (ctx) => ({ ...(await authenticated(ctx)), url: 'http://127.0.0.1:65002/hooks' }) },
    again: { auth_config: { token: 'another token' }, request_headers: null },
  },
};
/** Events of calls, with what the log keeps of them. */
const withBodies = { event_types: ['request.completed'], include_request_body: true };
export const confirmedSamples: Fixture['confirmedSamples'] = {
  'webhooks.create capability.grant': async (ctx) => ({ ...(await webhook(ctx)), ...withBodies }),
  'webhooks.update capability.grant': async (ctx) => ({ ...(await existing(ctx)), ...withBodies }),
};
export const freeSamples: Fixture['freeSamples'] = {
  'webhooks.create': async (ctx) => ({ ...(await webhook(ctx)), event_types: ['request.completed', 'audit.event'] }),
  'webhooks.update': async (ctx) => ({ ...(await existing(ctx)), event_types: ['request.completed'], include_request_body: false }),
};
export const shownOnce = { 'webhooks.create': ['secret_key'], 'webhooks.rotate_secret': ['secret_key'] };
export const dependsOnState = [
  /must use https|can only be called|must not use port|is not a public|points to an address|must contain|must be an absolute|must be ASCII/,
  /is required for (?:hmac_format|auth_type)/,
  /is only for hmac_format custom/,
  /isn't a member for auth_type/,
  /is required when auth_type becomes/,
  /doesn't exist in this space/,
  /must be a crypto key of type/,
  /must be within the last 14 days/,
  /must not be before since/,
  /placeholder/,
];

export const harmless = {
  // Where events go is judged as a move of the credential.
  'webhooks.update': [
    'name',
    'url',
    'event_types',
    'description',
    'method',
    'auth_type',
    'auth_config',
    'request_headers',
    'route_filter',
    'include_request_body',
    'include_response_body',
    'include_headers',
    'timeout_seconds',
    'retry_on_failure',
    'max_retries',
    'enabled',
    'hmac_key_id',
    'hmac_format',
    'hmac_header_name',
    'filters',
  ],
};

export const grantless = {
  'webhooks.rotate_secret': 'a new secret, which no receiver trusts yet',
};

const presenting = {
  ...{ auth_type: 'basic', auth_config: { username: 'a', password: 'b' } },
  request_headers: { 'X-C': 'c' },
};
export const templated: Fixture['templated'] = {
  'webhooks.create': async (ctx) => ({ ...(await webhook(ctx)), ...presenting }),
  'webhooks.update': async (ctx) => ({ ...(await existing(ctx)), ...presenting }),
};
