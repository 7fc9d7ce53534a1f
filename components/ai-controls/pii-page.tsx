'use client';

import { parseAsStringLiteral, useQueryState } from 'nuqs';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyTab } from '#components/ui/lazy.tsx';
import { TabLinks } from '#components/ui/tabs.tsx';
import { PiiPolicies } from './pii-policies.tsx';

const Recognizers = lazyTab(() => import('./recognizers.tsx').then((module) => module.Recognizers));
const BuiltIns = lazyTab(() => import('./built-ins.tsx').then((module) => module.BuiltIns));
const Packs = lazyTab(() => import('./packs.tsx').then((module) => module.Packs));
const PiiTester = lazyTab(() => import('./pii-tester.tsx').then((module) => module.PiiTester));

const TABS = ['policies', 'recognizers', 'built-in', 'packs', 'tester'] as const;
const LABELS = { policies: 'Policies', recognizers: 'Recognizers', 'built-in': 'Built-in', packs: 'Compliance packs', tester: 'Tester' };

/** Everything about personal data in prompts and answers. */
export function PiiPage() {
  const [tab] = useQueryState('tab', parseAsStringLiteral(TABS).withDefault('policies'));
  return (
    <Page>
      <PageHeader
        title="PII"
        description="Personal data is replaced before a provider sees it and restored in the answer. Built-in detectors run on every call."
      />
      <TabLinks
        label="PII"
        tabs={TABS.map((one) => ({ href: one === 'policies' ? '?' : `?tab=${one}`, label: LABELS[one], active: one === tab }))}
      />
      {tab === 'policies' && <PiiPolicies />}
      {tab === 'recognizers' && <Recognizers />}
      {tab === 'built-in' && <BuiltIns />}
      {tab === 'packs' && <Packs />}
      {tab === 'tester' && <PiiTester />}
    </Page>
  );
}
