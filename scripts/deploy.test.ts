import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { variableNames } from '../server/platform/env.ts';

// What deployments are made of, judged by the tools that read it where they are installed: helm, kubeconform (with the schemas that
// scripts/kubernetes-schemas.ts writes into VECTORS_DIR) and docker compose.

const CHART = 'deploy/helm/sallyport';
/** Variables of Node, and of the official packages for telemetry, which we don't read ourselves. */
const OTHERS = /^(?:NODE_OPTIONS|OTEL_\w+)$/;
const schemas = path.join(process.env.VECTORS_DIR ?? '', 'kubernetes');

const missing = (program: string, ...args: string[]): string | false =>
  spawnSync(program, args, { stdio: 'ignore' }).status === 0 ? false : `${[program, ...args].join(' ')} doesn't run here`;
const withoutHelm = missing('helm', 'version');
const withoutKubeconform =
  withoutHelm || missing('kubeconform', '-v') || (!fs.existsSync(schemas) && 'VECTORS_DIR has no schemas of Kubernetes');
const withoutCompose = missing('docker', 'compose', 'version');

const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'sallyport-deploy-'));
after(() => fs.rmSync(scratch, { recursive: true, force: true }));

/** Ways to install the chart. */
const INSTALLATIONS: Record<string, Record<string, unknown>> = {
  'as it comes': {},
  'with everything on': {
    image: { repository: 'registry.example.com/sallyport', tag: '1.2.3' },
    imagePullSecrets: [{ name: 'registry' }],
    settings: { TRUSTED_PROXIES: '10.0.0.0/8', SNAPSHOT_MAX_AGE_SECONDS: 7200 },
    gateway: {
      nodeSelector: { pool: 'edge' },
      tolerations: [{ key: 'edge', operator: 'Exists' }],
      affinity: { podAntiAffinity: {} },
      autoscaling: { enabled: true },
    },
    worker: { nodeSelector: { pool: 'jobs' }, tolerations: [{ key: 'jobs', operator: 'Exists' }], affinity: { podAntiAffinity: {} } },
    service: { type: 'LoadBalancer', annotations: { 'example.com/internal': 'true' } },
    metrics: { port: 9500, serviceMonitor: { enabled: true, labels: { release: 'prometheus' } } },
    networkPolicy: {
      ingressFrom: [{ namespaceSelector: {} }],
      metricsFrom: [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }],
      egressTo: [{ ipBlock: { cidr: '10.1.2.3/32' } }],
    },
    podAnnotations: { 'example.com/team': 'platform' },
    podLabels: { team: 'platform' },
  },
  'with everything off': {
    gateway: { replicas: 1 },
    worker: { replicas: 1 },
    podDisruptionBudget: { enabled: false },
    migrations: { enabled: false },
    networkPolicy: { enabled: false },
  },
};

function valuesOf(name: string): string {
  const file = path.join(scratch, `${name.replaceAll(' ', '-')}.json`);
  fs.writeFileSync(file, JSON.stringify({ existingSecret: 'sallyport', ...INSTALLATIONS[name] }));
  return file;
}

function succeeds(program: string, args: readonly string[], options: { input?: string; env?: Record<string, string> } = {}): string {
  const { status, stdout, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    ...(options.input !== undefined && { input: options.input }),
    env: { ...process.env, ...options.env },
  });
  assert.equal(status, 0, `${program} ${args.join(' ')}\n${stdout}\n${stderr}`);
  return stdout;
}

/** A helm that was built from its module believes in a very old cluster. */
const CLUSTER = ['--kube-version', '1.33.0'];
const rendered = (name: string) => succeeds('helm', ['template', 'release', CHART, ...CLUSTER, '--values', valuesOf(name)]);

type Container = { name: string; command: string[]; env: { name: string; value: string }[] };
type Rendered = { kind: string; metadata: { name: string }; spec: { template: { spec: { containers: Container[] } } } };

for (const name of Object.keys(INSTALLATIONS)) {
  test(`helm finds no fault in the chart installed ${name}`, { skip: withoutHelm }, () => {
    succeeds('helm', ['lint', '--strict', CHART, ...CLUSTER, '--values', valuesOf(name)]);
  });

  test(`every object of the chart installed ${name} is one that Kubernetes knows`, { skip: withoutKubeconform }, () => {
    const location = `${schemas}/{{ .ResourceKind }}{{ .KindSuffix }}.json`;
    // The Prometheus Operator's kind has its schema in the cluster.
    const told = succeeds('kubeconform', ['-strict', '-summary', '-skip', 'ServiceMonitor', '-schema-location', location], {
      input: rendered(name),
    });
    assert.match(told, /Invalid: 0, Errors: 0/);
  });

  test(`containers of the chart installed ${name} run what exists, with settings that exist`, { skip: withoutHelm }, () => {
    const objects = parseAllDocuments(rendered(name)).map((document) => document.toJS() as Rendered | null);
    const containers = objects.flatMap((object) => object?.spec?.template?.spec.containers ?? []);
    assert.ok(containers.length >= 3);
    for (const { command, env } of containers) {
      assert.ok(fs.existsSync(command.at(-1) ?? ''), command.join(' '));
      assert.deepEqual(env.map((variable) => variable.name).filter(unknown), []);
    }
  });
}

test('a chart without the name of its secret is not installed', { skip: withoutHelm }, () => {
  const { status, stderr } = spawnSync('helm', ['template', 'release', CHART, ...CLUSTER], { encoding: 'utf8' });
  assert.equal(status, 1);
  assert.match(stderr, /Set existingSecret/);
});

type Service = { command: string[]; environment: Record<string, string>; depends_on?: Record<string, unknown> };

test('services of compose.yaml run what exists, with settings that exist', () => {
  const { services } = parse(fs.readFileSync('compose.yaml', 'utf8'), { merge: true }) as { services: Record<string, Service> };
  for (const role of ['migrate', 'gateway', 'web', 'worker']) {
    const { command, environment } = services[role] as Service;
    assert.ok(fs.existsSync(command.at(-1) ?? ''), role);
    assert.deepEqual(Object.keys(environment).filter(unknown), [], role);
    if (role !== 'migrate') assert.equal(environment.SALLYPORT_ROLES, role);
  }
  for (const { depends_on = {} } of Object.values(services)) for (const name of Object.keys(depends_on)) assert.ok(services[name], name);
});

test('docker compose reads compose.yaml, and asks for what only the operator knows', { skip: withoutCompose }, () => {
  const compose = ['compose', '--file', 'compose.yaml', '--env-file', '/dev/null', 'config', '--quiet'];
  succeeds('docker', compose, { env: { POSTGRES_PASSWORD: 'p', MASTER_KEY_B64: 'k' } });
  const { status, stderr } = spawnSync('docker', compose, { encoding: 'utf8', env: { NODE_ENV: 'test', PATH: process.env.PATH } });
  assert.notEqual(status, 0);
  assert.match(stderr, /Set (?:POSTGRES_PASSWORD|MASTER_KEY_B64)/);
});

test('what the image runs and sets exists', () => {
  const dockerfile = fs.readFileSync('Dockerfile', 'utf8');
  for (const [, file] of dockerfile.matchAll(/(?:CMD|RUN) .*?((?:server|scripts)\/[\w/.-]+)/g))
    assert.ok(fs.existsSync(file as string), file);
  const set = [...dockerfile.matchAll(/^(?:ENV|\s{4})\s*([A-Z_]+)=/gm)].map(([, name]) => name as string);
  assert.ok(set.includes('DATA_DIR'));
  assert.deepEqual(set.filter(unknown), []);
});

function unknown(name: string): boolean {
  return !variableNames.includes(name) && !OTHERS.test(name) && name !== 'NEXT_TELEMETRY_DISABLED';
}
