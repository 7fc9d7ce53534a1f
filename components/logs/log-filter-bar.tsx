'use client';

import { type ReactNode, useRef, useState } from 'react';
import { queryText, SAFE_LENGTH } from '#components/shell/query-text.ts';
import { Callout } from '#components/ui/callout.tsx';
import type { MenuEntry } from '#components/ui/dropdown-menu.tsx';
import { useEnvironmentLabel } from '#components/ui/environment-label.ts';
import { type ActiveFilter, FilterBar } from '#components/ui/filter-bar.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { onDemand } from '#components/ui/on-demand.ts';
import { useKnownPlaces } from './active-filters.tsx';
import { type Facets, facetGroups } from './facet-groups.ts';
import type { LogSearch } from './list-search.ts';

const grammar = onDemand(() => import('./typed-query.ts'));

type Props = {
  search: LogSearch;
  onChange: (change: Partial<LogSearch>) => void;
  filters: readonly ActiveFilter[];
  facets: Facets | undefined;
  onClear: () => void;
  children?: ReactNode;
};

const SLOWER = [200, 500, 1_000, 5_000];
/** Values of one kind in the menu; beside the list there are more. */
const LISTED = 6;

/** One line for both ways of filtering: choose from the menu, or type `status:5xx route:payments timeout`. */
export function LogFilterBar({ search, onChange, filters, facets, onClear, children }: Props) {
  const known = useKnownPlaces();
  const environmentName = useEnvironmentLabel();
  const [wrong, setWrong] = useState<{ found: readonly string[]; words: readonly string[] }>();
  const [dropped, setDropped] = useState(false);
  const words = grammar.use(false);
  const latest = useRef('');
  const typed = async (text: string, entered: boolean) => {
    latest.current = text;
    const read = words ?? (await import('./typed-query.ts').catch(() => undefined));
    if (latest.current !== text) return;
    // Without its grammar a query is what it says.
    const { change, rest, unknown } = read?.readQuery(text, known) ?? { change: {}, rest: text, unknown: [] };
    // A word that filters is taken on Enter: `latency:>8` may be on its way to `latency:>800`.
    if (!entered && (unknown.length > 0 || Object.keys(change).length > 0)) return;
    setWrong(read && unknown.length > 0 ? { found: unknown, words: read.QUERY_WORDS } : undefined);
    // The text goes into the address: of what looks like a credential only its beginning may.
    const { kept, credential } = queryText(rest);
    setDropped(credential || (dropped && rest.length >= SAFE_LENGTH));
    onChange({ ...change, q: kept });
  };
  const choices: MenuEntry[] = [
    ...(facets ? facetGroups(facets, search, environmentName) : []).flatMap(({ title, values }): MenuEntry[] => [
      { heading: title },
      ...values.slice(0, LISTED).map(({ label, count, chosen, change }) => ({
        label: (
          <span className="flex items-baseline justify-between gap-4">
            <span className="truncate">{label}</span>
            <span className="figures text-ink-3 text-xs">{grouped(count)}</span>
          </span>
        ),
        checked: chosen,
        onSelect: () => onChange(change),
      })),
      'separator',
    ]),
    { label: 'Rate limited', checked: search.limited === true, onSelect: () => onChange({ limited: search.limited ? null : true }) },
    'separator',
    { heading: 'Slower than' },
    ...SLOWER.map((ms) => ({
      label: `${grouped(ms)} ms`,
      checked: search.slower === ms,
      onSelect: () => onChange({ slower: search.slower === ms ? null : ms }),
    })),
  ];
  return (
    <div className="flex flex-col gap-2">
      <FilterBar
        query={search.q}
        onQuery={(text, entered) => void typed(text, entered)}
        placeholder="Path, request ID, or status:5xx route:…"
        filters={filters}
        choices={choices}
        onClear={onClear}
      >
        {children}
      </FilterBar>
      {dropped && (
        <Callout tone="warn" title={`That looks like a credential. Only its first ${SAFE_LENGTH.toString()} characters are searched.`}>
          Logs never contain credentials. Search by key name instead, as in <code className="font-mono text-xs">key:name</code>.
        </Callout>
      )}
      {wrong && (
        <Callout title={`Unknown filter: ${wrong.found.join(', ')}`}>
          Available filters: {wrong.words.join(', ')}. Other text searches the path.
        </Callout>
      )}
    </div>
  );
}
