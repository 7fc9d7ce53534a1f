import type { Seed } from '#server/kernel/seed.ts';

export const seed: Seed = {
  after: ['routes', 'ai-gateways'],
  run: async (make, ids) => {
    const { id } = await make('mcp_servers.create', {
      ...{ id: ids.ai_gateway, name: 'Weather tools', slug: 'weather', server_type: 'collection', allowed_tools: ['forecast'] },
    });
    await make('mcp_servers.tools.from_route', {
      ...{ id, route_id: ids.weather_route, method: 'GET', path: '/forecast', name: 'forecast' },
      description: 'The weather of a city tomorrow',
    });
  },
};
