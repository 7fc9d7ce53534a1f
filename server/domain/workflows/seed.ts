import type { Seed } from '#server/kernel/seed.ts';

const node = (id: string, type: string, name: string, y: number, config: Record<string, unknown>) => ({
  ...{ id, type, name, position: { x: 0, y }, data: { config } },
});
const edge = (source: string, target: string, sourceHandle?: string) => ({
  ...{ id: `${source}-${target}`, source, target },
  ...(sourceHandle === undefined ? {} : { sourceHandle }),
});

export const seed: Seed = {
  run: async (make) => {
    const greeting = await make('workflows.create', {
      name: 'Price an order',
      description: 'Adds up an order and says whether somebody has to approve it',
      definition: {
        nodes: [
          node('trigger-node', 'trigger', 'Order', 0, { triggerType: 'manual' }),
          node('large', 'condition', 'Large?', 120, { mode: 'expression', expression: 'trigger.data.total > 1000' }),
          node('approve', 'transform', 'Ask for approval', 240, { fields: { text: 'Approve {{trigger.data.total | default(0)}}' } }),
          node('accept', 'transform', 'Accept', 240, { fields: { text: 'Accepted {{trigger.data.total | default(0)}}' } }),
        ],
        edges: [edge('trigger-node', 'large'), edge('large', 'approve', 'true'), edge('large', 'accept', 'false')],
      },
      enabled: true,
    });
    await make('workflows.create', {
      name: 'Tell us about failing calls',
      description: 'Posts every answer of 5xx to the chat of the team',
      definition: {
        nodes: [
          node('trigger-node', 'trigger', 'A call failed', 0, {
            triggerType: 'proxy_event',
            proxyEventConfig: { eventTypes: ['request.server_error'] },
          }),
          node('notify', 'http_request', 'Post to chat', 120, {
            method: 'POST',
            url: 'https://chat.example.com/hook',
            body: { text: '{{trigger.data.route_name}} answered {{trigger.data.response.status}}' },
            retry: { attempts: 2 },
          }),
        ],
        edges: [edge('trigger-node', 'notify')],
      },
      enabled: false,
    });
    await make('workflows.create', {
      name: 'Nightly report',
      description: 'Every night at two in Berlin',
      definition: {
        nodes: [
          node('trigger-node', 'trigger', 'Every night', 0, { triggerType: 'schedule', cron: '0 2 * * *', timezone: 'Europe/Berlin' }),
          node('report', 'transform', 'Write the report', 120, { fields: { title: 'Report of {{trigger.data.scheduled_at}}' } }),
        ],
        edges: [edge('trigger-node', 'report')],
      },
      enabled: false,
    });
    for (const total of [120, 4_200]) await make('workflows.execute', { id: greeting.id, input: { total } });
  },
};
