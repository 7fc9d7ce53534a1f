import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { type Definition, hardProblem, withTriggerConfig } from './definition.shared.ts';
import { definitionOf } from './engine/running.fixture.ts';
import { firstError, isPublishable, problemsOf, secretsNamed } from './publishable.shared.ts';

const around = { sandbox: false, routes: new Set(['orders']), environments: new Set(['production']) };
const errorOf = (definition: unknown) => firstError(problemsOf(definition, around));
const one = (type: string, config: Record<string, unknown> = {}, trigger = {}): Definition =>
  definitionOf({ n: [type, config] }, ['trigger>n'], trigger);
const request = { method: 'POST', url: 'https://chat.example.com/hook' };

test('the worked example is publishable, and without its method says so', () => {
  const example = definitionOf(
    {
      is_prod: [
        'condition',
        { mode: 'expression', expression: "trigger.data.environment === 'production' && trigger.data.response.status >= 500" },
      ],
      notify: [
        'http_request',
        {
          ...request,
          headers: { Authorization: 'Bearer {{secret:CHAT_TOKEN}}' },
          body: { text: '{{trigger.data.route_name}}' },
          retry: { attempts: 2 },
        },
      ],
    },
    ['trigger>is_prod', 'is_prod:true>notify'],
    {
      triggerType: 'proxy_event',
      proxyEventConfig: { eventTypes: ['request.server_error'], routeFilter: ['2c9a1f00-1111-4222-8333-944455566677'] },
    },
  );
  const problems = problemsOf(example, around);
  assert.ok(isPublishable(problems), JSON.stringify(problems));
  assert.deepEqual(
    problems.map(({ node_id, severity }) => [node_id, severity]),
    [
      ['is_prod', 'warning'],
      ['notify', 'warning'],
    ],
  );
  assert.deepEqual(secretsNamed(example), [{ node_id: 'notify', field: 'headers.Authorization', by: 'name', secret: 'CHAT_TOKEN' }]);
  const notify = example.nodes[2];
  if (notify?.data?.config) delete notify.data.config.method;
  assert.equal(errorOf(example), 'node "notify": method is required');
});

test('every type says what its config lacks', () => {
  for (const [definition, message] of [
    [{}, 'the definition needs a trigger'],
    [one('transform', {}), 'node "n": fields or template is required'],
    [one('http_request', { method: 'GET' }), 'node "n": url is required'],
    [one('http_request', { method: 'GET', url: 'http://example.com' }), 'node "n": url must begin with https://'],
    [
      one('http_request', { method: 'BREW', url: 'https://example.com' }),
      'node "n": method must be one of GET, HEAD, POST, PUT, PATCH, DELETE',
    ],
    [one('http_request', { ...request, timeoutMs: 5 }), 'node "n": timeoutMs must be a whole number from 1000 to 60000'],
    [one('http_request', { ...request, retry: { attempts: 6 } }), 'node "n": retry.attempts must be a whole number from 0 to 5'],
    [one('http_request', { ...request, auth: { type: 'basic', username: 'u' } }), 'node "n": auth.password is required'],
    [
      one('http_request', { ...request, url: 'https://{{secret:X}}/' }),
      'node "n": url can\'t name a secret: only headers, query, body and auth of HTTP requests can',
    ],
    [
      one('transform', { template: '{{secret:X}}' }),
      'node "n": template can\'t name a secret: only headers, query, body and auth of HTTP requests can',
    ],
    [one('transform', { template: '{{nobody.x}}' }), 'node "n": template refers to "nobody", which doesn\'t exist'],
    [one('route_request', { method: 'GET', path: '/x', route: 'gone' }), 'node "n": route "gone" doesn\'t exist'],
    [one('route_request', { method: 'GET', path: 'x', route: 'orders' }), 'node "n": path must begin with /'],
    [
      one('route_request', { method: 'GET', path: '/x', route: 'orders', environment: 'moon' }),
      'node "n": environment "moon" doesn\'t exist',
    ],
    [one('email', { subject: 's', text: 't' }), 'node "n": to is required'],
    [one('email', { to: 'a@example.com', subject: 's' }), 'node "n": text or html is required'],
    [one('sms', { to: '+49' }), 'node "n": text is required'],
    [one('code', { code: 'return 1' }), 'node "n": code blocks cannot run yet'],
    [one('condition', {}), 'node "n": rules is required'],
    [
      one('condition', { mode: 'expression', expression: 'trigger.data ==' }),
      'node "n": expression can\'t be read: === or !== expected at character 14 of "trigger.data =="',
    ],
    [
      one('condition', { expression: '{{trigger.data.n}} == 1' }),
      'node "n": expression can\'t be read: the id of a node expected at character 1 of "{{trigger.data.n}} == 1". Write it without {{ }}',
    ],
    [one('router', { routes: [] }), 'node "n": routes is required'],
    [one('loop', { items: '{{trigger.data}}' }), 'node "n": needs a body: an edge from its handle body'],
    [one('delay', {}), 'node "n": amount is required'],
    [one('delay', { amount: 31, unit: 'days' }), 'node "n": amount must be a time from 1 second to 30 days'],
    [one('set_response', {}), 'node "n": needs a webhook trigger that waits for it (mode sync)'],
    [one('teleport', {}), 'node "n": has an unknown type "teleport"'],
    [
      one('transform', { template: 1 }, { triggerType: 'never' }),
      'node "trigger-node": triggerType must be one of manual, webhook, schedule, proxy_event',
    ],
    [
      one('transform', { template: 1 }, { triggerType: 'schedule', cron: '99 * * * *' }),
      'node "trigger-node": cron has a minute that can\'t be read: 99 (0 to 59)',
    ],
    [
      one('transform', { template: 1 }, { triggerType: 'schedule', cron: '1 * * * *', timezone: 'Mars' }),
      'node "trigger-node": timezone must be a zone such as Europe/Berlin',
    ],
    [
      one('transform', { template: 1 }, { triggerType: 'proxy_event', proxyEventConfig: { eventTypes: [] } }),
      'node "trigger-node": proxyEventConfig.eventTypes must list at least one event',
    ],
  ] as const)
    assert.equal(errorOf(definition), message);
});

test('edges join nodes that exist by handles that they have, and lead only forwards', () => {
  const nodes = {
    a: ['transform', { template: 1 }],
    b: ['transform', { template: 1 }],
    l: ['loop', { items: [1] }],
    x: ['transform', { template: 1 }],
  } as Record<string, [string, Record<string, unknown>]>;
  const base = ['trigger>l', 'l:body>x'];
  assert.equal(errorOf(definitionOf(nodes, [...base, 'trigger>a', 'a>b'])), null);
  for (const [edges, message] of [
    [['a>gone'], 'an edge ends at "gone", which doesn\'t exist'],
    [['a:false>b'], 'node "a": has no handle "false"'],
    [['a>b', 'b>a'], /is on a circle/],
    [['a>trigger-node'], 'node "a": leads back to the trigger'],
    [['trigger>a', 'a>x'], 'node "x": is reached from inside and outside of the body of a loop'],
    [['trigger>a', 'x>a'], 'node "a": is reached from inside and outside of the body of a loop'],
  ] as const) {
    const error = errorOf(definitionOf(nodes, [...base, ...edges])) ?? '';
    if (typeof message === 'string') assert.equal(error, message);
    else assert.match(error, message);
  }
  const deep = definitionOf(
    {
      l1: ['loop', { items: [1] }],
      l2: ['loop', { items: [1] }],
      l3: ['loop', { items: [1] }],
      l4: ['loop', { items: [1] }],
      x: ['transform', { template: 1 }],
    },
    ['trigger>l1', 'l1:body>l2', 'l2:body>l3', 'l3:body>l4', 'l4:body>x'],
  );
  assert.equal(errorOf(deep), 'node "l4": loops can be nested 3 deep');
});

test('hard checks hold for drafts too', () => {
  const node = (id: unknown, type: unknown = 'transform') => ({ nodes: [{ id, type }], edges: [] });
  assert.equal(hardProblem({}), null);
  for (const [definition, path] of [
    [null, ''],
    [[], ''],
    ['x', ''],
    [{ nodes: {} }, 'nodes'],
    [{ edges: 1 }, 'edges'],
    [{ x: 'a'.repeat(600_000) }, ''],
    [{ nodes: Array.from({ length: 201 }, (_, i) => ({ id: `n${i}`, type: 'code' })) }, 'nodes'],
    [node(undefined), 'nodes[0].id'],
    [node('trigger'), 'nodes[0].id'],
    [node('9a'), 'nodes[0].id'],
    [node('a'.repeat(65)), 'nodes[0].id'],
    [node('a', ''), 'nodes[0].type'],
    [
      {
        nodes: [
          { id: 'a', type: 'x' },
          { id: 'a', type: 'x' },
        ],
      },
      'nodes[1].id',
    ],
    [{ edges: [{ source: 'a' }] }, 'edges[0]'],
    [{ nodes: [null] }, 'nodes[0]'],
  ] as const)
    assert.equal(hardProblem(definition)?.path, path, JSON.stringify(definition)?.slice(0, 60));
  const changed = withTriggerConfig(one('code'), { triggerType: 'schedule' });
  assert.deepEqual(changed.nodes[0]?.data?.config, { triggerType: 'schedule' });
});

test('a literal that looks like a credential is warned of, and one that is a secret is not', () => {
  const warnings = (config: Record<string, unknown>) =>
    problemsOf(one('http_request', { ...request, ...config }), around).filter(({ message }) => message.includes('keep it as a secret'));
  assert.equal(warnings({ headers: { Authorization: 'Bearer abcdefghijklmnop' } }).length, 1);
  assert.equal(warnings({ headers: { Authorization: 'Bearer {{secret:TOKEN}}' } }).length, 0);
});

test('the examples of a schedule and a condition in the documentation are publishable', () => {
  const page = readFileSync('docs/workflows.md', 'utf8');
  const nodes = [...page.matchAll(/^\{"id": .*\}$/gm)].map(([line]) => JSON.parse(line));
  assert.deepEqual(
    nodes.map(({ type }) => type),
    ['trigger', 'condition'],
  );
  const definition = { nodes, edges: [{ source: 'trigger-node', target: 'many' }] };
  assert.ok(isPublishable(problemsOf(definition, around)), JSON.stringify(problemsOf(definition, around)));
});
