import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { GatewayResponse } from './gateway-response.ts';

/** Something that the web process may ask of the gateway over its control socket, and the requests that it makes of itself to do it. */
export type Order = {
  /** Does what is asked; the answer is sent as JSON, and `sent` called when it left. `socketPath` is where the gateway takes requests of its own. */
  take(order: unknown, socketPath: string): Promise<{ status: number; body: object; sent?: () => void }>;
  /** Serves a request of its own; false for any other. */
  serves(req: IncomingMessage, res: GatewayResponse): boolean;
};

/** Handshakes of our own processes on the control socket. */
export type Handshakes = {
  asks(req: IncomingMessage): boolean;
  take(req: IncomingMessage, socket: Duplex, head: Buffer): void;
};
