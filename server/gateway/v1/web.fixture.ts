import { mkdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import path from 'node:path';
import { handleAgents } from '#server/api/agents/handle.ts';
import { handle } from '#server/api/handle.ts';
import { MCP_PATH, serveManagementMcp } from '#server/api/mcp/serve.ts';
import { handle as handleOAuth } from '#server/oauth/handle.ts';
import { handleMetadata } from '#server/oauth/metadata.ts';
import { env } from '#server/platform/env.ts';
import { onFileEnd } from '#server/testing/file-end.ts';

/** The web process's part of the API hosts on its socket, without the framework: the same functions that the routes of Next call. */
export async function startWeb() {
  const seen: string[] = [];
  const server: Server = createServer((req, res) => {
    seen.push(`${req.method} ${req.url}`);
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', async () => {
      const body = chunks.length > 0 && req.method !== 'GET' ? { body: Buffer.concat(chunks) } : {};
      const headers = Object.entries(req.headers).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, String(value)] as [string, string]],
      );
      const answer = await planeOf(req.url ?? '')(
        new Request(`http://api.test${req.url}`, { method: req.method ?? 'GET', headers, ...body }),
      );
      for (const [name, value] of answer.headers) res.setHeader(name, value);
      res.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()));
    });
  });
  mkdirSync(path.dirname(env.WEB_SOCKET), { recursive: true });
  await new Promise<void>((resolve) => void server.listen(env.WEB_SOCKET, resolve));
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  onFileEnd(async () => (server.listening ? stop() : undefined));
  return { seen, stop };
}

function planeOf(target: string): (request: Request) => Promise<Response> {
  if (target.startsWith('/oauth/')) return handleOAuth;
  if (target === MCP_PATH) return (request) => serveManagementMcp(request);
  if (target.startsWith('/agent/v1/')) return (request) => handleAgents(request);
  return target.startsWith('/.well-known/') ? handleMetadata : handle;
}
