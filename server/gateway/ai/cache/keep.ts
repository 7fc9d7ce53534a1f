import { mayKeep } from '#server/ai/cache/may-keep.ts';
import { streamForm } from '#server/ai/cache/streamed.ts';
import { MalformedFrame, type Stage, type StreamEvent } from '#server/ai/stream/event.ts';
import type { Translation } from '#server/ai/translate/translation.ts';
import { keepAnswer } from '#server/custody/ai/answers.ts';
import { log } from '#server/platform/log.ts';
import { type AiCall, detectedOf } from '../ai-call.ts';

const LARGEST = 1024 * 1024;

/** Whether the answer of this attempt may be kept: by the model that was planned, at the agent's own route, and as it was asked for. */
export const keeps = ({ state }: AiCall): boolean =>
  state.cachePlan?.writes === true && !state.corrected && state.backup === null && state.fallback === null;

/**
 * Keeps an answer in the caller's shape, as the provider gave it: controls run over it again whenever it is given. Never throws: an answer that can't be kept
 * has been sent all the same.
 */
export async function keep(call: AiCall, answer: unknown, secrets: Iterable<string>): Promise<void> {
  const { adapter, agent, cachePlan, controls } = call.state;
  if (!keeps(call) || !cachePlan || !agent || !adapter || controls?.leaked() || !mayKeep(adapter, answer, detectedOf(call).operation))
    return;
  const text = JSON.stringify(answer);
  if (Buffer.byteLength(text) > LARGEST || [...secrets].some((secret) => secret.length >= 6 && text.includes(secret))) return;
  const { key, question, vector } = cachePlan;
  const near = question && vector ? { scope: question.scope, vector } : undefined;
  try {
    const space = { tenant_id: call.snapshot.tenant.id, sandbox: call.snapshot.sandbox };
    await keepAnswer(space, agent, { key, near }, answer, new Date(Date.now() + agent.cache_ttl_seconds * 1000));
  } catch (error) {
    log.warn({ err: error, request_id: call.requestId }, 'an answer could not be kept');
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
