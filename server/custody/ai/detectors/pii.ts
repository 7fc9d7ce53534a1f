import type { PiiDone, PiiJob } from '#server/ai/detectors/job.ts';
import { builtInsOnly, type PiiRules } from '#server/ai/pii/policy.ts';
import type { PiiCounts } from '#server/ai/pii/rewrite.ts';
import { buffersStreams, type Channel, type PiiModes, piiSession } from '#server/ai/pii/session.ts';
import { HeldTooLong, MOST_HELD, type StreamState, type TextStream } from '#server/ai/pii/text-stream.ts';
import type { Tokenizer } from '#server/ai/pii/tokenizer.ts';
import type { Waits } from '#server/ai/stream/steps.ts';
import { askDetectors, MOST_HERE } from './ask.ts';
import { nameOf, sourceOf } from './rules.ts';

/** Text that arrives in parts and leaves in parts; a part is given when the one before it has come out. */
export type PooledStream = { push: (text: string) => Waits<string>; flush: () => Waits<string> };

/**
 * PII of one call, on a thread unless its texts are short and only built-in detectors run: what a workspace configures is never compiled or run here. Throws or
 * rejects with BudgetExceeded, HeldTooLong, UnsupportedPattern, or what `onThread` throws: refuse the call then.
 */
export type PooledPii = {
  request: (texts: readonly string[]) => Waits<string[]>;
  answer: (texts: readonly string[]) => Waits<string[]>;
  /** Texts of an answer that are read one after another. */
  running: (texts: readonly string[]) => Waits<string[]>;
  stream: (channel: Channel) => PooledStream;
  requestCounts: PiiCounts;
  answerCounts: PiiCounts;
};

export type PooledSettings = PiiModes & { rules: PiiRules; tokenizer: Tokenizer /** The workspace. */; owner: string };

export async function pooledPii(settings: PooledSettings): Promise<PooledPii> {
  const { rules, tokenizer, owner, requestMode, responseMode, streamingMode, holdbackChars } = settings;
  const modes: PiiModes = { requestMode, responseMode, streamingMode, holdbackChars };
  const { key, reach } = await nameOf(rules);
  const here = piiSession({ ...modes, policy: builtInsOnly(rules.builtIns), tokenizer });
  const isSimple = rules.recognizers.length === 0;
  const { requestCounts, answerCounts } = here;

  const elsewhere = async (work: PiiJob['work']): Promise<PiiDone> => {
    const tokens = { key: `${tokenizer.id}:${tokenizer.size}` };
    const source = () => ({ conversation: tokenizer.conversation, entries: tokenizer.entries() });
    const job: PiiJob = {
      job: 'pii',
      policy: { key },
      tokens: tokenizer.size > FEW_TOKENS ? tokens : { ...tokens, source: source() },
      modes,
      work,
    };
    const done = await askDetectors(job, owner, async () => ({
      ...job,
      policy: { key, source: await sourceOf(rules) },
      tokens: { ...tokens, source: source() },
    }));
    tokenizer.add(done.added);
    count(requestCounts, done.requestCounts);
    count(answerCounts, done.answerCounts);
    return done;
  };
  const texts = (on: 'request' | 'answer' | 'running') => (texts: readonly string[]) => {
    if (on === 'request' && requestMode === 'off') return [...texts];
    if (isSimple && texts.reduce((sum, { length }) => sum + length, 0) <= MOST_HERE) return here[on](texts);
    return elsewhere({ on, texts }).then((done) => texts.map((text, i) => done.texts[i] ?? text));
  };

  return {
    request: texts('request'),
    answer: texts('answer'),
    running: texts('running'),
    requestCounts,
    answerCounts,
    stream(channel) {
      let local: TextStream | undefined = isSimple ? here.stream(channel) : undefined;
      let state: StreamState | undefined;
      let held = 0;
      let pending = '';
      const move = async (ends: boolean): Promise<string> => {
        const text = pending;
        pending = '';
        const done = await elsewhere({ on: 'stream', channel, state, text, ends });
        ({ state, held } = done);
        if (isSimple && held <= WINDOW_HERE / 2) local = here.stream(channel, state);
        return done.texts[0] ?? '';
      };
      // What is collected until its end leaves in one piece; a match that goes on and on is looked at less and less often.
      const collects = buffersStreams(modes, reach);
      return {
        push(text) {
          if (local) {
            if (local.held + text.length <= WINDOW_HERE) return local.push(text);
            state = local.state();
            held = local.held;
            local = undefined;
          }
          pending += text;
          if (pending.length + held > MOST_HELD) throw new HeldTooLong('Too much text was held back.');
          return collects || pending.length < Math.max(WINDOW, held / 2) ? '' : move(false);
        },
        flush: () => (local ? local.flush() : move(true)),
      };
    },
  };
}

function count(counts: PiiCounts, more: readonly (readonly [string, number])[]): void {
  for (const [entity, times] of more) counts.set(entity, (counts.get(entity) ?? 0) + times);
}

/** So many are sent along; more are sent to a thread that doesn't know them. */
const FEW_TOKENS = 200;
/** Characters of a stream that are handed over at once. */
const WINDOW = 128;
/** Characters of a stream that built-in detectors look at here, with what is held back. */
const WINDOW_HERE = 4 * 1024;
