import type { IncomingMessage } from 'node:http';

/** `malformed`: what follows the head isn't the body that it announces. `late`: it wasn't received in time. */
export type BodyFault = 'malformed' | 'late';

/** Why a body that has begun never ends, although its connection can still carry the answer. */
export class BodyBroken extends Error {
  override readonly name = 'BodyBroken';
}

const faults = new WeakMap<IncomingMessage, BodyFault>();

/** Tells whoever reads the body, now or later: readers ask `bodyFault` before they begin. */
export function breakBody(req: IncomingMessage, fault: BodyFault): void {
  faults.set(req, fault);
  if (req.listenerCount('error') > 0) req.emit('error', new BodyBroken(`the body is ${fault}`));
}

export const bodyFault = (req: IncomingMessage): BodyFault | undefined => faults.get(req);
