import type { Attack } from './attacks.ts';
import type { Workspaces } from './workspaces.ts';

const KIB = 1024;

/** Values of a workflow's steps that grow. `large` is what a run begins with. */
const TEMPLATES: Record<string, unknown> = {
  'a text that grows by every filter': `{{trigger.data.text${" | replace('a', 'aaaaaaaaaa')".repeat(9)}}}`,
  'pieces that are joined and split in turn': `{{trigger.data.text${' | split | join'.repeat(5)}}}`.repeat(100),
  'lists as text': '{{trigger.data.list | json}}'.repeat(200),
  'base64 of base64': `{{trigger.data.text${' | base64'.repeat(10)}}}`,
};

const node = (id: string, type: string, config: Record<string, unknown>) => ({ id, type, name: id, data: { config } });
const workflowOf = (template: unknown) => ({
  nodes: [node('trigger-node', 'trigger', { triggerType: 'manual' }), node('grow', 'transform', { fields: { out: template } })],
  edges: [{ id: 'e0', source: 'trigger-node', target: 'grow' }],
});

const posts = (scene: Workspaces, path: string, bodies: readonly string[]) => (n: number) => ({
  url: `http://127.0.0.1:${scene.ports.api}${path}`,
  headers: scene.apiHeaders,
  body: bodies[n % bodies.length] as string,
});

export const apiAttacks: readonly Attack[] = [
  {
    name: 'workflow expressions',
    prepare: async (scene) => {
      const ids: string[] = [];
      for (const [name, template] of Object.entries(TEMPLATES))
        ids.push((await scene.make('workflows.create', { name: name.slice(0, 60), definition: workflowOf(template), enabled: true })).id);
      const input = { text: 'a,'.repeat(60 * KIB), list: Array.from({ length: 20_000 }, () => 1) };
      const body = JSON.stringify({ input });
      return (n) => posts(scene, `/v1/workflows/${ids[n % ids.length]}/execute`, [body])(n);
    },
  },
  {
    name: 'definitions of workflows',
    prepare: async (scene) => {
      const template = Array.from({ length: 3_000 }, () => `{{trigger.data.a${' | upper'.repeat(8)}}}`).join('');
      return posts(scene, '/v1/workflows/validate', [JSON.stringify({ definition: workflowOf(template) })]);
    },
  },
  {
    name: 'brackets for sign-up',
    prepare: async (scene) => posts(scene, '/v1/signup', [`{"email":${'['.repeat(1_000_000)}`, `{"a":"${'\\u005b'.repeat(160_000)}"}`]),
  },
];
