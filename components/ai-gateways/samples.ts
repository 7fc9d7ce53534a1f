import type { PageSamples } from '#components/shell/page-family.ts';

const TABS = ['connect', 'tokens', 'activity', 'upstream', 'models', 'budget', 'privacy', 'firewall', 'output', 'cache', 'general'];

export const samples: PageSamples = {
  make: async (post) => {
    const gateway = await post('/ai-gateway/gateways', { name: 'Page test', slug: 'page-test' });
    const secret = await post('/secrets', { name: 'AI_PAGE_TEST', value: 'a provider’s key' });
    const agent = await post(`/ai-gateway/gateways/${gateway.id}/agents`, {
      name: 'Page test',
      slug: 'page-test',
      provider: 'openai',
      upstream_secret_id: secret.id,
    });
    const gatewayPage = `/ai/gateways/${gateway.id}`;
    const agentPage = `/ai/agents/${agent.id}`;
    return [
      gatewayPage,
      ...['mcp', 'tokens', 'settings'].map((tab) => `${gatewayPage}?tab=${tab}`),
      agentPage,
      ...TABS.map((tab) => `${agentPage}?tab=${tab}`),
    ];
  },
};
