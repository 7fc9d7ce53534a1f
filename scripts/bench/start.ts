import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive, Problem, root } from '../command.ts';
import { freePorts } from '../ports.ts';
import { answers } from './http.ts';
import { familyOf, median, tracked } from './machine.ts';
import { type Row, say } from './report.ts';

const left = new Set([
  'node_modules',
  '.next',
  '.git',
  'data',
  'test-results',
  'playwright-report',
  'tsconfig.tsbuildinfo',
  'next-env.d.ts',
]);
const laterStarts = 3;

/** From `npm start` to answering: in a copy of this checkout with nothing installed or built but npm's cache, and then again. */
export async function measureStart(directory: string): Promise<Row[]> {
  const checkout = path.join(directory, 'checkout');
  fs.cpSync(root, checkout, {
    recursive: true,
    filter: (source) => !left.has(path.relative(root, source)) && path.relative(root, source) !== path.join('server', 'generated'),
  });
  const first = await start(checkout);
  say(`first start: calls work after ${first.calls.toFixed(1)} s, everything after ${first.all.toFixed(1)} s`);
  const later: number[] = [];
  for (let i = 0; i < laterStarts; i++) {
    later.push((await start(checkout)).all);
    say(`later start: ${later.at(-1)?.toFixed(1)} s`);
  }
  const again = median(later);
  const seconds = (s: number) => `${s.toFixed(1)} s`;
  const row = { against: '', measured: '' };
  return [
    {
      ...row,
      what: 'first npm start, warm npm cache: calls work',
      value: seconds(first.calls),
      target: '<= 120 s',
      pass: first.calls <= 120,
    },
    { ...row, what: 'first npm start, warm npm cache: everything', value: seconds(first.all), target: '', pass: null },
    { ...row, what: 'later npm start', value: seconds(again), target: '<= 5 s', pass: again <= 5 },
  ];
}

/** Seconds until calls work, and until everything is ready and answers; it is stopped again, with all it started. */
async function start(checkout: string): Promise<{ calls: number; all: number }> {
  const [api, sandbox, admin, proxy] = await freePorts(4);
  const env: NodeJS.ProcessEnv = {
    NODE_ENV: process.env.NODE_ENV,
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_'))),
    PLANE_PORTS: `api:${api},sandbox:${sandbox},admin:${admin},proxy:${proxy}`,
    PUBLIC_API_URL: `http://localhost:${api}`,
    PUBLIC_SANDBOX_API_URL: `http://localhost:${sandbox}`,
    PUBLIC_ADMIN_URL: `http://localhost:${admin}`,
  };
  const began = performance.now();
  const since = () => (performance.now() - began) / 1000;
  const npm = tracked(spawn('npm', ['start'], { cwd: checkout, env, stdio: ['ignore', 'pipe', 'pipe'] }));
  try {
    let calls: number | undefined;
    await said(npm, (text) => {
      if (text.includes('sign-up work')) calls ??= since();
      return text.includes('is ready after');
    });
    if (!(await answers(`http://127.0.0.1:${api}/readyz`))) throw new Problem("npm start reports that it is ready but doesn't respond.");
    return { calls: calls ?? since(), all: since() };
  } finally {
    const family = familyOf(npm.pid ?? 0);
    npm.kill('SIGTERM');
    for (let waited = 0; family.some(isAlive) && waited < 40_000; waited += 100) await sleep(100);
  }
}

/** Resolves when what it has printed so far is enough. */
function said(npm: ChildProcess, isEnough: (text: string) => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = '';
    for (const stream of [npm.stdout, npm.stderr])
      stream?.on('data', (chunk: Buffer) => {
        text += chunk;
        if (isEnough(text)) resolve();
      });
    npm.on('error', reject);
    npm.on('exit', (code) => reject(new Problem(`npm start exited with ${code}:\n${text.slice(-3000)}`)));
  });
}
