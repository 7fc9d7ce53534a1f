import { objectOf, objectsOf, textAt } from '../json.ts';
import { bedrockConverse } from '../shapes/bedrock-converse.ts';
import { jsonOf, nameOf, type StreamEvent } from '../stream/event.ts';
import type { Block, Piece, Turn } from './turn.ts';

/** Bedrock names neither an id nor the model: both are the call's. */
export type CallNames = { readonly id: string; readonly model: string };

export function turnOfConverse(answer: unknown, names: CallNames): Turn {
  const message = objectOf(objectOf(objectOf(answer).output).message);
  return {
    ...names,
    blocks: objectsOf(message.content).flatMap(({ text, toolUse, reasoningContent }): Block[] => {
      if (typeof text === 'string') return [{ kind: 'text', text }];
      const thought = objectOf(objectOf(reasoningContent).reasoningText);
      if (typeof thought.text === 'string') return [{ kind: 'reasoning', text: thought.text, signature: textAt(thought, 'signature') }];
      const call = objectOf(toolUse);
      return typeof call.name === 'string'
        ? [{ kind: 'tool', id: String(call.toolUseId), name: call.name, json: JSON.stringify(call.input ?? {}) }]
        : [];
    }),
    finish: bedrockConverse.finish(answer) ?? 'other',
    usage: bedrockConverse.usage(answer),
  };
}

/** Reads the messages of one event stream into pieces. */
export function piecesOfConverse(names: CallNames): (event: StreamEvent) => readonly Piece[] {
  return (event) => {
    const json = objectOf(jsonOf(event));
    const key = String(json.contentBlockIndex ?? 0);
    switch (nameOf(event)) {
      case 'messageStart':
        return [{ kind: 'start', ...names }];
      case 'contentBlockStart': {
        const call = objectOf(objectOf(json.start).toolUse);
        return typeof call.name === 'string' ? [{ kind: 'tool', key, id: String(call.toolUseId), name: call.name }] : [];
      }
      case 'contentBlockDelta': {
        const delta = objectOf(json.delta);
        const reasoning = objectOf(delta.reasoningContent);
        if (typeof delta.text === 'string') return [{ kind: 'text', text: delta.text }];
        if (typeof reasoning.text === 'string') return [{ kind: 'reasoning', text: reasoning.text }];
        if (typeof reasoning.signature === 'string') return [{ kind: 'signature', text: reasoning.signature }];
        const input = textAt(delta.toolUse, 'input');
        return input === undefined ? [] : [{ kind: 'arguments', key, text: input }];
      }
      case 'messageStop': {
        const finish = bedrockConverse.stream.finish(event);
        return finish ? [{ kind: 'finish', finish }] : [];
      }
      case 'metadata': {
        const usage = bedrockConverse.usage(json);
        return [...(usage ? [{ kind: 'usage' as const, usage }] : []), { kind: 'end' }];
      }
      default:
        return [];
    }
  };
}
