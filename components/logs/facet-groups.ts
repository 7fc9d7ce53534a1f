import type { z } from 'zod';
import { capitalize } from '#components/ui/capitalize.ts';
import type { LogFacets } from '#server/domain/request-logs/browse.schema.ts';
import { MODE_WORDS, OUTCOME_WORDS } from './filter-labels.ts';
import type { LogSearch } from './list-search.ts';
import { reasonOf } from './refusal-reasons.ts';

export type Facets = z.output<typeof LogFacets>;
export type FacetValue = {
  value: string;
  label: string;
  /** Undefined for a status by its number: the server counts classes. */
  count: number | undefined;
  chosen: boolean;
  change: Partial<LogSearch>;
};
export type FacetGroup = { title: string; values: readonly FacetValue[] };

type Counted = { value: string; count: number | undefined };
type Key = 'outcome' | 'status' | 'route_id' | 'error' | 'environment' | 'client_id' | 'api_key_id' | 'method' | 'mode';

/** What the calls can be narrowed by, with how many each choice leaves; a chosen value that is left with none stays, so that it can be given up. */
export function facetGroups(facets: Facets, search: LogSearch, environmentName: (name: string) => string = same): FacetGroup[] {
  const group = (title: string, key: Key, values: readonly Counted[], label: (value: string) => string) => {
    const chosen = search[key];
    const count = key === 'status' && /^\d+$/.test(chosen ?? '') ? undefined : 0;
    const known = chosen === null || values.some(({ value }) => value === chosen) ? values : [...values, { value: chosen, count }];
    return {
      title,
      values: known.map(({ value, count }) => ({
        value,
        label: label(value),
        count,
        chosen: value === chosen,
        change: { [key]: value === chosen ? null : value } as Partial<LogSearch>,
      })),
    };
  };
  const named = (values: Facets['route_id']) => (value: string) => values.find((one) => one.value === value)?.name ?? value.slice(0, 8);
  return [
    group('Outcome', 'outcome', failed(facets.outcome), (value) => OUTCOME_WORDS[value as keyof typeof OUTCOME_WORDS] ?? value),
    group('Status', 'status', facets.status_class.toSorted(byValue), same),
    group('Route', 'route_id', facets.route_id, named(facets.route_id)),
    group('Refusal reason', 'error', facets.error, (code) => capitalize(reasonOf(code))),
    group('Environment', 'environment', facets.environment, environmentName),
    group('Client', 'client_id', facets.client_id, named(facets.client_id)),
    group('API key', 'api_key_id', facets.api_key_id, named(facets.api_key_id)),
    group('Method', 'method', facets.method, same),
    group('Source', 'mode', facets.proxy_mode, (value) => MODE_WORDS[value as keyof typeof MODE_WORDS] ?? value),
  ].filter(({ values }) => values.length > 1 || values.some((one) => one.chosen));
}

const same = (value: string) => value;
const byValue = (a: { value: string }, b: { value: string }) => a.value.localeCompare(b.value);

/** The server gives each call its narrowest word; the filter `failed` takes the refused ones in, and so must its count. */
function failed(outcomes: Facets['outcome']) {
  const count = (value: string) => outcomes.find((one) => one.value === value)?.count ?? 0;
  const values = [
    { value: 'ok', count: count('ok') },
    { value: 'failed', count: count('failed') + count('refused') },
    { value: 'refused', count: count('refused') },
  ];
  return values.filter((one) => one.count > 0);
}
