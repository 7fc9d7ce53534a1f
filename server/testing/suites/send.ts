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
  if (method !== 'GET') return { method, path, rest };
  const query = new URLSearchParams(Object.entries(rest).map(([name, value]) => [name, String(value)])).toString();
  return { method, path: query ? `${path}?${query}` : path, rest: {} };
}

/** The request that a caller without a library would send for an operation and its input. */
export function send(op: AnyOperation, input: Record<string, unknown>, key: string, headers: Record<string, string> = {}): Promise<Answer> {
  const { method, path, rest } = addressOf(op, input);
  return call(method, path, { key, headers, ...(Object.keys(rest).length > 0 ? { body: rest } : {}) });
}

export const hasBody = ({ http }: AnyOperation): boolean => !http.startsWith('GET ');
