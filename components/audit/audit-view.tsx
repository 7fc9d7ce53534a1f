'use client';

import { useQueryStates } from 'nuqs';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { TabLinks } from '#components/ui/tabs.tsx';
import { ChainView } from './chain-view.tsx';
import { auditSearch } from './list-search.ts';
import { Timeline } from './timeline.tsx';

/** The audit log: what happened, and the proof that nothing was taken out of it. */
export function AuditView() {
  const [search] = useQueryStates(auditSearch);
  return (
    <Page>
      <PageHeader
        title="Audit"
        description="Who did what, when and from where. Changes and their entries are stored together or not at all."
      />
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
