import fs from 'node:fs';
import path from 'node:path';
import { Problem, root, run } from '../command.ts';
import { freePorts } from '../ports.ts';
import { answers } from './http.ts';
import { familyOf, spawnOn, stopChild, until } from './machine.ts';
import type { Nginx } from './nginx.ts';

// What a dashboard project would do without a gateway of its own: a route handler that proxies by fetch, built for production.

const handler = (upstream: string) => `
export const dynamic = 'force-dynamic';
async function proxy(request: Request) {
  const { pathname, search } = new URL(request.url);
  const headers = new Headers(request.headers);
  for (const name of ['host', 'connection', 'content-length', 'x-svc-key']) headers.delete(name);
  headers.set('authorization', 'Bearer sk_live_0123456789abcdef0123456789abcdef');
  const body = request.method === 'GET' ? undefined : request.body;
  const answer = await fetch('${upstream}' + pathname + search, { method: request.method, headers, body, cache: 'no-store', duplex: 'half' } as RequestInit);
  return new Response(answer.body, { status: answer.status, headers: answer.headers });
}
export { proxy as GET, proxy as POST };
`;

/** Builds the app in `directory`, with the packages of this checkout, and starts it on the given cores. */
export async function startNextPeer(directory: string, where: string, upstreamPort: number): Promise<Nginx> {
  const app = path.join(directory, 'next-peer');
  fs.mkdirSync(path.join(app, 'app/[...path]'), { recursive: true });
  fs.symlinkSync(path.join(root, 'node_modules'), path.join(app, 'node_modules'));
  const files = {
    'package.json': '{"private":true,"type":"module"}',
    // Turbopack follows links only below its root.
    'next.config.mjs': `export default { poweredByHeader: false, typescript: { ignoreBuildErrors: true }, turbopack: { root: '/' } };`,
    'app/layout.tsx': 'export default ({ children }) => <html><body>{children}</body></html>;',
    'app/[...path]/route.ts': handler(`http://127.0.0.1:${upstreamPort}`),
  };
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(app, name), text);
  const next = path.join(root, 'node_modules/next/dist/bin/next');
  const env = { NODE_ENV: 'production' as const, NEXT_TELEMETRY_DISABLED: '1' };
  const built = await run(process.execPath, [next, 'build', app], { env });
  if (built.code !== 0) throw new Problem(`Building the Next.js proxy failed:\n${built.output.slice(-3000)}`);
  const [port] = (await freePorts(1)) as [number];
  const args = [next, 'start', app, '-p', String(port), '-H', '127.0.0.1'];
  const child = spawnOn(where, process.execPath, args, { env: { ...process.env, ...env } });
  await until('The Next.js proxy', () => answers(`http://127.0.0.1:${port}/small`), 30_000, child);
  return { port, pids: () => familyOf(child.pid ?? 0), stop: () => stopChild(child) };
}
