import type { ServerResponse } from 'node:http';
import { type FakeUpstream, start } from './upstreams.fixture.ts';

// An upstream with the tools that the official conformance suite calls, in the legacy era and without sessions.

type Message = { id?: string; method?: string; params?: { name?: string; _meta?: { progressToken?: string | number } } };

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const SOUND = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=';

const text = (words: string) => ({ type: 'text', text: words });
const image = { type: 'image', data: PIXEL, mimeType: 'image/png' };

const RESULTS: Record<string, object> = {
  // The suite takes the first tool for requests that any tool would do for.
  a_plain_tool: { content: [text('Fine.')] },
  test_simple_text: { content: [text('This is a simple text response for testing.')] },
  test_image_content: { content: [image] },
  test_audio_content: { content: [{ type: 'audio', data: SOUND, mimeType: 'audio/wav' }] },
  test_embedded_resource: {
    content: [
      {
        type: 'resource',
        resource: { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'This is an embedded resource content.' },
      },
    ],
  },
  test_multiple_content_types: {
    content: [
      text('Multiple content types test:'),
      image,
      {
        type: 'resource',
        resource: { uri: 'test://mixed-content-resource', mimeType: 'application/json', text: '{"test":"data","value":123}' },
      },
    ],
  },
  test_error_handling: { content: [text('This tool intentionally returns an error for testing')], isError: true },
  test_tool_with_logging: { content: [text('Logged.')] },
  test_logging_tool: { content: [text('Logged.')] },
  test_tool_with_progress: { content: [text('Done.')] },
  json_schema_2020_12_tool: { content: [text('Fine.')] },
  test_custom_headers: { content: [text('Mirrored.')] },
};

const SCHEMAS: Record<string, object> = {
  test_custom_headers: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } },
  json_schema_2020_12_tool: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: { address: { $anchor: 'addressDef', type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
    properties: {
      name: { type: 'string' },
      address: { $ref: '#/$defs/address' },
      contactMethod: { type: 'string', enum: ['phone', 'email'] },
      phone: { type: 'string' },
      email: { type: 'string' },
    },
    allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
    if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required: ['phone'] },
    else: { required: ['email'] },
    additionalProperties: false,
  },
};

export const CONFORMANCE_TOOLS = Object.keys(RESULTS);

export const startConformanceUpstream = (): Promise<FakeUpstream> =>
  start((_, res, message: Message) => {
    const { id, method, params } = message;
    if (id === undefined) return void res.writeHead(202).end();
    if (method === 'initialize')
      return json(res, id, {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'conformance', version: '1' },
      });
    if (method === 'tools/list')
      return json(res, id, {
        tools: CONFORMANCE_TOOLS.map((name) => ({
          name,
          description: `The tool ${name}`,
          inputSchema: SCHEMAS[name] ?? { type: 'object', properties: {} },
        })),
      });
    const result = method === 'tools/call' ? RESULTS[params?.name ?? ''] : undefined;
    if (!result) return void res.writeHead(404).end();
    const token = params?._meta?.progressToken;
    if (params?.name !== 'test_tool_with_progress' || token === undefined) return json(res, id, result);
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const progress of [0, 50, 100])
      res.write(event({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: token, progress, total: 100 } }));
    res.end(event({ jsonrpc: '2.0', id, result }));
  });

const event = (message: object): string => `event: message\ndata: ${JSON.stringify(message)}\n\n`;

function json(res: ServerResponse, id: string, result: object): void {
  res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
}
