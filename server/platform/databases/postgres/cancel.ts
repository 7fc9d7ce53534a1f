import { once } from 'node:events';
import type pg from 'pg';
import type { BoundedStream } from '../bounded-stream.ts';

const CANCEL_REQUEST = 80_877_102;

/** Asks the server, over a connection of its own, to stop what the client runs (protocol 3.0, CancelRequest). It never answers. */
export async function sendCancel(client: pg.Client, dial: () => Promise<BoundedStream>): Promise<void> {
  const { processID, secretKey } = client as unknown as { processID: number | null; secretKey: number | null };
  if (processID === null || secretKey === null) return;
  const message = Buffer.alloc(16);
  for (const [i, value] of [16, CANCEL_REQUEST, processID, secretKey].entries()) message.writeInt32BE(value | 0, i * 4);
  const stream = await dial();
  const closed = once(stream, 'close');
  stream.end(message);
  await closed;
}
