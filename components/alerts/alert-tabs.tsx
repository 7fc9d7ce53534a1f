'use client';

import { usePath } from '#components/trpc/provider.tsx';
import { TabLinks } from '#components/ui/tabs.tsx';

type Tab = 'alerts' | 'incidents' | 'channels';

const TABS = [
  ['alerts', '/alerts', 'Alerts'],
  ['incidents', '/alerts/incidents', 'Incidents'],
  ['channels', '/alerts/channels', 'Channels'],
] as const;

/** The three pages of alerts. */
export function AlertTabs({ active }: { active: Tab }) {
  const path = usePath();
  return <TabLinks label="Alerts" tabs={TABS.map(([tab, to, label]) => ({ href: path(to), label, active: tab === active }))} />;
}
