import { TOKEN_EXCHANGE } from '#server/domain/oauth-clients/grants.shared.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { fresh, made, type Sample } from '#server/testing/factories.ts';
import { tokenActor } from '#server/testing/workspace.ts';

/** Made by a machine, which is never asked to confirm. */
const byMachine = (ctx: Ctx, id: string, input: Record<string, unknown>) => made({ ...ctx, actor: tokenActor() }, id, input);

/** A client for a pipeline. */
export const clientId: Sample = async (ctx) => {
  const input = { name: fresh('pipeline'), grant_types: [TOKEN_EXCHANGE], allowed_scopes: ['routes:read', 'routes:write'] };
  return { id: (await byMachine(ctx, 'oauth_clients.create', input)).id };
};
const binding: Sample = async (ctx) => ({
  ...(await clientId(ctx)),
  ...{ name: fresh('binding'), provider: 'github_actions', subject: 'repo:acme/app:ref:refs/heads/main', scopes: ['routes:read'] },
});
const existing: Sample = async (ctx) => {
  const input = await binding(ctx);
  return { id: input.id, binding_id: (await byMachine(ctx, 'trust_bindings.create', input)).id };
};

export const samples: Record<string, Sample> = {
  'trust_bindings.list': clientId,
  'trust_bindings.get': existing,
  'trust_bindings.create': binding,
  'trust_bindings.update': async (ctx) => ({ ...(await existing(ctx)), name: fresh('renamed') }),
  'trust_bindings.delete': existing,
  'trust_bindings.test': async (ctx) => ({ ...(await clientId(ctx)), subject_token: 'not-a-token' }),
};

export const confirmedSamples: Record<string, Sample> = {
  'trust_bindings.create': binding,
  'trust_bindings.update': async (ctx) => ({ ...(await existing(ctx)), audience: 'service:api:acme' }),
};
export const secretInput = { 'trust_bindings.test': ['subject_token'] };
export const dependsOnState = [
  /each must name a claim|whose tokens are trusted|is the issuer of|must be a URL|must have no query|must use|must not|is named twice|has a field of its own|is checked for every token|the client isn't allowed|must have at most/i,
];

const trusted = 'it says whose tokens are believed; nothing is sent there but a request for public keys';
export const movesNothing = { 'trust_bindings.create issuer': trusted, 'trust_bindings.update issuer': trusted };

export const harmless = {
  // Every setting asks for oauth.client, but the name and turning it off.
  'trust_bindings.update': [
    'name',
    'provider',
    'issuer',
    'audience',
    'subject',
    'claims',
    'scopes',
    'ttl_seconds',
    'single_use',
    'enabled',
  ],
};

export const grantless = {
  'trust_bindings.update': 'asks for oauth.client for every setting, but the name and turning it off',
};
