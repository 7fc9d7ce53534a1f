import { newId } from '#server/kernel/ids.ts';
import type { AnyPersonOperation } from '#server/kernel/operation.ts';

/** The request of an operation of a person: members that the path names are taken out of the body. */
export function personRequest(op: AnyPersonOperation, input: Record<string, unknown>): [method: string, path: string, body?: unknown] {
  const [method, template] = op.http.split(' ') as [string, string];
  const rest = { ...input };
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest[name] ?? newId();
    delete rest[name];
    return encodeURIComponent(String(value));
  });
  return method === 'GET' ? [method, path] : [method, path, rest];
}
