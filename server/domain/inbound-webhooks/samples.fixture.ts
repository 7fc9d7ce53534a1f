import { fresh, idOf, nothing, type Sample } from '#server/testing/factories.ts';

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
