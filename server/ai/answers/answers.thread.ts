import { assertJsonShape } from '#server/kernel/bounded-text.ts';
import { mayKeep } from '../cache/may-keep.ts';
import type { Adapter } from '../shapes/adapter.ts';
import { adapterOf } from '../shapes/adapters.ts';
import { handedOut } from '../stored-objects.ts';
import { translationOf } from '../translate/translation.ts';
import type { AnswerJob, AnswerOutcome, Keep, ReadAnswer } from './job.ts';

/** Deeper ones would exhaust the stack of what walks them. How many values they have is bounded by the memory of a thread. */
const DEEPEST = 200;

/** Reads, judges or writes a long answer. Each job reads it anew, so that nothing of it stays here. */
export function run(job: AnswerJob): AnswerOutcome {
  let answer: unknown;
  try {
    answer = parsed(job.bytes);
  } catch (error) {
    return { problem: 'unreadable', message: (error as Error).message };
  }
  const theirs = adapterOf(job.shape);
  try {
    if (job.on === 'read') return { value: read(theirs, answer, job) };
    block(theirs, answer, job);
    const refs = theirs.answerTexts(answer);
    for (const [at, text] of job.texts) refs[at]?.set(text);
    return { value: job.on === 'text' ? theirs.answerText(answer) : written(inShapeOfCaller(answer, job)) };
  } catch (error) {
    return { problem: 'untranslatable', message: (error as Error).message };
  }
}

/** The text is let go of before anything else takes memory. */
function parsed({ buffer, byteOffset, byteLength }: Uint8Array): unknown {
  const text = Buffer.from(buffer, byteOffset, byteLength).toString('utf8');
  assertJsonShape(text, { levels: DEEPEST, values: Number.POSITIVE_INFINITY });
  return JSON.parse(text);
}

function read(theirs: Adapter, answer: unknown, job: AnswerJob & { on: 'read' }): ReadAnswer {
  const ids = job.notes ? handedOut(answer) : [];
  const kept = job.keep === null ? undefined : keptForm(answer, job, job.keep);
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

function keptForm(answer: unknown, job: AnswerJob, { operation, shape, most }: Keep): string | undefined {
  const form = inShapeOfCaller(answer, job);
  if (!mayKeep(adapterOf(shape), form, operation)) return undefined;
  const text = JSON.stringify(form);
  return text.length <= most ? text : undefined;
}

/** In shared memory: the loop that sends it has nothing to copy. */
function written(value: unknown): Uint8Array {
  const text = JSON.stringify(value);
  const bytes = Buffer.from(new SharedArrayBuffer(Buffer.byteLength(text)));
  bytes.write(text);
  return bytes;
}
