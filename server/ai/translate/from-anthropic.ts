import { isObject, objectOf, objectsOf, textAt } from '../json.ts';
import { anthropic } from '../shapes/anthropic.ts';
import { jsonOf, type StreamEvent } from '../stream/event.ts';
import { anthropicUsage } from '../usage/provider-counts.ts';
import type { Usage } from '../usage/usage.ts';
import type { Block, Piece, Turn } from './turn.ts';

export function turnOfAnthropic(answer: unknown): Turn {
  const body = objectOf(answer);
  return {
    id: textAt(body, 'id') ?? '',
    model: textAt(body, 'model') ?? '',
    blocks: objectsOf(body.content).flatMap(({ type, ...block }): Block[] => {
      if (type === 'text') return [{ kind: 'text', text: textAt(block, 'text') ?? '' }];
      if (type === 'thinking') return [{ kind: 'reasoning', text: textAt(block, 'thinking') ?? '', signature: textAt(block, 'signature') }];
      return type === 'tool_use'
        ? [{ kind: 'tool', id: String(block.id), name: String(block.name), json: JSON.stringify(block.input ?? {}) }]
        : [];
    }),
    finish: anthropic.finish(answer) ?? 'other',
    stopSequence: textAt(body, 'stop_sequence'),
    usage: anthropic.usage(answer),
  };
}

/** Reads the events of one stream into pieces. */
export function piecesOfAnthropic(): (event: StreamEvent) => readonly Piece[] {
  let usage: Usage | undefined;
  return (event) => {
    usage = anthropic.stream.usage(event, usage);
    const json = objectOf(jsonOf(event));
    const delta = objectOf(json.delta);
    switch (json.type) {
      case 'message_start': {
        const message = objectOf(json.message);
        return [
          { kind: 'start', id: textAt(message, 'id') ?? '', model: textAt(message, 'model') ?? '', usage: anthropicUsage(message.usage) },
        ];
      }
      case 'content_block_start': {
        const block = objectOf(json.content_block);
        if (block.type === 'tool_use') return toolPieces(String(json.index), String(block.id), String(block.name), block.input);
        const text = textAt(block, 'text') ?? '';
        return text === '' ? [] : [{ kind: 'text', text }];
      }
      case 'content_block_delta':
        if (delta.type === 'text_delta') return [{ kind: 'text', text: textAt(delta, 'text') ?? '' }];
        if (delta.type === 'thinking_delta') return [{ kind: 'reasoning', text: textAt(delta, 'thinking') ?? '' }];
        if (delta.type === 'signature_delta') return [{ kind: 'signature', text: textAt(delta, 'signature') ?? '' }];
        return delta.type === 'input_json_delta'
          ? [{ kind: 'arguments', key: String(json.index), text: textAt(delta, 'partial_json') ?? '' }]
          : [];
      case 'message_delta': {
        const finish = anthropic.stream.finish(event);
        return finish ? [{ kind: 'finish', finish, stopSequence: textAt(delta, 'stop_sequence') }] : [];
      }
      case 'message_stop':
        return [...(usage ? [{ kind: 'usage' as const, usage }] : []), { kind: 'end' }];
      case 'ping':
        return [{ kind: 'ping' }];
      default:
        return [];
    }
  };
}

/** A tool call; arguments that came whole with its start follow it. */
function toolPieces(key: string, id: string, name: string, input: unknown): Piece[] {
  const whole = isObject(input) && Object.keys(input).length > 0 ? JSON.stringify(input) : '';
  return [{ kind: 'tool', key, id, name }, ...(whole === '' ? [] : [{ kind: 'arguments' as const, key, text: whole }])];
}
