import { type IncomingMessage, request } from 'node:http';
import { Refusal } from '#server/kernel/errors.ts';
import { env } from './env.ts';

/** Longer than a model may wait before its first byte; afterwards the stream decides. */
const PATIENCE_MS = 150_000;

type Call = { url: URL; headers: Record<string, string>; body: string; signal: AbortSignal };

/**
 * A call of a data plane by a public address of this installation, sent to the gateway of this node: nothing outside has to know the way, and the
 * caller is whoever holds the credential in `headers`. @throws Refusal dependency_unavailable when the gateway does not run here or does not answer
 */
export function callOwnGateway({ url, headers, body, signal }: Call): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const req = request(
      {
        host: loopbackOf(env.BIND_ADDRESS),
        port: env.PLANE_PORTS.proxy ?? env.PORT,
        agent: false,
        method: 'POST',
        path: url.pathname + url.search,
        signal,
        timeout: PATIENCE_MS,
        headers: { ...headers, host: url.host, 'content-length': Buffer.byteLength(body) },
      },
      resolve,
    );
    req.on('timeout', () => req.destroy(new Error('the gateway was silent for too long')));
    req.on('error', (cause) =>
      reject(new Refusal('dependency_unavailable', 'The gateway is not responding. Try again shortly.', { cause })),
    );
    req.end(body);
  });
}

/** Where this machine reaches what listens on all of its addresses. */
const loopbackOf = (address: string): string => (address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address);
