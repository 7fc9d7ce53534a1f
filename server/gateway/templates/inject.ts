import { atOnce } from '#server/kernel/slices.ts';
import type { Refused } from '../core/refusal.ts';
import type { CallConfig } from '../snapshot/model.ts';
import { renderHeader, renderText, replacePairs, type Values } from './render.ts';

/** The headers that a configuration adds, names and values in turn; null when it adds none. Notes their places in `injected`. */
export function injectHeaders(config: CallConfig, values: Values, injected: string[]): string[] | null | Refused {
  if (config.headers.length === 0) return null;
  const headers: string[] = [];
  for (const rule of config.headers) {
    if (rule.template === null) continue;
    const value = renderHeader({ ...rule, template: rule.template }, values);
    if (typeof value !== 'string') return value;
    headers.push(rule.name, value);
    injected.push(`header:${rule.lower}`);
  }
  return headers;
}

/** The path with the caller's query and the parameters that a configuration adds, which take the place of those of the same name. */
export function withQuery(path: string, sent: string | null, config: CallConfig, values: Values, injected: string[]): string {
  let query = sent;
  if (config.query.length > 0) {
    const pairs = config.query.flatMap((rule) => (rule.template ? [[rule.name, renderText(rule.template, values)] as const] : []));
    query = atOnce(replacePairs(query ?? '', config.queryNames, pairs));
    for (const [name] of pairs) injected.push(`query:${name}`);
  }
  return query !== null && (query !== '' || sent !== null) ? `${path}?${query}` : path;
}
