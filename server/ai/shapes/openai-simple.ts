import { countAt, isObject, type JsonObject, listOf, objectOf, objectsOf, textAt } from '../json.ts';
import { changed, DONE, dataOf, jsonOf, made, mentions, type StreamEvent } from '../stream/event.ts';
import { kindOf } from '../usage/image-request.ts';
import { imagesUsage, openAiUsage, responsesUsage, transcriptionUsage } from '../usage/provider-counts.ts';
import { noUsage } from '../usage/usage.ts';
import type { StreamGrammar, TextRef, TextRole } from './adapter.ts';
import { clampMembers } from './common-body.ts';
import { finishedChoices } from './openai-chunk.ts';
import { failureIn, plainAdapter, plainStream } from './plain.ts';
import { textIn } from './texts.ts';

// OpenAI's operations with one text in and no conversation.

/** A member that is one text, or a list of them. */
export function textOrTexts(role: TextRole, body: JsonObject, member: string): TextRef[] {
  const value = body[member];
  if (!Array.isArray(value)) return textIn(role, body, member);
  return value.flatMap((one, index) => (typeof one === 'string' ? textIn(role, value as unknown as JsonObject, String(index)) : []));
}

const completionChoices = (answer: unknown) => objectsOf(objectOf(answer).choices);
const finishOf = (reason: unknown) =>
  reason === 'stop' || reason === 'length' || reason === 'content_filter' ? reason : reason ? 'other' : undefined;

/** Channel `0` is the text of choice 0. */
const completionStream: StreamGrammar = {
  wire: 'sse',
  terminal: (event) => mentions(event, DONE) && dataOf(event).trim() === DONE,
  finished: finishedChoices,
  failure: failureIn,
  deltas: (event) =>
    completionChoices(jsonOf(event)).flatMap(({ index, text }) =>
      typeof text === 'string' ? [{ channel: String(Number(index ?? 0)), kind: 'text' as const, text }] : [],
    ),
  setDelta(event, channel, text) {
    for (const choice of completionChoices(jsonOf(event))) {
      if (String(Number(choice.index ?? 0)) !== channel || choice.text === text) continue;
      choice.text = text;
      choice.logprobs = null;
      changed(event);
    }
    return event;
  },
  delta(channel, text, like) {
    const { usage: _, ...chunk } = objectOf(jsonOf(like));
    return made('sse', { ...chunk, choices: [{ index: Number(channel), text, logprobs: null, finish_reason: null }] });
  },
  closes(event, open) {
    if (dataOf(event).trim() === DONE) return [...open];
    const finished = completionChoices(jsonOf(event)).filter(({ finish_reason }) => typeof finish_reason === 'string');
    return [...open].filter((channel) => finished.some(({ index }) => String(Number(index ?? 0)) === channel));
  },
  texts: () => [],
  usage: (event, before) => (mentions(event, '"usage"') ? (openAiUsage(objectOf(jsonOf(event)).usage) ?? before) : before),
  textMembers: ['"text"'],
  finish: (event) => (mentions(event, '"finish_reason"') ? finishOf(completionChoices(jsonOf(event))[0]?.finish_reason) : undefined),
};

const completionCount = (body: JsonObject) => Math.min(128, Math.max(1, countAt(body, 'n') ?? 1, countAt(body, 'best_of') ?? 1));

export const openAiCompletions = plainAdapter('openai-completions', {
  setStream(body, stream) {
    body.stream = stream;
    if (!stream) delete body.stream_options;
  },
  maxTokens(body) {
    const one = countAt(body, 'max_tokens');
    return one === undefined ? undefined : one * completionCount(body);
  },
  clamp: (body, ceiling) => clampMembers(body, ['max_tokens'], 'max_tokens', Math.max(1, Math.floor(ceiling / completionCount(body)))),
  texts: (body) => [...textOrTexts('user', body, 'prompt'), ...textIn('user', body, 'suffix'), ...textIn('metadata', body, 'user')],
  answerTexts: (answer) => completionChoices(answer).flatMap((choice) => textIn('assistant', choice, 'text')),
  answerText: (answer) => textAt(completionChoices(answer)[0], 'text') ?? '',
  finish: (answer) => finishOf(completionChoices(answer)[0]?.finish_reason),
  stream: completionStream,
});

export const openAiEmbeddings = plainAdapter('openai-embeddings', {
  wantsStream: () => false,
  setStream: () => {},
  texts: (body) => [...textOrTexts('user', body, 'input'), ...textIn('metadata', body, 'user')],
});

export const openAiModerations = plainAdapter('openai-moderations', {
  wantsStream: () => false,
  setStream: () => {},
  texts: (body) => [...textOrTexts('user', body, 'input'), ...objectsOf(body.input).flatMap((part) => textIn('user', part, 'text'))],
});

export const openAiImages = plainAdapter('openai-images', {
  texts: (body) => [...textIn('user', body, 'prompt'), ...textIn('metadata', body, 'user')],
  usage(answer) {
    const images = listOf(objectOf(answer).data).length;
    const usage = imagesUsage(objectOf(answer).usage);
    return usage || images > 0
      ? { ...(usage ?? noUsage), images, image: kindOf(textAt(answer, 'size'), textAt(answer, 'quality')) }
      : undefined;
  },
  answerTexts: (answer) => objectsOf(objectOf(answer).data).flatMap((image) => textIn('assistant', image, 'revised_prompt')),
  stream: {
    ...plainStream,
    terminal: (event) => mentions(event, '.completed') && isCompleted(event),
    usage(event, before) {
      if (!mentions(event, '.completed') || !isCompleted(event)) return before;
      const answer = jsonOf(event);
      const counted = imagesUsage(objectOf(answer).usage) ?? before ?? noUsage;
      return { ...counted, images: (before?.images ?? 0) + 1, image: kindOf(textAt(answer, 'size'), textAt(answer, 'quality')) };
    },
  },
});

export const openAiAudio = plainAdapter('openai-audio', {
  wantsStream: (body) => body.stream === true || body.stream_format === 'sse',
  texts: (body) => [...textIn('user', body, 'input'), ...textIn('system', body, 'instructions'), ...textIn('user', body, 'prompt')],
  usage: (answer) => transcriptionUsage(objectOf(answer)),
  answerTexts: (answer) =>
    isObject(answer)
      ? [...textIn('assistant', answer, 'text'), ...objectsOf(answer.segments).flatMap((one) => textIn('assistant', one, 'text'))]
      : [],
  answerText: (answer) => textAt(answer, 'text') ?? '',
  stream: { ...plainStream, terminal: (event) => mentions(event, '.done') && /\.done$/.test(textAt(jsonOf(event), 'type') ?? '') },
});

const isCompleted = (event: StreamEvent) => (textAt(jsonOf(event), 'type') ?? '').endsWith('.completed');
