import type { Attack } from './attacks.ts';
import type { Workspaces } from './workspaces.ts';

const MEGABYTE = 1_000_000;
const TOKENS = 20;

/** Texts that detectors are slow on. */
const TEXTS: Record<string, string> = {
  prose: 'Please write to jane.doe@example.com or call +41 44 668 18 00 about card 4242 4242 4242 4242. ',
  digits: '4242 4242-4242.',
  addresses: 'a@a.a-a.',
};

let made = 0;
/** An agent with settings of the attacker, and calls of it with texts. */
async function agent({ make, upstream, ports, routeHeaders }: Workspaces, settings: Record<string, unknown>) {
  const slug = `agent-${++made}`;
  const route = await make('routes.create', { name: slug, slug, target_base_url: upstream });
  const gateway = await make('ai_gateways.create', { name: slug, slug, budget_daily_usd: '1000000' });
  const { id } = await make('ai_gateways.agents.create', {
    ...{ id: gateway.id, name: slug, slug, primary_route_id: route.id, default_model: 'bench-model' },
    ...settings,
  });
  const tokens: string[] = [];
  for (let i = 0; i < TOKENS; i++) tokens.push((await make('ai_gateways.agents.tokens.create', { id, scope: { rpm: 10_000 } })).token);
  const call = (n: number, content: string) => ({
    url: `http://127.0.0.1:${ports.proxy}/v1/ai/${slug}/v1/chat/completions`,
    headers: { Host: routeHeaders.Host ?? '', Authorization: `Bearer ${tokens[n % TOKENS]}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ model: 'bench-model', messages: [{ role: 'user', content }] }),
  });
  return { id, call };
}

const texts = Object.values(TEXTS).map((text) => text.repeat(MEGABYTE / text.length));
const textOf = (n: number): string => texts[n % texts.length] as string;

export const aiAttacks: readonly Attack[] = [
  {
    name: 'PII in texts of 1 MB, detectors of ours',
    prepare: async (scene) => {
      const policy = await scene.make('ai_controls.pii_policies.create', { name: 'built in', default_action: 'tokenize' });
      const { call } = await agent(scene, { pii_redact_policy_id: policy.id, pii_request_mode: 'tokenize' });
      return (n) => call(n, textOf(n));
    },
  },
  {
    name: 'PII in texts of 1 MB, twenty patterns',
    prepare: async (scene) => {
      const ids: string[] = [];
      for (let i = 0; i < 20; i++) {
        const pattern = `([a-z]+[0-9]*){1,${5 + i}}@[a-z.]{2,40}x${i}`;
        ids.push((await scene.make('ai_controls.pii_recognizers.create', { name: `pattern_${i}`, kind: 'regex', pattern })).id);
      }
      const policy = await scene.make('ai_controls.pii_policies.create', {
        name: 'patterns',
        recognizer_ids: ids,
        default_action: 'tokenize',
      });
      const { call } = await agent(scene, { pii_redact_policy_id: policy.id, pii_request_mode: 'tokenize' });
      return (n) => call(n, textOf(n));
    },
  },
  {
    name: 'prompt firewall on texts of 1 MB',
    prepare: async (scene) => {
      const heuristics = Array.from({ length: 10 }, (_, i) => ({
        name: `rule${i}`,
        kind: 'regex',
        pattern: `(ignore|forget)( [a-z]+){0,${10 + i}} x${i}`,
      }));
      const policy = await scene.make('ai_controls.firewall_policies.create', { name: 'Firewall', heuristics, action: 'block' });
      const { call } = await agent(scene, { firewall_policy_id: policy.id });
      const text = 'ignore all of the previous and forget '.repeat(MEGABYTE / 38);
      return (n) => call(n, text);
    },
  },
  {
    name: 'word lists of 256 KiB',
    prepare: async (scene) => {
      const ids: string[] = [];
      // As many as are accepted: there is a total.
      for (let i = 0; i < 20; i++) {
        const words = Array.from({ length: 16_000 }, (_, n) => `w${i}${n.toString(36).padStart(9, 'abcdefghi')}`).join('\n');
        const list = await scene
          .make('ai_controls.pii_recognizers.create', { name: `words_${i}`, kind: 'aho_corasick', pattern: words })
          .catch(() => null);
        if (list) ids.push(list.id);
      }
      const withLists = async (count: number): Promise<{ id: string }> => {
        try {
          const input = { name: `lists ${count}`, recognizer_ids: ids.slice(0, count), default_action: 'tokenize' };
          return await scene.make('ai_controls.pii_policies.create', input);
        } catch (error) {
          if (count === 0) throw error;
          return withLists(count - 1);
        }
      };
      const policy = await withLists(ids.length);
      const { call } = await agent(scene, { pii_redact_policy_id: policy.id, pii_request_mode: 'tokenize' });
      return (n) => call(n, textOf(n));
    },
  },
  {
    name: 'JSON Schemas for answers',
    prepare: async (scene) => {
      const { id } = await agent(scene, {});
      const bodies = SCHEMAS.map((output_schema) => JSON.stringify({ output_schema }));
      return (n) => ({
        ...{ url: `http://127.0.0.1:${scene.ports.api}/v1/ai-gateway/agents/${id}`, method: 'PATCH', headers: scene.apiHeaders },
        body: bodies[n % bodies.length] as string,
      });
    },
  },
  {
    name: 'an MCP server of 20,000 tools',
    prepare: async (scene) => {
      const { startToolServer } = await import('./tool-server.ts');
      const gateway = await scene.make('ai_gateways.create', { name: 'Tools', slug: 'tools', budget_daily_usd: '1000000' });
      const input = {
        id: gateway.id,
        name: 'Tools',
        slug: 'many-tools',
        transport: 'streamable_http',
        upstream_url: await startToolServer(20_000),
      };
      const { id } = await scene.make('mcp_servers.create', input);
      return () => ({
        url: `http://127.0.0.1:${scene.ports.api}/v1/ai-gateway/mcp-servers/${id}/refresh`,
        headers: scene.apiHeaders,
        body: '{}',
      });
    },
  },
];

const properties = (count: number, of: (i: number) => unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, of(i)]));
const nested = (depth: number): unknown => (depth === 0 ? {} : { allOf: [nested(depth - 1)] });
/** Schemas that take long to compile. */
const SCHEMAS: readonly unknown[] = [
  { type: 'object', properties: properties(3_000, () => ({ type: 'string' })) },
  { type: 'object', patternProperties: properties(1_000, (i) => ({ pattern: `^a{${i}}` })) },
  { oneOf: Array.from({ length: 1_000 }, () => ({ $ref: '#' })) },
  {
    $defs: Object.fromEntries(
      Array.from({ length: 60 }, (_, i) => [`d${i}`, { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] }]),
    ),
    $ref: '#/$defs/d0',
  },
  nested(500),
];
