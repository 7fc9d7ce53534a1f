import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An MCP server (streamable HTTP, 2025-06-18) with that many tools, which answers nothing but their list. Its URL. */
export async function startToolServer(tools: number): Promise<string> {
  const inputSchema = { type: 'object', properties: { text: { type: 'string' }, list: { type: 'array', items: { type: 'number' } } } };
  const list = Array.from({ length: tools }, (_, i) => ({ name: `tool_${i}`, description: `Tool ${i} of too many`, inputSchema }));
  const results: Record<string, unknown> = {
    initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'many', version: '1' } },
    'tools/list': { tools: list },
  };
  const written = Object.fromEntries(Object.entries(results).map(([method, result]) => [method, JSON.stringify(result)]));
  const server = createServer((req, res) => {
    let text = '';
    req.on('data', (chunk: Buffer) => {
      text += chunk;
    });
    req.on('end', () => {
      const { id, method } = JSON.parse(text || '{}') as { id?: unknown; method?: string };
      if (id === undefined) return res.writeHead(202).end();
      const result = written[method ?? ''];
      const answer = result ? `"result":${result}` : `"error":{"code":-32601,"message":"Method not found"}`;
      res.writeHead(200, { 'content-type': 'application/json' }).end(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},${answer}}`);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  server.unref();
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}
