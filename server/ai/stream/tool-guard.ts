import { countAt, isObject, type JsonObject, listOf, objectOf, objectsOf, textAt } from '../json.ts';
import { blockedTool } from '../shapes/adapter.ts';
import { adapterOf } from '../shapes/adapters.ts';
import { blockedItem } from '../shapes/openai-responses.ts';
import type { Shape } from '../shapes/shape.ts';
import { changed, jsonOf, made, mentions, nameOf, type Stage, type StreamEvent } from './event.ts';

/**
 * Keeps tool calls that an agent doesn't allow out of a stream: a text that says so stands in their place, and an answer that only called such tools
 * stops instead (spec/51 §5.10). `onBlocked` is told each name.
 */
export function toolGuard(shape: Shape, allowed: (name: string) => boolean, onBlocked: (name: string) => void): Stage {
  const guard = GUARDS[shape]?.(allowed, onBlocked) ?? ((event: StreamEvent) => guardWhole(shape, event, allowed, onBlocked));
  return { push: guard, end: () => [] };
}

type Guard = (event: StreamEvent) => readonly StreamEvent[];
type MakeGuard = (allowed: (name: string) => boolean, onBlocked: (name: string) => void) => Guard;

const GUARDS: Partial<Record<Shape, MakeGuard>> = {
  'openai-chat': guardChat,
  anthropic: guardAnthropic,
  'openai-responses': guardResponses,
  'bedrock-converse': guardConverse,
};

/** Shapes whose calls come whole in one event. */
function guardWhole(
  shape: Shape,
  event: StreamEvent,
  allowed: (name: string) => boolean,
  onBlocked: (name: string) => void,
): readonly StreamEvent[] {
  if (shape === 'gemini' ? !mentions(event, 'functionCall') : !mentions(event, 'tool_calls')) return [event];
  const blocked = adapterOf(shape).blockTools(jsonOf(event), allowed);
  blocked.forEach(onBlocked);
  return [blocked.length > 0 ? changed(event) : event];
}

function guardChat(allowed: (name: string) => boolean, onBlocked: (name: string) => void): Guard {
  const dropped = new Set<string>();
  const passed = new Set<number>();
  return (event) => {
    if (dropped.size === 0 && !mentions(event, '"tool_calls"')) return [event];
    for (const choice of objectsOf(objectOf(jsonOf(event)).choices)) {
      const index = countAt(choice, 'index') ?? 0;
      const delta = objectOf(choice.delta);
      if (Array.isArray(delta.tool_calls)) {
        const refused: string[] = [];
        const kept = objectsOf(delta.tool_calls).filter((call) => {
          const key = `${index}.${countAt(call, 'index') ?? 0}`;
          const name = textAt(call.function, 'name') ?? textAt(call.custom, 'name');
          if (name !== undefined && name !== '' && !allowed(name)) {
            dropped.add(key);
            refused.push(name);
          }
          return !dropped.has(key);
        });
        if (kept.length > 0) passed.add(index);
        if (kept.length < listOf(delta.tool_calls).length) {
          if (kept.length > 0) delta.tool_calls = kept;
          else delete delta.tool_calls;
          if (refused.length > 0) delta.content = [textAt(delta, 'content') ?? '', ...refused.map(blockedTool)].join('');
          refused.forEach(onBlocked);
          changed(event);
        }
      }
      if (choice.finish_reason === 'tool_calls' && !passed.has(index)) {
        choice.finish_reason = 'stop';
        changed(event);
      }
    }
    return [event];
  };
}

function guardAnthropic(allowed: (name: string) => boolean, onBlocked: (name: string) => void): Guard {
  const dropped = new Set<unknown>();
  let passed = false;
  return (event) => {
    if (dropped.size === 0 && !mentions(event, 'tool_use')) return [event];
    const json = objectOf(jsonOf(event));
    const block = objectOf(json.content_block);
    if (json.type === 'content_block_start' && block.type === 'tool_use') {
      const name = String(block.name);
      passed ||= allowed(name);
      if (allowed(name)) return [event];
      dropped.add(json.index);
      onBlocked(name);
      json.content_block = { type: 'text', text: '' };
      const delta = { type: 'text_delta', text: blockedTool(name) };
      return [changed(event), made('sse', { type: 'content_block_delta', index: json.index, delta }, 'content_block_delta')];
    }
    if (json.type === 'content_block_delta' && dropped.has(json.index)) return [];
    const ended = objectOf(json.delta);
    if (json.type !== 'message_delta' || ended.stop_reason !== 'tool_use' || passed) return [event];
    ended.stop_reason = 'end_turn';
    return [changed(event)];
  };
}

/** Responses repeat an item in three kinds of events; arguments of a blocked one are left out, and its item becomes a message. */
function guardResponses(allowed: (name: string) => boolean, onBlocked: (name: string) => void): Guard {
  const dropped = new Set<unknown>();
  const isBlocked = (item: JsonObject) =>
    (item.type === 'function_call' || item.type === 'custom_tool_call') && !allowed(String(item.name));
  return (event) => {
    if (dropped.size === 0 && !mentions(event, '_call"')) return [event];
    const json = objectOf(jsonOf(event));
    if (isObject(json.item) && isBlocked(json.item)) {
      if (!dropped.has(json.output_index)) onBlocked(String(json.item.name));
      dropped.add(json.output_index);
      json.item = blockedItem(json.item);
      return [changed(event)];
    }
    if (isObject(json.response) && objectsOf(json.response.output).some(isBlocked)) {
      json.response.output = objectsOf(json.response.output).map((item) => (isBlocked(item) ? blockedItem(item) : item));
      return [changed(event)];
    }
    return dropped.has(json.output_index) && json.item === undefined ? [] : [event];
  };
}

function guardConverse(allowed: (name: string) => boolean, onBlocked: (name: string) => void): Guard {
  const dropped = new Set<unknown>();
  let passed = false;
  return (event) => {
    const name = nameOf(event);
    if (name === 'contentBlockStart') {
      const { start, contentBlockIndex } = objectOf(jsonOf(event));
      const tool = textAt(objectOf(start).toolUse, 'name');
      if (tool === undefined) return [event];
      passed ||= allowed(tool);
      if (allowed(tool)) return [event];
      dropped.add(contentBlockIndex);
      onBlocked(tool);
      return [made('event-stream', { contentBlockIndex, delta: { text: blockedTool(tool) } }, 'contentBlockDelta')];
    }
    if (dropped.size === 0) return [event];
    const json = objectOf(jsonOf(event));
    if (name === 'contentBlockDelta' && dropped.has(json.contentBlockIndex)) return [];
    if (name !== 'messageStop' || json.stopReason !== 'tool_use' || passed) return [event];
    json.stopReason = 'end_turn';
    return [changed(event)];
  };
}
