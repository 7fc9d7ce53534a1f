import type { PageSamples } from '#components/shell/page-family.ts';

const definition = {
  nodes: [
    { id: 'trigger-node', type: 'trigger', position: { x: 0, y: 0 }, data: { config: { triggerType: 'manual' } } },
    {
      id: 'is_large',
      type: 'condition',
      position: { x: 0, y: 136 },
      data: { config: { mode: 'expression', expression: 'trigger.data.total > 100' } },
    },
    {
      id: 'reply',
      type: 'transform',
      position: { x: -160, y: 272 },
      data: { config: { fields: { text: 'Large: {{trigger.data.total}}' } } },
    },
  ],
  edges: [
    { id: 'e1', source: 'trigger-node', target: 'is_large', sourceHandle: 'out' },
    { id: 'e2', source: 'is_large', target: 'reply', sourceHandle: 'true' },
  ],
};

export const samples: PageSamples = {
  make: async (post) => {
    const { id } = await post('/workflows', { name: 'page-test', definition });
    const started = await post(`/workflows/${id}/execute`, { input: { total: 120 } });
    const page = `/workflows/${id}`;
    return [page, ...['runs', 'versions', 'activity', 'settings'].map((tab) => `${page}?tab=${tab}`), `/runs/${started.id}`];
  },
};
