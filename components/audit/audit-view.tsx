'use client';

import { useQueryStates } from 'nuqs';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyTab } from '#components/ui/lazy.tsx';
import { TabLinks } from '#components/ui/tabs.tsx';
import { auditSearch } from './list-search.ts';
import { Timeline } from './timeline.tsx';

const ChainView = lazyTab(() => import('./chain-view.tsx').then((module) => module.ChainView));

/** The audit log: what happened, and the proof that nothing was taken out of it. */
export function AuditView() {
  const [search] = useQueryStates(auditSearch);
  return (
    <Page>
      <PageHeader title="Audit" description="Who changed what, when and from where." />
      <TabLinks
        label="Audit"
        tabs={[
          { href: '?', label: 'Timeline', active: search.tab === 'timeline' },
          { href: '?tab=chain', label: 'Critical chain', active: search.tab === 'chain' },
        ]}
      />
      {search.tab === 'chain' ? <ChainView /> : <Timeline />}
    </Page>
  );
}
