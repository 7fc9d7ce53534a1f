'use client';

import { useQueryStates } from 'nuqs';
import { usePath } from '#components/trpc/provider.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyTab } from '#components/ui/lazy.tsx';
import { TabLinks } from '#components/ui/tabs.tsx';
import { SPEND_TABS, spendSearch } from './list-search.ts';
import { UsageTab } from './usage-tab.tsx';

const PricesTab = lazyTab(() => import('./prices-tab.tsx').then((module) => module.PricesTab));
const AlertsTab = lazyTab(() => import('./alerts-tab.tsx').then((module) => module.AlertsTab));

const LABELS = { usage: 'Usage', prices: 'Prices', alerts: 'Alerts' } as const;

/** What calls of the AI gateway cost, by what; the prices they are charged with; alerts of budgets. */
export function SpendView() {
  const path = usePath();
  const [{ tab }, set] = useQueryStates(spendSearch);
  return (
    <Page>
      <PageHeader title="Spend" description="What calls through the AI gateway used and cost. Days are in UTC." />
      <TabLinks
        label="Spend"
        tabs={SPEND_TABS.map((id) => ({
          href: path(id === 'usage' ? '/ai/spend' : `/ai/spend?tab=${id}`),
          label: LABELS[id],
          active: tab === id,
          onSelect: () => void set({ tab: id, page: null, q: null }),
        }))}
      />
      {tab === 'usage' && <UsageTab />}
      {tab === 'prices' && <PricesTab />}
      {tab === 'alerts' && <AlertsTab />}
    </Page>
  );
}
