'use client';

import { parseAsStringLiteral, useQueryState } from 'nuqs';
import { useScope } from '#components/trpc/provider.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyTab } from '#components/ui/lazy.tsx';
import { TabLinks } from '#components/ui/tabs.tsx';
import { Inbox } from './inbox.tsx';

const Preferences = lazyTab(() => import('./preferences.tsx').then((module) => module.NotificationPreferencesView));

const Requests = lazyTab(() => import('./requests.tsx').then((module) => module.AccessRequests));

const TABS = ['inbox', 'requests', 'preferences'] as const;
const LABELS = { inbox: 'Inbox', requests: 'Requests', preferences: 'Preferences' };

/** The person's inbox in this workspace, and how they want to be told. */
export function NotificationsView() {
  const { slug } = useScope();
  const [tab, setTab] = useQueryState('tab', parseAsStringLiteral(TABS).withDefault('inbox'));
  return (
    <Page>
      <PageHeader
        title="Notifications"
        description="What happened in this workspace that concerns you, in Live and Test. Kept for 90 days."
      >
        <TabLinks
          label="Sections"
          tabs={TABS.map((value) => ({
            href: `/${slug}/settings/notifications${value === 'inbox' ? '' : `?tab=${value}`}`,
            label: LABELS[value],
            active: tab === value,
            onSelect: () => void setTab(value === 'inbox' ? null : value),
          }))}
        />
      </PageHeader>
      {tab === 'inbox' && <Inbox perPage={50} />}
      {tab === 'requests' && <Requests />}
      {tab === 'preferences' && <Preferences />}
    </Page>
  );
}
