import type { TrialOrder } from '#server/domain/routes/trial/schema.ts';
import { ownRequest, type Received } from '../../core/own-request.ts';

/** Sends the test request to the control socket itself and reads the answer. Null when the connection broke before a head. */
export function send(socketPath: string, order: TrialOrder, own: readonly string[]): Promise<Received | null> {
  const body = Buffer.from(order.body, 'base64');
  const names = new Set(order.headers.map(({ name }) => name.toLowerCase()));
  const headers = [...own, 'Connection', 'close', 'X-Svc-Environment', order.environment ?? ''].flatMap((text, i, all) =>
    i % 2 === 0 && all[i + 1] !== '' ? [text, all[i + 1] as string] : [],
  );
  for (const { name, value } of order.headers) headers.push(name, value);
  // A body that came compressed could not be searched for secrets.
  if (!names.has('accept-encoding')) headers.push('Accept-Encoding', 'identity');
  if (!names.has('user-agent')) headers.push('User-Agent', 'Sallyport route tester');
  if (body.length > 0 || order.method === 'POST' || order.method === 'PUT' || order.method === 'PATCH')
    headers.push('Content-Length', String(body.length));
  return ownRequest(socketPath, { method: order.method, path: `/${order.route_id}${order.target}`, headers, body });
}
