import type { TextRef } from '#server/ai/shapes/adapter.ts';
import type { Operation } from '#server/ai/shapes/shape.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { log } from '#server/platform/log.ts';
import { onThread, WorkTooLarge, WorkTooSlow, work } from '#server/platform/threads/pool.ts';
import { type AiRefused, aiRefusal } from '../../governance/envelope.ts';
import { type AiCall, detectedOf } from '../ai-call.ts';
import { keeps, LARGEST as LARGEST_KEPT } from '../cache/keep.ts';
import { keepsObjects, noteIds } from '../stored-objects.ts';
import type { Answered } from '../upstream/ask.ts';
import { type Judged, judgeView } from './judge.ts';
import type { AnswerDone, AnswerJob, AnswerOutcome, ReadAnswer } from './large-job.ts';

const ANSWERS = work<AnswerJob, AnswerOutcome>('server/gateway/ai/answer/large.thread.ts');
/** Reading and writing 64 MiB takes a few seconds each. */
const MS = 60_000;
/** The call has cost money by then, so it waits. What waits is bounded by the memory for bodies. */
const MOST_WAITING = 1_000;

/** Whose answers hold no text that controls look at. */
const UNREAD: ReadonlySet<Operation> = new Set<Operation>(['embeddings', 'moderations', 'count_tokens']);

/** An answer that may go on, and its form for the cache; or what refuses it. */
export type JudgedAnswer = { body: Buffer; kept: string | undefined } | { verdict: Judged };
type Ask = <J extends AnswerJob>(job: J) => Promise<AnswerDone<J> | AiRefused>;

/**
 * All controls over a long answer: a thread reads it, the controls see its texts, and the thread writes it anew when one was changed. An answer that nothing
 * looks at goes on as its bytes. `id` is the answer's own.
 */
export async function judgeLarge(call: AiCall, { outgoing }: Answered, bytes: Buffer, id: string | undefined): Promise<JudgedAnswer> {
  const { operation, shape } = detectedOf(call);
  const { translation } = outgoing;
  const controlled = translation !== null || (!UNREAD.has(operation) && outgoing.way.shape !== 'openai-stored');
  const keep = keeps(call) && bytes.length <= LARGEST_KEPT ? { operation, shape, most: LARGEST_KEPT } : null;
  const notes = keepsObjects(call);
  if (!controlled && keep === null && !notes) return { body: bytes, kept: undefined };
  const allowed = call.state.agent?.allowedTools ?? null;
  const job = { bytes, shape: outgoing.way.shape, allowed, translation: translation?.plan ?? null };
  const ask: Ask = (one) => asked(call, one);
  const read = await ask({ ...job, on: 'read', notes, keep });
  // What couldn't be noted is nobody's, and what couldn't be kept isn't.
  if ('code' in read) return controlled ? { verdict: read } : { body: bytes, kept: undefined };
  if (notes) await noteIds(call, read.ids, id);
  if (!controlled) return { body: bytes, kept: read.kept };
  const texts = new Map<number, string>();
  const verdict = await judgeView(call, viewOf(read, texts, ask, job), read.finish);
  if (verdict !== undefined) return { verdict };
  if (texts.size === 0 && !read.blocked && translation === null) return { body: bytes, kept: read.kept };
  const written = await ask({ ...job, on: 'write', texts });
  return 'code' in written ? { verdict: written } : { body: Buffer.from(written.buffer, 0, written.byteLength), kept: read.kept };
}

/** The texts that were read; what is set is noted in `changed`. */
function viewOf(read: ReadAnswer, changed: Map<number, string>, ask: Ask, job: Omit<AnswerJob, 'on'>) {
  const refs = read.texts.map(
    ({ role, text }, at): TextRef => ({
      role,
      get text() {
        return changed.get(at) ?? text;
      },
      set: (to) => void changed.set(at, to),
    }),
  );
  return {
    texts: () => refs,
    async text() {
      if (changed.size === 0) return read.text;
      const text = await ask({ ...job, on: 'text', texts: changed } as AnswerJob & { on: 'text' });
      if (typeof text !== 'string') throw new Error(text.message);
      return text;
    },
  };
}

async function asked<J extends AnswerJob>(call: AiCall, job: J): Promise<AnswerDone<J> | AiRefused> {
  const { upstreamStatus } = call;
  try {
    const outcome = await onThread(ANSWERS, job, { owner: call.snapshot.tenant.id, ms: MS, most: MOST_WAITING });
    if ('value' in outcome) return outcome.value as AnswerDone<J>;
    log.warn({ request_id: call.requestId, problem: outcome.message }, 'an answer could not be read or translated');
    return aiRefusal('upstream_invalid_response', PROBLEMS[outcome.problem], { upstreamStatus });
  } catch (error) {
    if (error instanceof Refusal)
      return aiRefusal('dependency_unavailable', 'Too many long answers are being read at once. Try again shortly.', { cause: error });
    if (!(error instanceof WorkTooLarge || error instanceof WorkTooSlow)) throw error;
    return aiRefusal('upstream_invalid_response', TOO_MUCH, { cause: error, upstreamStatus });
  }
}

const TOO_MUCH =
  "Beside probabilities and pictures, the provider's answer has more than 16 MiB, 200 levels, 300,000 members and objects or 2,000,000 entries, so the controls of this agent can't judge it. Ask for less at once, such as fewer choices.";
const PROBLEMS = {
  unreadable: "The provider's answer isn't valid JSON, so the controls of this agent can't judge it.",
  too_large: TOO_MUCH,
  untranslatable: "The provider's answer could not be read.",
};
