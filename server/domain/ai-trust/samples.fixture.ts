import type { Ctx } from '#server/kernel/context.ts';
import { db } from '#server/platform/db.ts';
import { type Fixture, fresh, made, nothing, type Sample } from '#server/testing/factories.ts';
import { BINDING_PROTECTIONS } from './service.ts';

const binding: Sample = async (ctx: Ctx) => {
  const held = await db().ai_gateways.findFirst({ where: { tenant_id: ctx.tenant_id, sandbox: ctx.sandbox, status: 'active' } });
  const gateway = held ?? (await made(ctx, 'ai_gateways.create', { name: 'CI', slug: fresh('ci') }));
  return {
    name: 'Deploys',
    issuer: 'https://token.actions.githubusercontent.com',
    claim_rules: [{ claim: 'sub', op: 'eq', value: 'repo:acme/app:ref:refs/heads/main' }],
    gateway_id: gateway.id,
  };
};
const aBinding: Sample = async (ctx) => ({ id: (await made(ctx, 'ai_oidc_bindings.create', await binding(ctx))).id });

export const samples: Record<string, Sample> = {
  'ai_oidc_bindings.list': nothing,
  'ai_oidc_bindings.create': binding,
  'ai_oidc_bindings.get': aBinding,
  'ai_oidc_bindings.update': async (ctx) => ({ ...(await aBinding(ctx)), token_ttl_seconds: 600 }),
  'ai_oidc_bindings.delete': aBinding,
  'ai_oidc_bindings.test': async () => ({ subject_token: 'not.a.token' }),
};

export const secretInput = { 'ai_oidc_bindings.test': ['subject_token'] };

/** What an issuer may be, and which rules trust no more than one workload's worth. */
export const dependsOnState = [
  /foreign_reference: /,
  /^issuer: /,
  /^claim_rules/,
  /is required for tokens of kind/,
  /must not be sent for tokens of kind tool/,
  /^scope\./,
];

export const movesNothing = {
  'ai_oidc_bindings.update agent_id': 'an AI agent, which tokens are issued for',
  'ai_oidc_bindings.update issuer': 'it says whose tokens are believed; nothing is sent there but a request for public keys',
};

export const grantless = {
  'ai_oidc_bindings.create': 'people mint the same tokens themselves',
  'ai_oidc_bindings.update': 'people mint the same tokens themselves; widening asks for protection.loosen',
};

const elsewhere = [{ claim: 'sub', op: 'eq', value: 'repo:acme/other:ref:refs/heads/main' }];
export const loosening: Fixture['loosening'] = {
  'ai_oidc_bindings.update': {
    rules: BINDING_PROTECTIONS,
    of: async (ctx) => ({ ...(await aBinding(ctx)), name: 'Deploys' }),
    pairs: {
      issuer: {
        strict: {},
        loose: { issuer: 'https://gitlab.com', claim_rules: [{ claim: 'project_path', op: 'eq', value: 'acme/app' }] },
      },
      claim_rules: { strict: {}, loose: { claim_rules: elsewhere } },
      scope: { strict: {}, loose: { scope: { models: ['gpt-4o'] } } },
      token_ttl_seconds: { strict: { token_ttl_seconds: 60 }, loose: { token_ttl_seconds: 3_600 } },
      enabled: { strict: { enabled: false }, loose: { enabled: true } },
    },
  },
};
