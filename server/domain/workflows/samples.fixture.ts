import type { Ctx } from '#server/kernel/context.ts';
import { type Fixture, fresh, idOf, made, nothing, type Sample } from '#server/testing/factories.ts';
import type { Definition, WorkflowNode } from './definition.shared.ts';

export const node = (id: string, type: string, config: Record<string, unknown>): WorkflowNode => ({ id, type, name: id, data: { config } });

/** A definition whose nodes follow each other after a trigger. */
export const chain = (trigger: Record<string, unknown>, ...nodes: WorkflowNode[]): Definition => {
  const all = [node('trigger-node', 'trigger', trigger), ...nodes];
  return { nodes: all, edges: nodes.map(({ id }, i) => ({ id: `e${i}`, source: all[i]?.id ?? '', target: id })) };
};

export const manual = (): Definition =>
  chain({ triggerType: 'manual' }, node('greet', 'transform', { fields: { text: 'Hello {{trigger.data.name}}' } }));
export const hooked = (config: Record<string, unknown> = {}): Definition =>
  chain({ triggerType: 'webhook', ...config }, node('greet', 'transform', { fields: { text: 'Hello {{trigger.data.name}}' } }));

export const workflow: Sample = async () => ({ name: fresh('workflow'), definition: manual() });
const existing = idOf('workflows.create', workflow);
const withHook = idOf('workflows.create', async () => ({ name: fresh('workflow'), definition: hooked(), enabled: true }));

/** A run that is queued: no worker takes it in the process of a test. */
async function queued(ctx: Ctx): Promise<{ id: string; workflow_id: string }> {
  return made(ctx, 'workflows.execute', { ...(await existing(ctx)), input: { name: 'Ada' } });
}
const execution: Sample = async (ctx) => ({ id: (await queued(ctx)).id });
async function cancelled(ctx: Ctx): Promise<{ id: string }> {
  const { id } = await queued(ctx);
  await made(ctx, 'workflows.cancel', { id });
  return { id };
}

export const samples: Record<string, Sample> = {
  'workflows.list': nothing,
  'workflows.create': workflow,
  'workflows.validate': async () => ({ definition: manual() }),
  'workflows.get': existing,
  'workflows.update': async (ctx) => ({ ...(await existing(ctx)), description: 'changed' }),
  'workflows.delete': existing,
  'workflows.execute': async (ctx) => ({ ...(await existing(ctx)), input: { name: 'Ada' } }),
  'workflows.executions': existing,
  'workflows.get_execution': execution,
  'workflows.cancel': execution,
  'workflows.retry': cancelled,
  'workflows.run': existing,
  'workflows.draft': existing,
  'workflows.save_draft': async (ctx) => ({ ...(await existing(ctx)), definition: hooked(), base_version: 0 }),
  'workflows.publish': existing,
  'workflows.versions': existing,
  'workflows.restore': async (ctx) => ({ ...(await existing(ctx)), n: '1' }),
  'workflows.duplicate': existing,
  'workflows.export': existing,
  'workflows.import': async () => ({ workflow: { name: fresh('workflow'), definition: manual() } }),
  'workflows.browse_executions': nothing,
  'workflows.inspect_execution': execution,
  'workflows.usage': nothing,
  'workflows.operations': nothing,
  'workflows.webhook_url': withHook,
  'workflows.rotate_webhook_url': withHook,
  'workflows.test_node': async (ctx) => {
    const secret = fresh('WORKFLOW').replaceAll('-', '_');
    await made(ctx, 'secrets.create', { name: secret, value: 'canary-of-a-step' });
    // Nobody listens there.
    const call = { method: 'POST', url: 'http://127.0.0.1:65001/hook', headers: { 'X-Token': `{{secret:${secret}}}` } };
    const { id } = await made(ctx, 'workflows.create', {
      name: fresh('workflow'),
      definition: chain({ triggerType: 'manual' }, node('call', 'http_request', call)),
    });
    return { id, node_id: 'call' };
  },
};

export const unaudited: Fixture['unaudited'] = {
  'workflows.save_draft': 'a draft is nothing that runs: publishing it is audited',
};
export const revealed: Fixture['revealed'] = {
  'workflows.webhook_url': ({ url }) => [url.slice(url.lastIndexOf('/') + 1)],
  'workflows.test_node': () => ['canary-of-a-step'],
};
export const dependsOnState = [
  /must be an object|must be a list|must have at most|is required|is used twice|must begin with|must be at most/,
  /doesn't exist in this space/,
  /definition/,
  /version: doesn't exist/,
];

export const harmless = {
  // A draft runs nothing. A definition is judged step by step, and who changes it, its environment or `enabled` answers for it from then on.
  'workflows.save_draft': ['definition', 'base_version'],
  'workflows.update': ['name', 'definition', 'description', 'trigger_config', 'environment', 'enabled', 'timeout_seconds'],
};

export const grantless = {
  'workflows.create': 'no step decrypts or detokenizes; what a step sends is judged by templates',
  'workflows.duplicate': 'no step decrypts or detokenizes; what a step sends is judged by templates',
  'workflows.import': 'no step decrypts or detokenizes; what a step sends is judged by templates',
  'workflows.restore': 'no step decrypts or detokenizes; what a step sends is judged by templates',
  'workflows.save_draft': 'no step decrypts or detokenizes; what a step sends is judged by templates',
  'workflows.update': 'no step decrypts or detokenizes; what a step sends is judged by templates',
};

const sending = (): Definition =>
  chain(
    { triggerType: 'manual' },
    node('send', 'http_request', {
      ...{ method: 'POST', url: 'https://api.example.com/', headers: { 'X-A': 'a' }, query: { b: 'b' }, body: { c: ['c'] } },
      auth: { type: 'basic', username: 'd', password: 'e' },
    }),
  );
export const templated: Fixture['templated'] = {
  'workflows.create': async () => ({ name: fresh('workflow'), definition: sending() }),
  'workflows.update': async (ctx) => ({ ...(await existing(ctx)), definition: sending() }),
  'workflows.save_draft': async (ctx) => ({ ...(await existing(ctx)), definition: sending(), base_version: 0 }),
  'workflows.import': async () => ({ workflow: { name: fresh('workflow'), definition: sending() } }),
};
