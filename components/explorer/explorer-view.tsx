'use client';

import { parseAsString, useQueryStates } from 'nuqs';
import { useState } from 'react';
import { useScope } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Page, PageHeader, SectionCard } from '#components/ui/layout.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { CallForm } from './call-form.tsx';
import { type Draft, draftFromLink, emptyDraft } from './draft.ts';
import { History } from './history.tsx';
import { ImportedCall } from './imported-call.tsx';
import { OperationTree } from './operation-tree.tsx';
import { useOperations } from './use-explorer.ts';

const FIRST = 'routes.list';

/** Every operation of the Management API, to read, try as oneself, and copy as code. */
export function ExplorerView() {
  const { space } = useScope();
  const operations = useOperations();
  const [{ op: chosen, id, call, request }, set] = useQueryStates({
    op: parseAsString.withDefault(FIRST),
    id: parseAsString,
    call: parseAsString,
    request: parseAsString,
  });
  const [draft, setDraft] = useState<Draft>(id ? { ...emptyDraft, path: { id } } : emptyDraft);
  const [filledFrom, setFilledFrom] = useState<string | null>(null);
  const op = operations.data?.find((one) => one.id === chosen) ?? operations.data?.find((one) => one.id === FIRST);
  // A link fills the form once; what is typed afterwards stays.
  if (op && call !== filledFrom) {
    setFilledFrom(call);
    if (call !== null) setDraft(draftFromLink(op, call));
  }
  const choose = (next: string, filled: Draft = emptyDraft) => {
    setDraft(filled);
    void set({ op: next, id: null, call: null });
  };
  return (
    <Page>
      <PageHeader title="API explorer" description="Try Management API calls as yourself, and copy them as code." />
      {space === 'live' && <Callout tone="warn" title="You’re in Live. Changes affect live traffic and need confirmation." />}
      {operations.error && !operations.data ? (
        <QueryError query={operations} what="API description" />
      ) : !operations.data || !op ? (
        <Skeleton lines={8} label="Loading API" />
      ) : (
        <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-5 lg:grid-cols-[16rem_minmax(0,1fr)]">
          <div className="max-h-64 overflow-y-auto rounded-lg border border-line-strong bg-surface p-3 lg:sticky lg:top-16 lg:max-h-[calc(100dvh-6rem)]">
            <OperationTree operations={operations.data} chosen={op.id} onChoose={choose} />
          </div>
          <div className="flex min-w-0 flex-col gap-4">
            <ImportedCall
              requestId={request}
              operations={operations.data}
              onRequest={(next) => void set({ request: next })}
              onChoose={choose}
            />
            <SectionCard>
              <CallForm key={op.id} op={op} draft={draft} onDraft={setDraft} />
            </SectionCard>
            <SectionCard title="History">
              <History operations={operations.data} onChoose={choose} />
            </SectionCard>
          </div>
        </div>
      )}
    </Page>
  );
}
