import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { startDeliveries } from '#server/domain/deliveries/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { db } from '#server/platform/db.ts';
import { listen } from '#server/platform/http-out/upstream.fixture.ts';
import { sql } from '#server/platform/sql.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { webhookChannel } from './channel.ts';
import { CHANNEL } from './options.shared.ts';

export type Received = {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
  // biome-ignore lint/suspicious/noExplicitAny: envelopes of every shape
  envelope: any;
};

/** A receiver on a real socket. `answer` gets what arrived, and how many came before. */
export async function receiver(answer: (res: ServerResponse, nth: number, req: IncomingMessage) => void = (res) => void res.end()) {
  const seen: Received[] = [];
  const port = await listen(
    createServer(async (req, res) => {
      const chunks: Buffer[] = [];
      for await (const chunk of req) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks).toString();
      const payload = new URL(req.url ?? '/', 'http://receiver').searchParams.get('payload');
      const text = body === '' && payload !== null ? Buffer.from(payload, 'base64url').toString() : body;
      seen.push({
        method: req.method ?? '',
        url: req.url ?? '',
        headers: req.headers,
        body: text,
        envelope: text === '' ? null : JSON.parse(text),
      });
      answer(res, seen.length - 1, req);
    }),
  );
  return { seen, port, url: `http://127.0.0.1:${port}/hooks` };
}

export const answering = (...statuses: number[]) =>
  receiver((res, nth) => void res.writeHead(statuses[Math.min(nth, statuses.length - 1)] ?? 200).end());

/** Delivers with the channel of the product for the time of one piece of work. */
export async function delivering(work: () => Promise<unknown>): Promise<void> {
  const engine = startDeliveries({ [CHANNEL]: webhookChannel() }, { pauseMs: 50 });
  try {
    await work();
  } finally {
    await engine.stop();
  }
}

export const webhookTo = (ctx: Ctx, url: string, input: Record<string, unknown> = {}) =>
  made(ctx, 'webhooks.create', { name: fresh('hook'), url, event_types: ['secret.rotated'], ...input });

export const deliveriesOf = (id: string) => db().deliveries.findMany({ where: { destination_id: id }, orderBy: { created_at: 'asc' } });
export const statesOf = async (id: string) => (await deliveriesOf(id)).map(({ state }) => state).join();
export const due = (id: string) =>
  sql().query("update deliveries set next_attempt_at = now() where destination_id = $1 and state = 'pending'", [id]);

/** The signature a receiver computes, with nothing of ours. */
export const hmac = (key: string, text: string) => createHmac('sha256', key).update(text).digest('hex');
