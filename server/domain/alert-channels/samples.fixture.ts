import { type Fixture, fresh, idOf, made, nothing, type Sample } from '#server/testing/factories.ts';

/** Nobody listens there. */
const channel: Sample = async () => ({
  ...{ name: fresh('channel'), kind: 'webhook', url: 'https://127.0.0.1:65001/alerts' },
  signing_secret: fresh('a secret that nobody may ever see'),
});
const existing = idOf('alert_channels.create', channel);

export const samples: Record<string, Sample> = {
  'alert_channels.list': nothing,
  'alert_channels.get': existing,
  'alert_channels.create': channel,
  'alert_channels.update': async (ctx) => ({ ...(await existing(ctx)), name: fresh('renamed') }),
  'alert_channels.delete': existing,
  'alert_channels.test': existing,
  'alert_channels.deliveries': existing,
};

const secrets = ['signing_secret', 'token', 'url'];
export const secretInput = { 'alert_channels.create': secrets, 'alert_channels.update': secrets };
const paging: Sample = async (ctx) => ({
  id: (await made(ctx, 'alert_channels.create', { name: fresh('channel'), kind: 'opsgenie', token: fresh('a-key-nobody-may-see') })).id,
});
export const moving: Fixture['moving'] = {
  'alert_channels.update': {
    edits: { url: async (ctx) => ({ ...(await paging(ctx)), url: 'https://127.0.0.1:65001/alerts' }) },
    again: { token: 'another-key' },
  },
};
export const dependsOnState = [
  /is required for channels of kind|is not for channels of kind|must be sent again when|no SMS provider/,
  /must be email addresses|must be numbers such as|must be addresses of members/,
  /must use https|can only be called|must not use port|is not a public|points to an address|must contain|must be an absolute|must be ASCII|must not have a fragment|placeholder|must be|must not/,
];

export const harmless = {
  // Where alerts go is judged as a move of the token.
  'alert_channels.update': ['name', 'recipients', 'url', 'token', 'signing_secret', 'quiet_hours', 'enabled'],
};
