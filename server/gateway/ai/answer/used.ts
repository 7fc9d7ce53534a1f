import { isObject } from '#server/ai/json.ts';
import type { Adapter } from '#server/ai/shapes/adapter.ts';
import { usageOfHeaders } from '#server/ai/shapes/bedrock-invoke.ts';
import { chargeable, noUsage, type Usage } from '#server/ai/usage/usage.ts';
import { type AiCall, detectedOf } from '../ai-call.ts';
import { sentTo } from '../money/sent.ts';
import type { Answered } from '../upstream/ask.ts';

/** What a whole answer used, by what was read of it: what the provider counted, or an estimate. */
export function usageOf(call: AiCall, theirs: Adapter, parsed: unknown, { attempt, outgoing }: Answered, bytes: Buffer): Usage {
  if (detectedOf(call).operation === 'count_tokens' || detectedOf(call).storedId !== undefined) return noUsage;
  const ofBody = parsed === undefined ? undefined : theirs.usage(parsed);
  const counted = ofBody ?? (outgoing.way.shape === 'bedrock-invoke' ? usageOfHeaders(headersOf(attempt)) : undefined);
  // A failed call without a count costs nothing, whatever its status says (interface rule 51 §9.3).
  if (counted === undefined && isObject(parsed) && (isObject(parsed.error) || typeof parsed.error === 'string')) return noUsage;
  return chargeable(counted, sentTo(call), bytes.length);
}

const headersOf = ({ headers }: Answered['attempt']): Record<string, string> =>
  Object.fromEntries(headers.flatMap((name, i) => (i % 2 === 0 ? [[name, headers[i + 1] as string]] : [])));
