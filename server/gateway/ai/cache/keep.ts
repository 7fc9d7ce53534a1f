import { mayKeep } from '#server/ai/cache/may-keep.ts';
import { streamForm } from '#server/ai/cache/streamed.ts';
import { MalformedFrame, type Stage, type StreamEvent } from '#server/ai/stream/event.ts';
import type { Translation } from '#server/ai/translate/translation.ts';
import { keepAnswer } from '#server/custody/ai/answers.ts';
import { assertJsonShape, type JsonShape } from '#server/kernel/bounded-text.ts';
import { log } from '#server/platform/log.ts';
import { type AiCall, detectedOf } from '../ai-call.ts';

/** Bytes of an answer that is kept. */
export const LARGEST = 1024 * 1024;
/** It is read at once whenever it is given: JSON.parse takes 10 ms for so many members and a megabyte of numbers. */
const KEPT_SHAPE: JsonShape = { levels: 200, values: 600_000, members: 20_000 };

/** Whether the answer of this attempt may be kept: by the model that was planned, at the agent's own route, and as it was asked for. */
export const keeps = ({ state }: AiCall): boolean =>
  state.cachePlan?.writes === true && !state.corrected && state.backup === null && state.fallback === null;

/**
 * Keeps an answer in the caller's shape, as the provider gave it: controls run over it again whenever it is given. Never throws: an answer that can't be kept
 * has been sent all the same.
 */
export async function keep(call: AiCall, answer: unknown, secrets: Iterable<string>): Promise<void> {
  const { adapter } = call.state;
  if (!keeps(call) || !adapter || !mayKeep(adapter, answer, detectedOf(call).operation)) return;
  await keepText(call, JSON.stringify(answer), secrets);
}

/** The same of the JSON of an answer that may be kept. */
export async function keepText(call: AiCall, text: string, secrets: Iterable<string>): Promise<void> {
  const { agent, cachePlan, controls } = call.state;
  if (!keeps(call) || !cachePlan || !agent || controls?.leaked()) return;
  if (Buffer.byteLength(text) > LARGEST || [...secrets].some((secret) => secret.length >= 6 && text.includes(secret))) return;
  if (!isWithin(text, KEPT_SHAPE)) return;
  const { key, question, vector } = cachePlan;
  const near = question && vector ? { scope: question.scope, vector } : undefined;
  try {
    const space = { tenant_id: call.snapshot.tenant.id, sandbox: call.snapshot.sandbox };
    await keepAnswer(space, agent, { key, near }, text, new Date(Date.now() + agent.cache_ttl_seconds * 1000));
  } catch (error) {
    log.warn({ err: error, request_id: call.requestId }, 'an answer could not be kept');
  }
}

function isWithin(text: string, shape: JsonShape): boolean {
  try {
    assertJsonShape(text, shape);
    return true;
  } catch {
    return false;
  }
}

/** What has passed of a stream, for the answer that it was. */
export type Recorder = { readonly stage: Stage; answer: () => unknown /** Bytes of events that are kept. */; held: () => number };

/** Records what a provider streams, before anything changes it; null where nothing is kept. */
export function recorder(call: AiCall, translation: Translation | null): Recorder | null {
  const form = streamForm(detectedOf(call).shape);
  if (!keeps(call) || !form) return null;
  let events: StreamEvent[] | null = [];
  let bytes = 0;
  return {
    stage: {
      push(event) {
        bytes += event.raw?.length ?? 0;
        if (bytes > LARGEST * 4) events = null;
        // A copy of its own: later stages change events in place.
        events?.push({ ...event, json: undefined });
        return [event];
      },
      end: () => [],
    },
    held: () => (events === null ? 0 : bytes),
    answer() {
      if (events === null) return undefined;
      try {
        if (translation === null) return form.assembled(events);
        const stage = translation.stream();
        return form.assembled([...events.flatMap((event) => [...stage.push(event)]), ...stage.end()]);
      } catch (error) {
        if (error instanceof MalformedFrame) return undefined;
        throw error;
      }
    },
  };
}
