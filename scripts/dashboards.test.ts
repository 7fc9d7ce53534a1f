import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { after, test } from 'node:test';
import { parse } from 'yaml';
import { measureHistory } from '#server/domain/request-logs/history/state.ts';
import { startGateway } from '#server/gateway/gateway.fixture.ts';
import { measureWorker } from '#server/jobs/worker-meters.ts';
import { measurePools } from '#server/platform/telemetry/pool-meters.ts';
import { measureProcess } from '#server/platform/telemetry/process-meters.ts';
import { scrape } from '#server/platform/telemetry/scrape.fixture.ts';
import { testDatabase } from '#server/testing/database.ts';

// What the dashboard and the alert rules ask for exists: a name that is gone would be an empty panel and an alert that never fires.

await testDatabase({ CLICKHOUSE_URL: 'http://127.0.0.1:9' });
await startGateway();
await Promise.all([
  import('#server/jobs/worker.ts'),
  import('#server/domain/deliveries/service.ts'),
  import('#server/platform/telemetry/otlp.ts'),
]);
const ends = [measureHistory(), measureWorker(), measurePools(), measureProcess('gateway')];
after(() => {
  for (const end of ends) end();
});

const { text } = await scrape();
const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name as string, type as string]));

function unknownIn(expression: string): string[] {
  return [...expression.matchAll(/\bsallyport_\w+/g)]
    .map(([name]) => name)
    .filter((name) => !types.has(name) && types.get(name.replace(/_(?:bucket|sum|count)$/, '')) !== 'histogram');
}

test('every metric of the dashboard is served', () => {
  const { panels } = JSON.parse(fs.readFileSync('deploy/grafana/sallyport.json', 'utf8')) as { panels: { targets?: { expr: string }[] }[] };
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  assert.ok(expressions.length > 30);
  assert.deepEqual(expressions.flatMap(unknownIn), []);
});

test('every metric of the alert rules is served', () => {
  const { groups } = parse(fs.readFileSync('deploy/prometheus/alerts.yaml', 'utf8')) as { groups: { rules: { expr: string }[] }[] };
  const expressions = groups.flatMap(({ rules }) => rules.map(({ expr }) => expr));
  assert.ok(expressions.length > 10);
  assert.deepEqual(expressions.flatMap(unknownIn), []);
});

test('every metric has help, and every label one of the names that are known', () => {
  for (const name of types.keys()) assert.match(text, new RegExp(`^# HELP ${name} (?!description missing).+$`, 'm'));
  const labels = new Set([...text.matchAll(/[{,](\w+)="/g)].map(([, label]) => label as string));
  const known = [
    'plane',
    'status',
    'outcome',
    'le',
    'reason',
    'state',
    'slice',
    'pool',
    'kind',
    'mode',
    'version',
    'role',
    'node',
    'surface',
    'job',
    'channel',
    'result',
    'signal',
  ];
  assert.deepEqual(
    [...labels].filter((label) => !known.includes(label)),
    [],
  );
});

const withoutPromtool = spawnSync('promtool', ['--version']).status === 0 ? false : 'promtool is not installed here';
const judged = (args: readonly string[], input = '') => {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' });
  return { status, told: `${stdout}${stderr}` };
};

test('Prometheus finds no fault in the metrics: names, units, types and help', { skip: withoutPromtool }, () => {
  const { status, told } = judged(['check', 'metrics'], text);
  assert.deepEqual([status, told], [0, '']);
});

test('Prometheus reads the alert rules and the scrape configuration', { skip: withoutPromtool }, () => {
  for (const args of [
    ['check', 'rules', '--lint-fatal', 'deploy/prometheus/alerts.yaml'],
    ['check', 'config', 'deploy/prometheus/scrape.yaml'],
  ]) {
    const { status, told } = judged(args);
    assert.equal(status, 0, told);
  }
});

test('a name that is not served would be found', () => {
  assert.deepEqual(unknownIn('rate(sallyport_no_such_metric_total[5m]) + sallyport_calls_total'), ['sallyport_no_such_metric_total']);
});

const promtool = (args: readonly string[], input = '') => {
  const { status, stdout, stderr, error } = spawnSync('promtool', args, { input, encoding: 'utf8' });
  return { there: error === undefined, status, said: `${stdout}${stderr}` };
};
const noPromtool = !promtool(['--version']).there && "promtool isn't on this machine (Debian: prometheus)";

test('promtool finds nothing wrong with the metrics, the alert rules and the scrape configuration', { skip: noPromtool }, () => {
  const metrics = promtool(['check', 'metrics'], text);
  assert.deepEqual([metrics.status, metrics.said], [0, '']);
  const rules = promtool(['check', 'rules', 'deploy/prometheus/alerts.yaml']);
  assert.equal(rules.status, 0, rules.said);
  const config = promtool(['check', 'config', '--syntax-only', 'deploy/prometheus/scrape.yaml']);
  assert.equal(config.status, 0, config.said);
  assert.notEqual(promtool(['check', 'metrics'], '# TYPE x counter\nx{ 1\n').status, 0, 'it would say so');
});
