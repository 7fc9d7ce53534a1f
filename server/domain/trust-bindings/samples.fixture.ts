import { TOKEN_EXCHANGE } from '#server/domain/oauth-clients/grants.shared.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { fresh, made, type Sample } from '#server/testing/factories.ts';
import { verified } from '#server/testing/step-up.ts';
import { memberActor } from '#server/testing/workspace.ts';

/** Made by another Owner: whether the caller has a second factor is up to the tests. */
async function byOwner(ctx: Ctx, id: string, input: Record<string, unknown>) {
  const owner = { ...ctx, actor: memberActor('owner') };
  await verified(owner, 'oauth.client');
  return made(owner, id, input);
}

const client: Sample = async (ctx) => ({
  id: (
    await byOwner(ctx, 'oauth_clients.create', {
      name: fresh('pipeline'),
      grant_types: [TOKEN_EXCHANGE],
      allowed_scopes: ['routes:read', 'routes:write'],
    })
  ).id,
});
const binding: Sample = async (ctx) => ({
  ...(await client(ctx)),
  ...{ name: fresh('binding'), provider: 'github_actions', subject: 'repo:acme/app:ref:refs/heads/main', scopes: ['routes:read'] },
});
const existing: Sample = async (ctx) => {
  const input = await binding(ctx);
  return { id: input.id, binding_id: (await byOwner(ctx, 'trust_bindings.create', input)).id };
};

export const samples: Record<string, Sample> = {
  'trust_bindings.list': client,
  'trust_bindings.get': existing,
  'trust_bindings.create': binding,
  'trust_bindings.update': async (ctx) => ({ ...(await existing(ctx)), name: fresh('renamed') }),
  'trust_bindings.delete': existing,
  'trust_bindings.test': async (ctx) => ({ ...(await client(ctx)), subject_token: 'not-a-token' }),
};

export const confirmedSamples: Record<string, Sample> = {
  'trust_bindings.update': async (ctx) => ({ ...(await existing(ctx)), audience: 'service:api:acme' }),
};
export const secretInput = { 'trust_bindings.test': ['subject_token'] };
export const dependsOnState = [
  /whose tokens are trusted|is the issuer of|must be a URL|must have no query|must use|must not|is named twice|has a field of its own|is checked for every token|the client isn't allowed|must have at most/i,
];
