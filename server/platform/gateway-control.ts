import { request } from 'node:http';
import path from 'node:path';
import { frontDoorToken } from '#server/crypto/derive.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { env } from './env.ts';
import type { Pace } from './http-out/request-out.ts';
import { rootKeys } from './keys.ts';

/** Where the gateway of this node takes orders of the web process: beside the socket on which it is asked itself. */
export const controlSocketPath = (): string => path.join(path.dirname(env.WEB_SOCKET), 'gateway.sock');

/** Longer than any route may wait for its upstream, retries included. */
const PATIENCE_MS = 150_000;

/** The gateway's answer to an order, as JSON. @throws Refusal dependency_unavailable when it does not run here or does not answer */
export function askGateway(
  order: object,
  orderPath: '/test-requests' | '/agent-tests' | '/proxy-tests' | '/inbound-calls' | '/workflow-requests' = '/test-requests',
  pace?: Pace,
): Promise<unknown> {
  const body = JSON.stringify(order);
  return new Promise((resolve, reject) => {
    const fail = (cause: unknown) =>
      reject(new Refusal('dependency_unavailable', 'The gateway is not responding. Try again shortly.', { cause }));
    const req = request(
      {
        socketPath: controlSocketPath(),
        agent: false,
        method: 'POST',
        path: orderPath,
        signal: AbortSignal.timeout(PATIENCE_MS),
        headers: {
          host: 'gateway',
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'x-sallyport-front': frontDoorToken(rootKeys().current),
        },
      },
      (res) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        const readsOn = pace?.(() => res.resume());
        res.on('error', fail);
        res.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          bytes += chunk.length;
          if (readsOn?.(bytes) === false) res.pause();
        });
        res.on('end', () => {
          if (res.statusCode !== 200) return fail(new Error(`the gateway answered a control request with ${res.statusCode}`));
          try {
            resolve(JSON.parse(Buffer.concat(chunks).toString()));
          } catch (error) {
            fail(error);
          }
        });
      },
    );
    req.on('error', fail);
    req.end(body);
  });
}
