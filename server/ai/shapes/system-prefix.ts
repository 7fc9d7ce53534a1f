import { isObject, type JsonObject, listOf, objectOf } from '../json.ts';
import type { Adapter } from './adapter.ts';

/** Puts a text before all that the caller says as the system; false where the body has no place for it. */
export function prependSystem({ shape }: Pick<Adapter, 'shape'>, body: JsonObject, text: string): boolean {
  switch (shape) {
    case 'openai-chat':
    case 'cohere':
      body.messages = [{ role: 'system', content: text }, ...listOf(body.messages)];
      return true;
    case 'openai-responses':
      body.instructions = joined(text, body.instructions);
      return true;
    case 'anthropic':
      body.system = Array.isArray(body.system) ? [{ type: 'text', text }, ...body.system] : joined(text, body.system);
      return true;
    case 'gemini': {
      const held = objectOf(body.systemInstruction);
      body.systemInstruction = { ...held, parts: [{ text }, ...(isObject(held.parts) ? [held.parts] : listOf(held.parts))] };
      return true;
    }
    case 'bedrock-converse':
      body.system = [{ text }, ...listOf(body.system)];
      return true;
    case 'bedrock-invoke':
      return typeof body.anthropic_version === 'string' && prependSystem({ shape: 'anthropic' }, body, text);
    case 'ollama':
      if (body.messages !== undefined) return prependSystem({ shape: 'openai-chat' }, body, text);
      // A raw prompt has no system text, whatever the body says besides.
      if (body.raw === true) return false;
      body.system = joined(text, body.system);
      return true;
    default:
      return false;
  }
}

const joined = (text: string, said: unknown): string => (typeof said === 'string' && said !== '' ? `${text}\n${said}` : text);
