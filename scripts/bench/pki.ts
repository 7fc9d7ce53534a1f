import { execFileSync } from 'node:child_process';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { entitled } from '../entitled.ts';
import { cpuSeconds, findTool, median } from './machine.ts';
import { micros, type Row, say, times } from './report.ts';
import { install } from './service.ts';
import { type StepCa, startStepCa } from './step-ca.ts';

const rounds = 3;
const seconds = 5;
const connections = 8;
/** A root issues at most 50 leaves a second, so that many roots take turns. */
const ROOTS = 40;
const NAMES = ['api.example.com', 'www.example.com'];
/** Of step-ca's CPU for the same leaf, which is one process in Go with its store inside. */
const target = 10;

type Work = 'issue' | 'sign';
type Side = { name: string; pids: () => number[]; prepare: (count: number) => Promise<() => Promise<number>> };

/** CPU of a leaf on P-256 for two names: with a key of ours, and for a certificate request, beside step-ca signing that request. */
export async function measurePki(directory: string): Promise<Row[]> {
  const installation = await install(directory);
  const stops: (() => Promise<unknown>)[] = [installation.stop];
  try {
    const { key, roots } = await makeRoots();
    const csr = certificateRequest(directory);
    const [web, gateway] = [await installation.startWeb(), await installation.startGateway()];
    const sides = oursOf(`http://127.0.0.1:${installation.ports.api}`, { key, roots, csr }, () => [web.pid ?? 0, gateway.pid ?? 0], stops);
    const binary = process.env.STEP_CA ?? findTool('step-ca');
    if (binary) {
      const peer = await startStepCa(binary, directory, NAMES);
      stops.unshift(peer.stop);
      sides.push(peerOf(peer, csr));
    } else say('neither STEP_CA nor the path names a step-ca: its part is skipped');
    return await compare(sides, installation.databasePids);
  } finally {
    for (const stop of stops) await stop();
  }
}

/** Alternating rounds, the first to warm up. */
async function compare(sides: readonly Side[], databasePids: () => number[]): Promise<Row[]> {
  const cpu = new Map<string, number[]>(sides.map(({ name }) => [name, []]));
  const database = new Map<string, number[]>(sides.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round++)
    for (const { name, pids, prepare } of sides) {
      const next = await prepare(seconds * 2_000);
      const before = { own: cpuSeconds(pids()), database: cpuSeconds(databasePids()) };
      const { calls, p50 } = await drive(next);
      await sleep(500);
      if (round === 0) continue;
      const us = (from: number, now: number) => ((now - from) / calls) * 1e6;
      cpu.get(name)?.push(us(before.own, cpuSeconds(pids())));
      database.get(name)?.push(us(before.database, cpuSeconds(databasePids())));
      say(
        `${name}, round ${round}: ${micros(cpu.get(name)?.at(-1) ?? 0)}, ${Math.round(calls / seconds)} calls/s, p50 ${p50.toFixed(1)} ms`,
      );
    }
  return (['issue', 'sign'] as const).map((work) => rowOf(work, cpu, median(database.get(work) ?? [])));
}

function rowOf(work: Work, cpu: ReadonlyMap<string, readonly number[]>, database: number): Row {
  const ours = cpu.get(work) ?? [];
  const peer = cpu.get('step-ca');
  const what = work === 'issue' ? 'issue a leaf with its key on /v1, CPU a call' : 'sign a certificate request on /v1, CPU a call';
  const measured = `${micros(median(ours))} (PostgreSQL ${micros(database)})`;
  if (!peer) return { what, measured, against: 'step-ca skipped (STEP_CA)', value: '', target: '', pass: null };
  const ratio = median(ours.map((us, round) => us / (peer[round] ?? Number.NaN)));
  return {
    what,
    measured,
    against: `step-ca ${micros(median(peer))}`,
    value: times(ratio),
    target: `<= ${target} x`,
    pass: ratio <= target,
  };
}

/** As many calls as fit into the seconds, `connections` at a time. @throws when one is refused: refusals are quick and would look like speed */
async function drive(next: () => Promise<number>): Promise<{ calls: number; p50: number }> {
  const end = performance.now() + seconds * 1_000;
  const taken: number[] = [];
  const worker = async () => {
    while (performance.now() < end) {
      const began = performance.now();
      const status = await next();
      if (status !== 201) throw new Error(`a leaf was answered with ${status}`);
      taken.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  return { calls: taken.length, p50: median(taken) };
}

type Calls = { key: string; roots: readonly string[]; csr: string };

function oursOf(origin: string, { key, roots, csr }: Calls, pids: () => number[], stops: (() => Promise<unknown>)[]): Side[] {
  const agent = new http.Agent({ keepAlive: true });
  stops.unshift(async () => agent.destroy());
  const bodies: Record<Work, string> = {
    issue: JSON.stringify({ subject: { CN: NAMES[0] }, san_dns: NAMES }),
    sign: JSON.stringify({ csr_pem: csr }),
  };
  let turn = 0;
  const post = (work: Work) =>
    new Promise<number>((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(bodies[work]),
      };
      const url = `${origin}/v1/pki/roots/${roots[turn++ % roots.length]}/${work}/bench`;
      const request = http.request(url, { method: 'POST', headers, agent }, (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
      });
      request.on('error', reject).end(bodies[work]);
    });
  return (['issue', 'sign'] as const).map((work) => ({ name: work, pids, prepare: async () => () => post(work) }));
}

const peerOf = (peer: StepCa, csr: string): Side => ({
  name: 'step-ca',
  pids: peer.pids,
  prepare: async (count) => {
    const bodies = await peer.bodies(csr, count);
    return () => peer.sign(bodies.pop() ?? '');
  },
});

function certificateRequest(directory: string): string {
  const made = `req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ${directory}/leaf.key -subj /CN=${NAMES[0]} -addext subjectAltName=${NAMES.map((name) => `DNS:${name}`).join(',')}`;
  return execFileSync('openssl', made.split(' '), { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
}

async function makeRoots(): Promise<{ key: string; roots: string[] }> {
  const operator = await import('../../server/domain/operator/service.ts');
  const { createRoot, createRole } = await import('../../server/domain/pki/service.ts');
  const { CreateRoot, CreateRole } = await import('../../server/domain/pki/schema.ts');
  const tenant = await operator.provisionTenant({ slug: 'bench', plan: 'enterprise', starter: false });
  const ctx = entitled(operator.operatorCtx(tenant.id, 'live'));
  const roots = Array.from({ length: ROOTS }, (_, n) => `bench-${n}`);
  for (const name of roots) {
    await createRoot(ctx, CreateRoot.parse({ name, subject: { CN: 'Bench root' } }));
    await createRole(ctx, CreateRole.parse({ name, role_name: 'bench', allowed_domains: ['example.com'] }));
  }
  const { api_key } = await operator.createKey({ slug: 'bench', space: 'live', role: 'Key - Infrastructure' });
  return { key: api_key, roots };
}
