import { mayKeep } from '#server/ai/cache/may-keep.ts';
import type { Adapter } from '#server/ai/shapes/adapter.ts';
import { adapterOf } from '#server/ai/shapes/adapters.ts';
import { handedOut } from '#server/ai/stored-objects.ts';
import { translationOf } from '#server/ai/translate/translation.ts';
import { assertJsonShape, type JsonShape } from '#server/kernel/bounded-text.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { parseExact } from '#server/kernel/lossless-json.ts';
import type { AnswerJob, AnswerOutcome, Keep, ReadAnswer } from './large-job.ts';
import { type WithoutOpaque, withoutOpaque } from './opaque.ts';

/**
 * What is made values of, besides what is opaque. It is bounded before it is parsed: a parser that comes to the limit of a thread's memory isn't interrupted there
 * but ends the process. Deeper ones would exhaust the stack of what walks them.
 */
const MOST_TEXT = 16 * 1024 * 1024;
const SHAPE: JsonShape = { levels: 200, values: 2_000_000, members: 300_000 };

/** Reads, judges or writes a long answer. Each job reads it anew, so that nothing of it stays here. */
export function run(job: AnswerJob): AnswerOutcome {
  let [answer, whole]: [unknown, WithoutOpaque['whole']] = [undefined, () => new Uint8Array()];
  try {
    const { buffer, byteOffset, byteLength } = job.bytes;
    const bytes = Buffer.from(buffer, byteOffset, byteLength);
    const { rest, ...back } =
      job.shape === 'bedrock-invoke' ? { rest: bytes, whole: (json: string) => Buffer.from(json) } : withoutOpaque(bytes);
    if (rest.length > MOST_TEXT) return { problem: 'too_large', message: `${rest.length} bytes` };
    const text = rest.toString('utf8');
    assertJsonShape(text, SHAPE);
    [answer, whole] = [parseExact(text), back.whole];
  } catch (error) {
    return { problem: error instanceof Refusal ? 'too_large' : 'unreadable', message: (error as Error).message };
  }
  const theirs = adapterOf(job.shape);
  try {
    if (job.on === 'read') return { value: read(theirs, answer, job, whole) };
    block(theirs, answer, job);
    const refs = theirs.answerTexts(answer);
    for (const [at, text] of job.texts) refs[at]?.set(text);
    return { value: job.on === 'text' ? theirs.answerText(answer) : whole(JSON.stringify(inShapeOfCaller(answer, job))) };
  } catch (error) {
    return { problem: 'untranslatable', message: (error as Error).message };
  }
}

function read(theirs: Adapter, answer: unknown, job: AnswerJob & { on: 'read' }, whole: WithoutOpaque['whole']): ReadAnswer {
  const ids = job.notes ? handedOut(answer) : [];
  const kept = job.keep === null ? undefined : keptForm(answer, job, job.keep, whole);
  const blocked = block(theirs, answer, job);
  return {
    texts: theirs.answerTexts(answer).map(({ role, text }) => ({ role, text })),
    text: theirs.answerText(answer),
    finish: theirs.finish(answer),
    blocked,
    ids,
    kept,
  };
}

function block(theirs: Adapter, answer: unknown, { allowed }: AnswerJob): boolean {
  return allowed !== null && theirs.blockTools(answer, (name) => allowed.has(name)).length > 0;
}

const inShapeOfCaller = (answer: unknown, { translation }: AnswerJob): unknown =>
  translation === null ? answer : translationOf(translation).answer(answer);

function keptForm(answer: unknown, job: AnswerJob, { operation, shape, most }: Keep, whole: WithoutOpaque['whole']): string | undefined {
  const form = inShapeOfCaller(answer, job);
  if (!mayKeep(adapterOf(shape), form, operation)) return undefined;
  const text = Buffer.from(whole(JSON.stringify(form))).toString();
  return text.length <= most ? text : undefined;
}
