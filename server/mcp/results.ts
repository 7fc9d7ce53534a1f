import { isObject, type Params } from './messages.ts';
import { type Era, META } from './versions.ts';

// Results as clients of both eras read them (interface rule 52 §3.1).

export type ServerInfo = { readonly name: string; readonly version: string };

/** Ours, for a client of an era. */
export const ownResult = (era: Era, result: Params, server: ServerInfo): Params =>
  era === 'legacy' ? result : { resultType: 'complete', ...result, _meta: { ...metaOf(result), [META.serverInfo]: server } };

const metaOf = ({ _meta }: Params): Params => (isObject(_meta) ? _meta : {});

/** An upstream's, for a client of an era: what only the upstream's era knows is taken out, and who answers is us. */
export function relayedResult(era: Era, result: Params, server: ServerInfo): Params {
  const { resultType: _, ttlMs: __, cacheScope: ___, ...rest } = result;
  const meta = Object.fromEntries(Object.entries(metaOf(rest)).filter(([key]) => key !== META.serverInfo));
  const { _meta, ...plain } = rest;
  return ownResult(era, Object.keys(meta).length > 0 ? { ...plain, _meta: meta } : plain, server);
}

/** Whether a value can be the result of a `tools/call`. */
export const isToolResult = (value: unknown): value is Params & { content: unknown[] } =>
  isObject(value) && Array.isArray(value.content) && value.content.every((item) => isObject(item) && typeof item.type === 'string');

/** A result that asks the client for something before the tool goes on (modern era). */
export const asksForInput = (value: unknown): value is Params => isObject(value) && value.resultType === 'input_required';

/** Whether everything that is asked for is a form for the person: nothing that drives the caller's model or reads its folders. */
export const asksOnlyForForms = ({ inputRequests }: Params): boolean =>
  isObject(inputRequests) &&
  Object.values(inputRequests).length > 0 &&
  Object.values(inputRequests).every(
    (request) =>
      isObject(request) &&
      request.method === 'elicitation/create' &&
      isObject(request.params) &&
      (request.params.mode ?? 'form') === 'form',
  );
