import type { Seed } from '#server/kernel/seed.ts';

export const seed: Seed = {
  after: ['secrets', 'ai-controls'],
  run: async (make, ids) => {
    const { id } = await make('ai_gateways.create', { name: 'Support', slug: 'support', description: 'What the support team asks models' });
    ids.ai_gateway = String(id);
    const agent = await make('ai_gateways.agents.create', {
      ...{ id, name: 'Answers', slug: 'answers', provider: 'openai', upstream_secret_id: ids.openai_key },
      ...{ default_model: 'gpt-4o-mini', model_allowlist: ['gpt-4o-mini', 'gpt-4o'], budget_daily_usd: '5' },
      ...{ pii_redact_policy_id: ids.pii_policy },
    });
    await make('ai_gateways.agents.tokens.create', { id: agent.id, name: 'Help desk', expires_in_seconds: 86_400 });
  },
};
