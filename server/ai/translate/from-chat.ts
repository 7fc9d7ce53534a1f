import { countAt, isObject, type JsonObject, objectOf, objectsOf, textAt } from '../json.ts';
import { contentText } from '../shapes/chat-content.ts';
import { numberedCalls } from '../shapes/numbered-calls.ts';
import { openAiChat } from '../shapes/openai-chat.ts';
import { jsonOf, type StreamEvent } from '../stream/event.ts';
import type { Block, Piece, Turn } from './turn.ts';

export function turnOfChat(answer: unknown): Turn {
  const body = objectOf(answer);
  const message = objectOf(objectsOf(body.choices)[0]?.message);
  const text = contentText(message, 'content', 'text') || (textAt(message, 'refusal') ?? '');
  const reasoning = reasoningIn(message);
  return {
    id: textAt(body, 'id') ?? '',
    model: textAt(body, 'model') ?? '',
    blocks: [
      ...(reasoning === '' ? [] : [{ kind: 'reasoning' as const, text: reasoning }]),
      ...(text === '' ? [] : [{ kind: 'text' as const, text }]),
      ...objectsOf(message.tool_calls).map(
        (call): Block => ({
          kind: 'tool',
          id: String(call.id),
          name: textAt(call.function, 'name') ?? '',
          json: textAt(call.function, 'arguments') || '{}',
        }),
      ),
    ],
    finish: openAiChat.finish(answer) ?? 'other',
    usage: openAiChat.usage(answer),
  };
}

const reasoningIn = (holder: JsonObject): string =>
  textAt(holder, 'reasoning_content') ?? textAt(holder, 'reasoning') ?? contentText(holder, 'content', 'reasoning');

/** Reads the chunks of one stream into pieces. */
export function piecesOfChat(): (event: StreamEvent) => readonly Piece[] {
  let started = false;
  const numbered = numberedCalls();
  return (event) => {
    if (openAiChat.stream.terminal(event)) return [{ kind: 'end' }];
    const chunk = objectOf(jsonOf(numbered(event)));
    const pieces: Piece[] = [];
    if (!started && chunk.choices !== undefined) {
      started = true;
      pieces.push({ kind: 'start', id: textAt(chunk, 'id') ?? '', model: textAt(chunk, 'model') ?? '' });
    }
    const choice = objectOf(objectsOf(chunk.choices)[0]);
    const delta = objectOf(choice.delta);
    const add = (kind: 'text' | 'reasoning', text: string) => text !== '' && pieces.push({ kind, text });
    add('reasoning', reasoningIn(delta));
    add('text', contentText(delta, 'content', 'text') || (textAt(delta, 'refusal') ?? ''));
    for (const call of objectsOf(delta.tool_calls)) {
      const key = String(countAt(call, 'index') ?? 0);
      const { function: called } = call;
      if (typeof call.id === 'string' && isObject(called) && typeof called.name === 'string')
        pieces.push({ kind: 'tool', key, id: call.id, name: called.name });
      const text = textAt(called, 'arguments') ?? '';
      if (text !== '') pieces.push({ kind: 'arguments', key, text });
    }
    const finish = openAiChat.stream.finish(event);
    if (finish) pieces.push({ kind: 'finish', finish });
    const usage = openAiChat.stream.usage(event, undefined);
    if (usage) pieces.push({ kind: 'usage', usage });
    return pieces;
  };
}
