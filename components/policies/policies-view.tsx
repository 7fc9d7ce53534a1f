'use client';

import { Plus } from 'lucide-react';
import { parseAsStringLiteral, useQueryState } from 'nuqs';
import { ForbiddenNote } from '#components/roles/forbidden-note.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { useHotkeys } from '#components/ui/hotkeys.ts';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyOverlay, lazyTab } from '#components/ui/lazy.tsx';
import { usePanel } from '#components/ui/panel.ts';
import { TabLinks } from '#components/ui/tabs.tsx';
import { PolicyList } from './policy-list.tsx';

const PolicySheet = lazyOverlay(
  () => import('./policy-sheet.tsx').then((module) => module.PolicySheet),
  ({ id }) => id !== null,
);
const TestAccess = lazyTab(() => import('./test-access.tsx').then((module) => module.TestAccess));

const VIEWS = ['policies', 'test'] as const;

/** Deny rules of the workspace, and what somebody may do under them. */
export function PoliciesView() {
  const forbidden = useForbidden('policy:list');
  const readOnly = useForbidden('policy:create');
  const [view, show] = useQueryState('view', parseAsStringLiteral(VIEWS).withDefault('policies'));
  const edit = usePanel('edit');
  useHotkeys([{ keys: 'c', label: 'New policy', group: 'List', run: () => readOnly || edit.open('new') }]);
  return (
    <Page className="max-w-6xl">
      <PageHeader
        title="Policies"
        description="Rules that take permissions away, whatever a role allows."
        actions={
          !forbidden && (
            <Button variant="primary" icon={<Plus />} keys="c" disabledReason={readOnly} onClick={() => edit.open('new')}>
              New policy
            </Button>
          )
        }
      >
        {!forbidden && (
          <TabLinks
            label="Views of policies"
            tabs={[
              { href: '?view=policies', label: 'Policies', active: view === 'policies', onSelect: () => void show('policies') },
              { href: '?view=test', label: 'Test access', active: view === 'test', onSelect: () => void show('test') },
            ]}
          />
        )}
      </PageHeader>
      {forbidden ? (
        <ForbiddenNote capability="policy:list" what="policies" />
      ) : view === 'test' ? (
        <TestAccess />
      ) : (
        <PolicyList onOpen={edit.open} />
      )}
      <PolicySheet id={edit.id} onClose={edit.close} />
    </Page>
  );
}
