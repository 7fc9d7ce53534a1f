import type { PageSamples } from '#components/shell/page-family.ts';

export const samples: PageSamples = {
  make: async (post, run) => {
    const gateway = await post('/ai-gateway/gateways', { name: `Tools ${run}`, slug: `tools-${run}` });
    const server = await post(`/ai-gateway/gateways/${gateway.id}/mcp-servers`, {
      name: `Tools ${run}`,
      slug: `tools-${run}`,
      server_type: 'collection',
    });
    const page = `/ai/mcp/${server.id}`;
    return [page, ...['privacy', 'connect', 'activity'].map((tab) => `${page}?tab=${tab}`)];
  },
};
