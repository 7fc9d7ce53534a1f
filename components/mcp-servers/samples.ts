import type { PageSamples } from '#components/shell/page-family.ts';

export const samples: PageSamples = {
  make: async (post) => {
    const gateway = await post('/ai-gateway/gateways', { name: 'Tools', slug: 'tools' });
    const server = await post(`/ai-gateway/gateways/${gateway.id}/mcp-servers`, {
      name: 'Tools',
      slug: 'tools',
      server_type: 'collection',
    });
    const page = `/ai/mcp/${server.id}`;
    return [page, ...['privacy', 'connect', 'activity'].map((tab) => `${page}?tab=${tab}`)];
  },
};
