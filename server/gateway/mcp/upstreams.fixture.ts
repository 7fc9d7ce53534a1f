import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';
import { McpServer as LegacyServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createMcpHandler, McpServer as ModernServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { newId } from '#server/kernel/ids.ts';

// MCP servers of both eras on loopback, made of the official packages.

export type Seen = {
  method: string;
  headers: IncomingMessage['headers'];
  body: { id?: unknown; method?: string; params?: Record<string, unknown> } | null;
};
export type FakeUpstream = {
  url: string;
  seen: Seen[];
  /** Calls of one JSON-RPC method. */
  calls(method: string): Seen[];
  /** Ends all sessions without telling anybody. */
  forgetSessions(): void;
  server: Server;
};

type Tools = { server: LegacyServer | ModernServer };

/** What both have: an echo, a sum, a tool that fails, and one that takes its time and says so. */
function addTools({ server }: Tools): void {
  const add = server.registerTool.bind(server) as LegacyServer['registerTool'];
  add('echo', { description: 'Answers what it is told', inputSchema: { text: z.string() } }, ({ text }) => ({
    content: [{ type: 'text', text: `You said: ${text}` }],
  }));
  add(
    'sum',
    { description: 'Adds two numbers', inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } },
    ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }], structuredContent: { sum: a + b } }),
  );
  add('fail', { description: 'Always fails', inputSchema: {} }, () => {
    throw new Error('it broke');
  });
}

/** A server of the legacy era: stateful unless told otherwise. */
export function startLegacyUpstream(
  options: { stateless?: boolean; more?: (server: LegacyServer) => void; hidden?: boolean } = {},
): Promise<FakeUpstream> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  return start(
    async (req, res, body) => {
      const known = sessions.get(String(req.headers['mcp-session-id']));
      if (known) return known.handleRequest(req, res, body);
      if (req.headers['mcp-session-id'] !== undefined && !options.stateless) {
        res.writeHead(404, { 'content-type': 'application/json' });
        res.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32001, message: 'Session not found' }, id: null }));
        return;
      }
      const transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: options.stateless ? undefined : () => newId(),
        onsessioninitialized: (id) => void sessions.set(id, transport),
        onsessionclosed: (id) => void sessions.delete(id),
      });
      const server = new LegacyServer({ name: 'legacy-fake', version: '1.0.0' });
      addTools({ server });
      options.more?.(server);
      await server.connect(transport as never);
      await transport.handleRequest(req, res, body);
    },
    () => sessions.clear(),
  );
}

/** A server of the modern era that knows no handshake. */
export function startModernUpstream(more?: (server: ModernServer) => void): Promise<FakeUpstream> {
  const handler = createMcpHandler(
    () => {
      const server = new ModernServer({ name: 'modern-fake', version: '2.0.0' });
      addTools({ server });
      more?.(server);
      return server;
    },
    { legacy: 'reject' },
  );
  return start(async (req, res, body) => {
    const headers = new Headers();
    for (let i = 0; i < req.rawHeaders.length; i += 2) headers.append(req.rawHeaders[i] as string, req.rawHeaders[i + 1] as string);
    const text = body === null ? null : JSON.stringify(body);
    const answer = await handler.fetch(
      new Request(`http://${req.headers.host}${req.url}`, { method: req.method ?? 'GET', headers, body: text }),
    );
    res.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body) for await (const chunk of answer.body) res.write(chunk);
    res.end();
  });
}

/** A server of any kind: what it answers is up to the test. */
export async function start(
  answer: (req: IncomingMessage, res: ServerResponse, body: never) => Promise<void> | void,
  forgetSessions: () => void = () => undefined,
): Promise<FakeUpstream> {
  const seen: Seen[] = [];
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const body = text === '' ? null : JSON.parse(text);
      seen.push({ method: req.method ?? '', headers: req.headers, body });
      Promise.resolve(answer(req, res, body as never)).catch((error: unknown) => {
        if (!res.headersSent) res.writeHead(500);
        res.end(String(error));
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    seen,
    calls: (method) => seen.filter(({ body }) => body?.method === method),
    forgetSessions,
    server,
  };
}
