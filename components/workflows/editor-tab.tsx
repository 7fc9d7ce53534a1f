'use client';

import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { EditorFrame } from './editor-frame.tsx';
import type { Detail } from './workflow-labels.ts';

/** The draft of a workflow on its canvas. */
export function EditorTab({ workflow }: { workflow: Detail }) {
  const trpc = useTRPC();
  // What is under edit must not be replaced by what somebody else saves: that is told as a conflict.
  const query = useQuery(
    trpc.workflows.draft.queryOptions({ id: workflow.id }, { staleTime: Number.POSITIVE_INFINITY, refetchOnMount: 'always' }),
  );
  if (query.isError) return <QueryError query={query} what="Draft" />;
  if (!query.data || !query.isFetchedAfterMount) return <Skeleton lines={10} label="Loading the draft" />;
  return <EditorFrame key={workflow.id} workflow={workflow} draft={query.data} />;
}
