import type { TextStream } from '#server/ai/pii/text-stream.ts';
import type { Delta, StreamGrammar } from '#server/ai/shapes/adapter.ts';
import { changed, type Stage, type StreamEvent } from '#server/ai/stream/event.ts';

export type ChannelStage = {
  grammar: StreamGrammar;
  /** The stream of a channel that begins. */
  open: (kind: Delta['kind']) => TextStream;
  /** A text that an event repeats or sends whole. */
  whole: (text: string) => string;
};

/**
 * A stage that passes each channel of an answer through a stream of its own. What a stream holds back is sent before the event that ends its channel, and
 * at the end. An event whose pieces come out as they went in keeps its bytes.
 */
export function channelStage({ grammar, open, whole }: ChannelStage): Stage {
  const channels = new Map<string, { stream: TextStream; last: StreamEvent }>();
  const flushed = (channel: string): StreamEvent[] => {
    const held = channels.get(channel);
    channels.delete(channel);
    const text = held?.stream.flush() ?? '';
    return held && text !== '' ? pieces(text).map((piece) => grammar.delta(channel, piece, held.last)) : [];
  };

  return {
    push(event) {
      const deltas = grammar.deltas(event);
      for (const { channel, kind } of deltas) if (!channels.has(channel)) channels.set(channel, { stream: open(kind), last: event });
      const ending = channels.size === 0 ? [] : grammar.closes(event, channels.keys());
      const before = ending.filter((channel) => !deltas.some((delta) => delta.channel === channel)).flatMap(flushed);
      let current = event;
      for (const { channel, text } of deltas) {
        const known = channels.get(channel);
        if (!known) continue;
        // The last piece comes with what ends its channel.
        const passed = known.stream.push(text) + (ending.includes(channel) ? known.stream.flush() : '');
        if (ending.includes(channel)) channels.delete(channel);
        if (passed !== text) current = grammar.setDelta(current, channel, passed);
        known.last = current;
      }
      for (const ref of grammar.texts(event)) {
        const text = whole(ref.text);
        if (text === ref.text) continue;
        ref.set(text);
        changed(current);
      }
      return before.length === 0 ? [current] : [...before, current];
    },
    end: () => [...channels.keys()].flatMap(flushed),
  };
}

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
