import type { z } from 'zod';
import { handingOver, handOver, madeIn } from '#components/trpc/handover.ts';
import type { Scope } from '#components/trpc/provider.tsx';
import type { ExplorerAnswer } from '#server/domain/explorer/schema.ts';
import { parsed, refusalIn, withoutShownOnce } from './answer.ts';
import type { ApiOperation } from './document.ts';
import type { PreparedCall } from './draft.ts';

export type Answer = z.output<typeof ExplorerAnswer>;
/** A call as it is sent. `confirmed`: the person said yes to a change in Live. */
export type Sent = PreparedCall & { op: ApiOperation; confirmed: boolean; signal?: AbortSignal | null };
type Sender = Pick<Scope, 'slug' | 'space' | 'csrf' | 'person'>;

/** An answer that was lost on its way is asked for again after these. */
const PAUSES_MS: readonly number[] = [500, 2_000, 5_000];
const REPEAT_KEY = 'Idempotency-Key';

/**
 * Sends one call as the signed-in person. What its answer shows once is handed over above the page, whatever became of the page meanwhile, and is not
 * in the answer that comes back from here. Such a call is never cut off, and is repeated by a key that replays its first answer (interface rule 01 §7)
 * until it is had: nobody can ask for it in another way. @throws SendRefused
 */
export async function sendCall(call: Sent, sender: Sender, pauses = PAUSES_MS): Promise<Answer> {
  const { op } = call;
  if (op.shownOnce.length === 0) return post(call, sender);
  const key = call.headers[REPEAT_KEY] ?? randomKey();
  const keyed = { ...call, headers: { ...call.headers, [REPEAT_KEY]: key }, signal: null };
  return handingOver(async () => {
    const answer = await untilHad(keyed, sender, pauses);
    if (!answer)
      throw new SendRefused(0, {
        code: 'answer_lost',
        message: `Sallyport didn’t respond. To get the result if the call went through, repeat it within 24 hours with ${REPEAT_KEY} ${key}.`,
      });
    const { body, taken } = withoutShownOnce(answer.body, op.shownOnce);
    handOver(taken.map((one) => ({ ...one, person: sender.person, from: madeIn(sender) })));
    return { ...answer, body };
  });
}

async function untilHad(call: Sent, sender: Sender, pauses: readonly number[]): Promise<Answer | undefined> {
  for (const pause of [...pauses, undefined]) {
    const answer = await post(call, sender).catch((error: unknown) => {
      if (error instanceof SendRefused && !error.isLost) throw error;
      return undefined;
    });
    if (answer && refusalIn(answer).code !== 'request_in_progress') return answer;
    if (pause !== undefined) await new Promise((resolve) => setTimeout(resolve, pause));
  }
  return undefined;
}

async function post({ op, path, query, headers, body, confirmed, signal = null }: Sent, { csrf, space, slug }: Sender): Promise<Answer> {
  const response = await fetch('/admin/explorer/send', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-csrf-token': csrf, 'x-svc-space': space, 'x-tenant-id': slug },
    body: JSON.stringify({ path, query, headers, body, method: op.method, confirmed }),
    signal,
  });
  // What was cut off is no answer, whatever its status.
  const read = parsed(await response.text().catch(() => ''));
  if (!response.ok || !read) throw new SendRefused(response.status, (read ?? {}) as Record<string, unknown>);
  return read as Answer;
}

/** A refusal of the dashboard plane as pages read it. */
export class SendRefused extends Error {
  readonly data: Record<string, unknown>;
  /** Whether the call may have been carried out all the same. */
  readonly isLost: boolean;
  constructor(status: number, body: Record<string, unknown>) {
    super(String(body.message ?? 'Sallyport didn’t respond.'));
    this.name = 'SendRefused';
    this.data = { code: 'dependency_unavailable', request_id: '', ...body, status, message: this.message };
    this.isLost = status < 400 || status >= 500;
  }
}

/** Also where a page is not served by https, and has no randomUUID. */
const randomKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
