'use client';

import { parseAsStringLiteral, useQueryState } from 'nuqs';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyTab } from '#components/ui/lazy.tsx';
import { TabLinks } from '#components/ui/tabs.tsx';
import { FirewallPolicies } from './firewall-policies.tsx';

const FirewallRules = lazyTab(() => import('./firewall-rules.tsx').then((module) => module.FirewallRules));
const FirewallTester = lazyTab(() => import('./firewall-tester.tsx').then((module) => module.FirewallTester));
const FirewallHits = lazyTab(() => import('./firewall-hits.tsx').then((module) => module.FirewallHits));

const TABS = ['policies', 'rules', 'hits', 'tester'] as const;
const LABELS = { policies: 'Policies', rules: 'Built-in rules', hits: 'Recent hits', tester: 'Tester' };

/** Everything about prompt injection. */
export function FirewallPage() {
  const [tab] = useQueryState('tab', parseAsStringLiteral(TABS).withDefault('policies'));
  return (
    <Page>
      <PageHeader
        title="Firewall"
        description="Built-in rules look for prompt injection in every call and warn. A policy adds your own rules and can block."
      />
      <TabLinks
        label="Firewall"
        tabs={TABS.map((one) => ({ href: one === 'policies' ? '?' : `?tab=${one}`, label: LABELS[one], active: one === tab }))}
      />
      {tab === 'policies' && <FirewallPolicies />}
      {tab === 'rules' && <FirewallRules />}
      {tab === 'hits' && <FirewallHits />}
      {tab === 'tester' && <FirewallTester />}
    </Page>
  );
}
