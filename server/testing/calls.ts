import { randomUUID } from 'node:crypto';
import { handle } from '#server/api/handle.ts';
import type { Space } from '#server/kernel/context.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read whatever a stranger would see
export type Answer = { status: number; headers: Headers; body: any; text: string };

/** One call of the Management API as a stranger makes it, without a server: `/v1` is added to the path. */
export async function call(
  method: string,
  path: string,
  options: { key?: string | undefined; body?: unknown; raw?: string; space?: Space; headers?: Record<string, string>; ip?: string } = {},
): Promise<Answer> {
  const body = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
  const headers = new Headers({
    ...(options.key ? { authorization: `Bearer ${options.key}` } : {}),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...options.headers,
  });
  const request = new Request(`http://api.test/v1${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
  const edge = {
    space: options.space ?? (/^(?:tk|svc)_test_/.test(options.key ?? '') ? 'test' : 'live'),
    ip: options.ip ?? '127.0.0.1',
    request_id: randomUUID(),
    user_agent: 'test',
  } as const;
  const response = await handle(request, edge);
  const text = await response.text();
  const isJson = text !== '' && /json/.test(response.headers.get('content-type') ?? 'json');
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : null };
}
