import { type Fixture, fresh, idOf, nothing, type Sample } from '#server/testing/factories.ts';
import { INBOUND_PROTECTIONS } from './service.ts';

const receiver: Sample = async () => ({
  name: fresh('inbound')
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '-'),
  format: 'stripe',
});
const existing = idOf('inbound_webhooks.create', receiver);

export const samples: Record<string, Sample> = {
  'inbound_webhooks.list': nothing,
  'inbound_webhooks.create': receiver,
  'inbound_webhooks.get': existing,
  'inbound_webhooks.update': async (ctx) => ({ ...(await existing(ctx)), description: 'changed' }),
  'inbound_webhooks.delete': existing,
  'inbound_webhooks.rotate_secret': existing,
};
export const secretInput = { 'inbound_webhooks.create': ['secret'], 'inbound_webhooks.rotate_secret': ['secret'] };
export const shownOnce = { 'inbound_webhooks.create': ['secret_key'], 'inbound_webhooks.rotate_secret': ['secret_key'] };
export const dependsOnState = [
  /must use https|can only be called|must not use port|is not a public|points to an address|must contain|must be an absolute|must be ASCII/,
  /must not have a fragment|placeholder/,
  /is required for format custom|is only for format custom|is not for format/,
  /can't be set together with|doesn't exist in this space/,
];

export const movesNothing = { 'inbound_webhooks.update forward_url': 'the secret verifies what arrives and is sent nowhere' };

export const grantless = {
  'inbound_webhooks.rotate_secret': 'a new secret, which no sender has yet',
};

export const loosening: Fixture['loosening'] = {
  'inbound_webhooks.update': {
    rules: INBOUND_PROTECTIONS,
    of: existing,
    pairs: {
      format: { strict: { format: 'stripe' }, loose: { format: 'github' } },
      replay_window_seconds: { strict: { format: 'stripe', replay_window_seconds: 60 }, loose: { replay_window_seconds: 600 } },
      allow_duplicates: { strict: { format: 'github', allow_duplicates: false }, loose: { allow_duplicates: true } },
    },
  },
};
