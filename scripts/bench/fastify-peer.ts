// What is compared with in `npm run bench equal`: Fastify with @fastify/reply-from, doing what our gateway does for a call.
import { hash } from 'node:crypto';
import { createRequire } from 'node:module';
import path from 'node:path';
import Fastify, { type FastifyPluginCallback, type FastifyReply } from 'fastify';
import pino from 'pino';

type Settings = {
  port: number;
  upstreamPort: number;
  digest: string;
  limit: number;
  modules: string;
  authorization: string;
  log: string;
};
const { port, upstreamPort, digest, limit, modules, authorization, log } = JSON.parse(process.argv[2] ?? '') as Settings;
const replyFrom = createRequire(path.join(modules, 'package.json'))('@fastify/reply-from') as FastifyPluginCallback<
  Record<string, unknown>
>;

const lines = pino(pino.destination({ dest: log, sync: false, minLength: 64 * 1024, maxWrite: 256 * 1024 }));
const callers = new Map([[digest, { name: 'key-1', window: 0, count: 0, before: 0 }]]);

const app = Fastify({ logger: false });
await app.register(replyFrom, { base: `http://127.0.0.1:${upstreamPort}`, undici: { connections: 128, pipelining: 1 } });
type From = { from(source: string, options: object): FastifyReply };

app.get('*', (request, reply) => {
  const key = request.headers['x-svc-key'];
  const caller = typeof key === 'string' ? callers.get(hash('sha256', key, 'hex')) : undefined;
  if (!caller) return reply.code(401).send({ error: 'invalid_api_key' });
  const now = Date.now();
  const window = Math.floor(now / 1000);
  if (window !== caller.window) {
    caller.before = window === caller.window + 1 ? caller.count : 0;
    caller.window = window;
    caller.count = 0;
  }
  if (Math.floor((caller.before * (1000 - (now % 1000))) / 1000) + caller.count >= limit) return reply.code(429).send({ error: 'limit' });
  caller.count++;
  reply.raw.on('finish', () =>
    lines.info({
      id: request.id,
      caller: caller.name,
      address: request.ip,
      method: request.method,
      path: request.url,
      status: reply.statusCode,
      ms: reply.elapsedTime,
    }),
  );
  return (reply as unknown as From).from(request.url, {
    rewriteRequestHeaders: (_: unknown, { 'x-svc-key': _key, ...headers }: Record<string, string>) => ({ ...headers, authorization }),
  });
});
app.listen({ port, host: '127.0.0.1', backlog: 1024 }, (error) => {
  if (error) throw error;
});
