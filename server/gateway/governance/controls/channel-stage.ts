import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Delta, StreamGrammar } from '#server/ai/shapes/adapter.ts';
import { changed, type StreamEvent, type WaitingStage } from '#server/ai/stream/event.ts';
import { ready, type Steps, taken, type Waits } from '#server/ai/stream/steps.ts';
import type { PooledStream } from '#server/custody/ai/detectors/pii.ts';

export type ChannelStage = {
  grammar: StreamGrammar;
  /** The stream of a channel that begins. */
  open: (kind: Delta['kind']) => PooledStream;
  /** A text that an event repeats or sends whole. */
  whole: (text: string) => Waits<string>;
};

/**
 * A stage that passes each channel of an answer through a stream of its own. What a stream holds back is sent before the event that ends its channel, and
 * at the end. An event whose pieces come out as they went in keeps its bytes.
 */
export function channelStage({ grammar, open, whole }: ChannelStage): WaitingStage {
  const channels = new Map<string, { stream: PooledStream; last: StreamEvent }>();
  function* flushed(ending: Iterable<string>): Steps<StreamEvent[]> {
    const events: StreamEvent[] = [];
    for (const channel of ending) {
      const held = channels.get(channel);
      channels.delete(channel);
      const text = held ? yield* ready(held.stream.flush()) : '';
      if (held && text !== '') for (const piece of pieces(text)) events.push(grammar.delta(channel, piece, held.last));
    }
    return events;
  }

  function* passed(event: StreamEvent): Steps<StreamEvent[]> {
    const deltas = grammar.deltas(event);
    // Servers send an empty text with whatever else they send: it begins nothing.
    const begun = deltas.filter(({ channel, text }) => text !== '' && !channels.has(channel));
    for (const { channel, kind } of begun) channels.set(channel, { stream: open(kind), last: event });
    const ending =
      channels.size === 0
        ? []
        : grammar.closes(
            event,
            channels.keys(),
            begun.map(({ channel }) => channel),
          );
    const before = yield* flushed(ending.filter((channel) => !deltas.some((delta) => delta.channel === channel)));
    let current = event;
    for (const { channel, text } of deltas) {
      const known = channels.get(channel);
      if (!known) continue;
      // The last piece comes with what ends its channel.
      let passed = yield* ready(known.stream.push(text));
      if (ending.includes(channel)) {
        passed += yield* ready(known.stream.flush());
        channels.delete(channel);
      }
      if (passed !== text) current = grammar.setDelta(current, channel, passed);
      known.last = current;
    }
    for (const ref of grammar.texts(event)) {
      const text = yield* ready(whole(ref.text));
      if (text === ref.text) continue;
      ref.set(text);
      changed(current);
    }
    return before.length === 0 ? [current] : [...before, current];
  }

  return { push: (event) => taken(passed(event)), end: () => taken(flushed([...channels.keys()])) };
}

/** A stream whose every part takes a few milliseconds at most: longer ones are passed in slices, and the loop goes on between them. */
export function inSlices(stream: PooledStream): PooledStream {
  return {
    push: (text) => (text.length <= SLICE ? stream.push(text) : sliced(stream, text)),
    flush: stream.flush,
  };
}

async function sliced(stream: PooledStream, text: string): Promise<string> {
  let passed = '';
  for (let at = 0; at < text.length; at += SLICE) {
    passed += await stream.push(text.slice(at, at + SLICE));
    await nextTurn();
  }
  return passed;
}

const SLICE = 16 * 1024;

/** What was buffered is replayed in pieces. */
function pieces(text: string): string[] {
  if (text.length <= PIECE) return [text];
  const list: string[] = [];
  for (let at = 0; at < text.length; ) {
    let end = Math.min(text.length, at + PIECE);
    const code = text.charCodeAt(end - 1);
    if (end < text.length && code >= 0xd800 && code < 0xdc00) end--;
    list.push(text.slice(at, end));
    at = end;
  }
  return list;
}

const PIECE = 1_024;
