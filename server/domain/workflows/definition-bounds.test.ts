import assert from 'node:assert/strict';
import test from 'node:test';
import { neverBlocks } from '#server/testing/loop-probe.ts';
import { leastGap, nextFire, parseCron } from './cron.shared.ts';
import { hardProblem, type WorkflowNode } from './definition.shared.ts';
import { firstError, isPublishable, problemsOf, secretsNamed } from './publishable.shared.ts';

const times = <T>(n: number, of: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => of(i));
const node = (config: unknown, type = 'transform', id = 'n') => ({ id, type, data: { config } });
const trigger = (config: object = { triggerType: 'manual' }) => node(config, 'trigger', 'trigger-node');
const definition = (nodes: object[], edges: object[] = []) => ({ nodes: [trigger(), ...nodes], edges });
const started = (config: object) => ({ nodes: [trigger(config)], edges: [] });
/** As many of these as a definition has room for. */
const filling = (item: (i: number) => unknown, most = 9_800, room = 500 * 1024) => {
  const list: unknown[] = [];
  for (let size = 0; list.length < most; ) {
    const next = item(list.length);
    size += JSON.stringify(next).length + 1;
    if (size > room) break;
    list.push(next);
  }
  return list;
};
const around = { sandbox: false, routes: new Set<string>(), environments: new Set<string>() };

const EXPRESSION = 'n&&n||!n&&(n<n)||'.repeat(55);
const routers = times(24, (i) =>
  node({ routes: times(20, (j) => ({ id: `r${j}`, expression: `${EXPRESSION}n` })) }, 'router', i === 0 ? 'n' : `n${i}`),
);
const LARGEST: Record<string, unknown> = {
  texts: definition([node({ template: filling(() => 'a') })]),
  "placeholders that can't be read": definition([node({ template: filling(() => '{{') })]),
  "secrets that can't be read": definition([node({ template: filling(() => '{{secret:') })]),
  'references to nothing': definition([node({ template: filling(() => '{{x}}') })]),
  'long references': definition([node({ template: filling(() => `{{trigger${'.abcdefghijkl'.repeat(39)}}}`) })]),
  filters: definition([
    node({ template: filling(() => "{{trigger|upper|lower|trim|default('aaaaaaaaaaaaaaaaaaaa')|replace('aaaaaaaaaa','b')}}") }),
  ]),
  'a long name above many texts': definition([node({ ['n'.repeat(300_000)]: filling(() => 'a', 9_800, 200_000) })]),
  names: definition([node({ template: Object.fromEntries(times(9_800, (i) => [`{{name${i}`, ''])) })]),
  expressions: definition(routers),
  'routes of one router': definition(
    [node({ routes: times(4_000, () => ({ id: 'r' })) }, 'router'), node({}, 'transform', 'm')],
    times(300, () => ({ source: 'n', target: 'm' })),
  ),
  'loops in handlers of loops': definition(
    [
      ...times(49, (i) => node({ items: [] }, 'loop', `l${i}`)),
      ...times(49, (i) => node({ scope: 'node', catch: times(150, (j) => `l${j % 49}`) }, 'error_handler', `h${i}`)),
    ],
    [
      ...times(48, (i) => ({ source: `l${i}`, target: `l${i + 1}`, sourceHandle: 'body' })),
      ...times(49, (i) => ({ source: `h${i}`, target: `l${(i * 7) % 49}` })),
    ],
  ),
  circles: definition(
    times(99, (i) => node({ template: 1 }, 'transform', `n${i}`)),
    times(300, (i) => ({ source: `n${i % 99}`, target: `n${(i * 7 + 1) % 99}` })),
  ),
  'events by name': started({
    triggerType: 'proxy_event',
    proxyEventConfig: { eventTypes: filling((i) => `x${i}`, 9_700), conditions: times(50, () => ({})) },
  }),
  'a cron of a thousand items': started({ triggerType: 'schedule', cron: `${'0,'.repeat(200_000)}0 * * * *` }),
  'a cron of every minute of the rarest day': started({
    triggerType: 'schedule',
    cron: '0-59 0-23 29 2 */7',
    timezone: 'Africa/Casablanca',
  }),
  credentials: definition([node({ template: filling(() => `sk_live_${'a'.repeat(40)}`) })]),
  'credentials in every node': definition(
    times(99, (i) => node({ template: Object.fromEntries(times(90, (j) => [`n${j}_password`, 'a8Kd93mXq0'])) }, 'transform', `n${i}`)),
  ),
  secrets: definition([node({ method: 'GET', url: 'https://a.example', headers: filling((i) => `{{secret:a${i}}}`) }, 'http_request')]),
  'one long placeholder': definition([node({ template: `{{trigger${' '.repeat(200_000)}|default('${'\\a'.repeat(75_000)}')}}` })]),
};

for (const [what, hostile] of Object.entries(LARGEST))
  test(`checking a definition of ${what} doesn't block the loop, and lists at most a hundred problems`, async () => {
    assert.equal(hardProblem(hostile), null, 'it is one that may be stored');
    await neverBlocks(async () => {
      const problems = problemsOf(hostile, around);
      assert.ok(problems.length <= 101, String(problems.length));
      assert.ok(JSON.stringify(problems).length < 60_000);
    });
    await neverBlocks(async () => secretsNamed(hostile));
  });

test('what is too large to be looked into is refused before it is looked into', async () => {
  const deep = JSON.parse(`${'['.repeat(70)}${']'.repeat(70)}`);
  const refused: [string, unknown, RegExp][] = [
    ['values', definition([node({ template: times(10_000, () => 1) })]), /must have at most 10,000 members and items in all/],
    ['depth', definition([node({ template: deep })]), /must be at most 64 levels deep/],
    [
      'edges',
      definition(
        [node({})],
        times(1_001, () => ({ source: 'n', target: 'n' })),
      ),
      /edges must have at most 1,000 edges/,
    ],
  ];
  for (const [what, hostile, message] of refused)
    await neverBlocks(async () => assert.match(firstError(problemsOf(hostile, around)) ?? '', message, what));
});

test('warnings without end hide no error of a later node, and keep nothing from being live', () => {
  const warned = node({ template: Object.fromEntries(times(150, (i) => [`n${i}_password`, 'a8Kd93mXq0'])) });
  const others = [node({ template: 1 }, 'transform', 'm'), node({}, 'transform', 'last')];
  const severities = (nodes: object[]) => problemsOf(definition([warned, ...nodes]), around).map(({ severity }) => severity);
  assert.deepEqual([severities(others).length, severities(others)[0]], [101, 'error']);
  assert.equal(firstError(problemsOf(definition([warned, ...others]), around)), 'node "last": fields or template is required');
  assert.equal(isPublishable(problemsOf(definition([warned, ...others]), around)), false);
  assert.equal(isPublishable(problemsOf(definition([warned]), around)), true);
});

test('a definition with more problems than are listed says so', () => {
  const problems = problemsOf(definition([node({ template: times(500, () => '{{x}}') })]), around);
  assert.deepEqual([problems.length, problems.at(-1)?.severity], [101, 'error']);
  assert.match(problems.at(-1)?.message ?? '', /more than the 100 problems listed here: solve these first/);
});

test('handlers of nodes in a loop, and what follows them, belong to it however they are chained', () => {
  const nodes: WorkflowNode[] = [
    node({ items: '{{trigger.data}}' }, 'loop', 'each'),
    node({ template: 1 }, 'transform', 'a'),
    node({ scope: 'node', catch: ['a'] }, 'error_handler', 'h'),
    node({ template: 1 }, 'transform', 'b'),
    node({ scope: 'node', catch: ['b'] }, 'error_handler', 'k'),
  ] as WorkflowNode[];
  const edges = [
    ...[
      { source: 'trigger-node', target: 'each' },
      { source: 'each', target: 'a', sourceHandle: 'body' },
    ],
    { source: 'h', target: 'b' },
  ];
  assert.deepEqual(
    problemsOf(definition(nodes, edges), around).filter(({ severity }) => severity === 'error'),
    [],
  );
});

test('schedules of the rarest days and of every minute are worked out without blocking', async () => {
  for (const text of ['0 0 29 2 *', '0-59 0-23 1 1 *', '* 0-23 29 2 *', `${'0,'.repeat(240)}0 0 29 2 *`])
    for (const zone of ['UTC', 'Africa/Casablanca', 'Australia/Lord_Howe']) {
      const cron = parseCron(text);
      assert.ok(typeof cron === 'object', text);
      await neverBlocks(async () => leastGap(cron, new Date()));
      await neverBlocks(async () => nextFire(cron, zone, new Date()));
    }
  for (const never of ['0 0 30 2 *', '* * 31 2,4,6,9,11 *', `${'x,'.repeat(240)}0 0 29 2 *`])
    await neverBlocks(async () => assert.equal(typeof parseCron(never), 'string'));
  const rare = parseCron('0 0 29 2 *');
  assert.ok(typeof rare === 'object' && leastGap(rare, new Date()) > 60 * 24 * 365);
});
