import { type Fixture, fresh, made, nothing, type Sample } from '#server/testing/factories.ts';
import { CreateSsoConnection } from './schema.ts';
import { createConnection } from './service.ts';

const connection: Sample = async () => ({
  kind: 'oidc',
  name: fresh('Okta'),
  issuer: 'https://login.example.com',
  client_id: 'sallyport',
  client_secret: 'a client secret that nobody knows',
});

/** A connection that exists; its maker has confirmed nothing. */
const existing: Sample = async (ctx) => ({ id: (await createConnection(ctx, CreateSsoConnection.parse(await connection(ctx)))).id });

export const samples: Record<string, Sample> = {
  'sso.list': nothing,
  'sso.get': existing,
  'sso.create': connection,
  'sso.update': async (ctx) => ({ ...(await existing(ctx)), name: fresh('Renamed') }),
  'sso.delete': existing,
  'sso.metadata': existing,
  'sso.test': existing,
  'sso.test-result': async (ctx) => ({ id: (await made(ctx, 'sso.test', await existing(ctx))).id }),
  'sso.settings': nothing,
  'sso.settings.update': async () => ({ jit_joining: true }),
};

const byBrowser = 'server/domain/sso/sign-in.test.ts: a browser is sent on, with no JSON to compare';
export const personSamples = { 'sso.lookup': async () => ({ email: 'somebody@example.test' }) };
export const testedElsewhere = {
  'sso.start': byBrowser,
  'sso.callback': byBrowser,
  'sso.workspace-callback': byBrowser,
  'sso.acs': byBrowser,
};
export const secretInput = { 'sso.create': ['client_secret'], 'sso.update': ['client_secret'] };
export const moving: Fixture['moving'] = {
  'sso.update': {
    edits: { issuer: async (ctx) => ({ ...(await existing(ctx)), issuer: 'https://collect.example.com' }) },
    again: { client_secret: 'another client secret' },
  },
};
export const movesNothing = { 'sso.update sso_url': 'people are sent there; a SAML connection stores no credential' };
/** Connections belong to the workspace and are the same in both spaces. */
export const ofWorkspace = true;
export const unguardedEdits = ['sso.settings.update'];
