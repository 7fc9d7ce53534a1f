'use client';

import { useQuery } from '@tanstack/react-query';
import { parseAsStringLiteral, useQueryState } from 'nuqs';
import { Activity } from '#components/audit/activity-tab.ts';
import { Crumbs } from '#components/shell/crumbs.tsx';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Badge, Status } from '#components/ui/badge.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyTab } from '#components/ui/lazy.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { TabLinks } from '#components/ui/tabs.tsx';
import { triggerOf } from '#server/domain/workflows/definition.shared.ts';
import { EnabledSwitch } from './enabled-switch.tsx';
import { triggerText } from './trigger-text.ts';
import { stateOf } from './workflow-labels.ts';

const EditorTab = lazyTab(() => import('./editor-tab.tsx').then((module) => module.EditorTab));
const RunsTab = lazyTab(() => import('./runs-tab.tsx').then((module) => module.RunsTab));
const VersionsTab = lazyTab(() => import('./versions-tab.tsx').then((module) => module.VersionsTab));
const SettingsTab = lazyTab(() => import('./settings-tab.tsx').then((module) => module.SettingsTab));

const TABS = ['editor', 'runs', 'versions', 'activity', 'settings'] as const;
const LABELS = { editor: 'Editor', runs: 'Runs', versions: 'Versions', activity: 'Activity', settings: 'Settings' };

/** One workflow: its editor, its runs, what it was before. */
export function WorkflowView({ id }: { id: string }) {
  const trpc = useTRPC();
  const path = usePath();
  const [tab] = useQueryState('tab', parseAsStringLiteral(TABS).withDefault('editor'));
  const query = useQuery(trpc.workflows.get.queryOptions({ id }));
  const back = { href: path('/workflows'), label: 'Workflows' };
  const workflow = query.data;
  if (query.isError || !workflow)
    return (
      <Page>
        <PageHeader title="Workflow" back={back} />
        {query.isError ? <QueryError query={query} what="Workflow" /> : <Skeleton lines={6} label="Loading workflow" />}
      </Page>
    );
  const { state, label } = stateOf(workflow);
  return (
    <Page>
      <Crumbs crumbs={[{ label: workflow.name }]} />
      <PageHeader
        back={back}
        title={workflow.name}
        description={workflow.description ?? triggerText(triggerOf(workflow.definition)?.data?.config)}
        badges={
          <>
            <Status state={state}>{label}</Status>
            <Badge>Version {workflow.version}</Badge>
            {workflow.environment && <Badge>{workflow.environment}</Badge>}
          </>
        }
        actions={<EnabledSwitch workflow={workflow} />}
      >
        <p className="-mt-1 text-ink-3 text-xs">
          <CopyText value={workflow.id} label="ID" />
        </p>
      </PageHeader>
      <TabLinks
        label="Workflow"
        tabs={TABS.map((one) => ({ href: one === 'editor' ? '?' : `?tab=${one}`, label: LABELS[one], active: one === tab }))}
      />
      {workflow.disabled_reason === 'runaway' && (
        <Callout tone="bad" title="Sallyport disabled this workflow: it was started more than 600 times in a minute">
          Find out what starts it so often, narrow its trigger, and enable it again.
        </Callout>
      )}
      {workflow.disabled_reason === 'invalid_definition' && workflow.published_at !== null && (
        <Callout tone="bad" title="Sallyport disabled this workflow: its schedule can't be read">
          Correct the schedule of its trigger, and enable it again.
        </Callout>
      )}
      {tab === 'editor' && <EditorTab workflow={workflow} />}
      {tab === 'runs' && <RunsTab workflow={workflow} />}
      {tab === 'versions' && <VersionsTab workflow={workflow} />}
      {tab === 'activity' && <Activity resource_type="workflow" resource_id={workflow.id} />}
      {tab === 'settings' && <SettingsTab workflow={workflow} />}
    </Page>
  );
}
