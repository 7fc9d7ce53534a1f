import { queryParameters } from '#server/api/input.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { type Answer, call } from '../calls.ts';

/** Method, path and query of an operation's input; members in the path or the query are taken out of `rest`. */
export function addressOf(op: AnyOperation, input: Record<string, unknown>) {
  const [method, template] = op.http.split(' ') as [string, string];
  const rest = { ...input };
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest[name];
    delete rest[name];
    return encodeURIComponent(String(value));
  });
  const inQuery = method === 'GET' ? Object.keys(rest) : queryParameters(op).filter((name) => name in rest);
  const query = new URLSearchParams(inQuery.map((name) => [name, String(rest[name])])).toString();
  for (const name of inQuery) delete rest[name];
  return { method, path: query ? `${path}?${query}` : path, rest };
}

/** The request that a caller without a library would send for an operation and its input. */
export function send(op: AnyOperation, input: Record<string, unknown>, key: string, headers: Record<string, string> = {}): Promise<Answer> {
  const { method, path, rest } = addressOf(op, input);
  return call(method, path, { key, headers, ...(Object.keys(rest).length > 0 ? { body: rest } : {}) });
}

export const hasBody = ({ http }: AnyOperation): boolean => !http.startsWith('GET ');
