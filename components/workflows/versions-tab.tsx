'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { History } from 'lucide-react';
import { parseAsInteger, useQueryStates } from 'nuqs';
import { useMemo } from 'react';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { Field } from '#components/ui/field.tsx';
import { SectionCard, Split } from '#components/ui/layout.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { Select } from '#components/ui/select.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { CanvasArea } from './canvas-area.tsx';
import { bothOf, definitionDiff } from './definition-diff.ts';
import { DiffLines } from './diff-lines.tsx';
import { type Document, documentOf } from './document.ts';
import type { StepMark } from './step-mark.tsx';
import type { Detail } from './workflow-labels.ts';

const PER_PAGE = 50;
const NOBODY: ReadonlySet<string> = new Set();

/** What the workflow was, version by version, and what a version changed, on the canvas and in words. */
export function VersionsTab({ workflow }: { workflow: Detail }) {
  const trpc = useTRPC();
  const [{ page, version, against }, setSearch] = useQueryStates({
    page: parseAsInteger.withDefault(1),
    version: parseAsInteger,
    against: parseAsInteger,
  });
  const list = useQuery(trpc.workflows.versions.queryOptions({ id: workflow.id, page, per_page: PER_PAGE }));
  if (list.isError) return <QueryError query={list} what="Versions" />;
  const versions = list.data?.data;
  if (!versions) return <Skeleton lines={8} label="Loading versions" />;
  const shown = versions.find((one) => one.version === version) ?? versions[0];
  if (!shown) return <p className="py-8 text-center text-ink-3">There are no versions yet. Publish the draft to make the first.</p>;
  const before = versions.find((one) => one.version === against) ?? versions[versions.indexOf(shown) + 1];
  const placeOf = (one: (typeof versions)[number]) => (page - 1) * PER_PAGE + versions.indexOf(one) + 1;
  return (
    <Split
      side={
        <SectionCard title="Versions" flush>
          <ul>
            {versions.map((one) => (
              <li key={one.version} className="border-line border-b last:border-b-0">
                <button
                  type="button"
                  aria-pressed={one.version === shown.version}
                  onClick={() => void setSearch({ version: one.version, against: null })}
                  className="flex w-full flex-col gap-0.5 px-4 py-2 text-left aria-pressed:bg-accent-soft hoverable:bg-subtle"
                >
                  <span className="flex items-center gap-2">
                    <b className="font-medium">Version {one.version}</b>
                    {one.live && <Badge tone="good">{workflow.enabled ? 'Active' : 'Current'}</Badge>}
                  </span>
                  <span className="text-ink-3 text-xs">
                    <Time value={one.created_at} /> {one.created_by ? `by ${one.created_by.name}` : 'by the API'}
                  </span>
                  {one.note && <span className="text-ink-2 text-xs [overflow-wrap:anywhere]">{one.note}</span>}
                </button>
              </li>
            ))}
          </ul>
          <Pagination
            noun="versions"
            meta={list.data?.meta}
            onPage={(next) => void setSearch({ page: next, version: null, against: null })}
          />
        </SectionCard>
      }
    >
      <SectionCard
        title={`Version ${shown.version}`}
        description={before ? `What changed since version ${before.version}.` : 'The first version.'}
        actions={<Restore workflow={workflow} version={shown.version} />}
      >
        <div className="flex flex-col gap-3">
          {versions.length > 1 && (
            <Field label="Compare with">
              <Select
                className="max-w-56"
                value={before ? before.version.toString() : null}
                placeholder="Nothing before it"
                options={versions
                  .filter((one) => one !== shown)
                  .map((one) => ({ value: one.version.toString(), label: `Version ${one.version}` }))}
                onValueChange={(value) => void setSearch({ against: Number(value) })}
              />
            </Field>
          )}
          <ComparedVersions
            workflow={workflow}
            before={before && { ...before, place: placeOf(before) }}
            after={{ ...shown, place: placeOf(shown) }}
          />
        </div>
      </SectionCard>
    </Split>
  );
}

type Version = { /** Its place in the list, from 1. */ place: number; definition: unknown };

function ComparedVersions({ workflow: { id, name }, before, after }: { workflow: Detail; before: Version | undefined; after: Version }) {
  const [then, now] = [useDefinition(id, before), useDefinition(id, after)];
  if ((before && then === undefined) || now === undefined) return <Skeleton lines={8} label="Loading the version" />;
  return <Compared before={then} after={now} name={name} />;
}

/** The definition of a version; one that its page left out is asked for alone. */
function useDefinition(id: string, version: Version | undefined): unknown {
  const trpc = useTRPC();
  const enabled = version?.definition === null;
  const alone = useQuery(trpc.workflows.versions.queryOptions({ id, page: version?.place ?? 1, per_page: 1 }, { enabled }));
  return enabled ? (alone.data?.data[0]?.definition ?? undefined) : version?.definition;
}

/** Two versions on one canvas: what came, what went, what changed. */
function Compared({ before, after, name }: { before: unknown; after: unknown; name: string }) {
  const { doc, diff, marks, edgeMarks } = useMemo(() => {
    const now = documentOf(after);
    const then: Document = before === undefined ? now : documentOf(before);
    const both = bothOf(then, now);
    const found = definitionDiff(then, now);
    return {
      doc: both,
      diff: found,
      marks: new Map<string, StepMark>(found.steps.map(({ id, change }) => [id, { diff: change }])),
      edgeMarks: new Map(found.edges.map(({ id, change }) => [change === 'removed' ? `before-${id}` : id, change] as const)),
    };
  }, [before, after]);
  return (
    <>
      <div className="flex h-96 overflow-hidden rounded-lg border border-line-strong bg-canvas">
        <CanvasArea
          doc={doc}
          label={`Changes of ${name}`}
          selected={NOBODY}
          onSelect={() => undefined}
          marks={marks}
          edgeMarks={edgeMarks}
        />
      </div>
      {before !== undefined && <DiffLines diff={diff} />}
    </>
  );
}

function Restore({ workflow, version }: { workflow: Detail; version: number }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const forbidden = useForbidden('workflow:update');
  const restore = useMutation(
    trpc.workflows.restore.mutationOptions({
      onError: (error) => notifyRefused(error),
      onSuccess: (draft) => {
        queryClient.setQueryData(trpc.workflows.draft.queryKey({ id: workflow.id }), draft);
        notifyDone(`Version ${version} is the draft now. Publish it to make it live.`);
      },
    }),
  );
  return (
    <Button
      size="sm"
      icon={<History />}
      loading={restore.isPending}
      disabledReason={forbidden}
      onClick={() => restore.mutate({ id: workflow.id, n: version.toString() })}
    >
      Restore as draft
    </Button>
  );
}
