import { mapTexts } from '#server/domain/templates/texts.shared.ts';
import type { InjectMap, JsonObject } from '../effective.ts';
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
    ...(inject_headers_json && { inject_headers_json: changed(inject_headers_json, change) }),
    ...(inject_query_json && { inject_query_json: changed(inject_query_json, change) }),
    ...(inject_body_json && { inject_body_json: changed(inject_body_json, change) }),
    ...(method_configs && { method_configs: method_configs.map((entry) => withTexts(entry, change)) }),
  };
}

const changed = <T extends InjectMap | JsonObject>(value: T, change: Change): T => mapTexts(value, ({ text }) => change(text)) as T;
