import type { InjectMap, JsonObject, JsonValue } from '../effective.ts';
import type { Local } from './draft.ts';

type Change = (text: string) => string;

/** The configuration with every text changed that may hold a secret. */
export function withTexts<T extends Pick<Local, 'inject_headers_json' | 'inject_query_json' | 'inject_body_json' | 'method_configs'>>(
  local: T,
  change: Change,
): T {
  const { inject_headers_json, inject_query_json, inject_body_json, method_configs } = local;
  return {
    ...local,
    ...(inject_headers_json && { inject_headers_json: mapOf(inject_headers_json, change) }),
    ...(inject_query_json && { inject_query_json: mapOf(inject_query_json, change) }),
    ...(inject_body_json && { inject_body_json: inJson(inject_body_json, change) as JsonObject }),
    ...(method_configs && { method_configs: method_configs.map((entry) => withTexts(entry, change)) }),
  };
}

const mapOf = (map: InjectMap, change: Change): InjectMap =>
  Object.fromEntries(Object.entries(map).map(([name, text]) => [name, text === null ? null : change(text)]));

function inJson(value: JsonValue, change: Change): JsonValue {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((one) => inJson(one, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inJson(one, change)]));
}
