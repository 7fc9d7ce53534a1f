import { isObject, objectsOf } from '../json.ts';
import { credential } from '../pii/entities/credential.ts';
import type { Adapter } from '../shapes/adapter.ts';
import type { Operation, Shape } from '../shapes/shape.ts';

const KEPT: ReadonlySet<Operation> = new Set<Operation>(['chat', 'messages', 'responses', 'generate', 'embeddings', 'rerank']);
/** Bodies whose meaning lies in what the provider keeps, or whose answer comes later. */
const STATEFUL = ['conversation', 'background', 'container', 'previous_response_id', 'prompt'];

/** Whether the answer of such a request could be another's. */
export const isCacheable = (operation: Operation, shape: Shape, body: Readonly<Record<string, unknown>>): boolean =>
  KEPT.has(operation) && !(shape === 'openai-responses' && STATEFUL.some((name) => body[name] != null && body[name] !== false));

/** Whether an answer may be given again: whole, ended by itself, one, without calls of tools and without anything that looks like a credential. */
export function mayKeep(adapter: Adapter, answer: unknown, operation: Operation): boolean {
  if (!isObject(answer)) return false;
  const alone = objectsOf(answer.choices).length < 2 && objectsOf(answer.candidates).length < 2;
  const ended = adapter.finish(answer) === 'stop' || operation === 'embeddings' || operation === 'rerank';
  return (
    alone &&
    ended &&
    adapter.toolCalls(answer).length === 0 &&
    adapter.answerTexts(answer).every(({ text }) => credential.find(text, 0).length === 0)
  );
}
