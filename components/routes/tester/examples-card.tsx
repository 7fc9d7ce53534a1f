'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { MoreHorizontal, Pencil, Play, Trash2 } from 'lucide-react';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Badge, Status } from '#components/ui/badge.tsx';
import { Button, IconButton } from '#components/ui/button.tsx';
import { Menu } from '#components/ui/dropdown-menu.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { counted } from '#components/ui/numbers.ts';
import { notifyDone } from '#components/ui/toaster.tsx';
import { type Example, type Run, useExamples } from './use-examples.ts';
import { Verdicts } from './verdicts.tsx';

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

type Props = {
  routeId: string;
  environment: string;
  /** Puts it into the form. */
  onOpen: (example: Example) => void;
};

/** Requests kept with the route, run with one press and judged by what they must hold (70 §11). */
export function ExamplesCard({ routeId, environment, onOpen }: Props) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { space } = useScope();
  const { list, runs, run, busy } = useExamples(routeId, environment);
  const remove = useMutation(
    trpc.routes.deleteExample.mutationOptions({
      onSuccess: () => {
        notifyDone('Example deleted');
        return cache.invalidateQueries(trpc.routes.examples.queryFilter({ id: routeId }));
      },
      onError: (error) => notifyRefused(error),
    }),
  );
  if (list.error && !list.data) return <QueryError query={list} what="Saved examples" />;
  const examples = list.data?.data ?? [];
  if (examples.length === 0) return null;
  // Nothing is written into a real system by a press that was meant for all of them.
  const together = space === 'live' ? examples.filter(({ method }) => READS.has(method)) : examples;
  const left = examples.length - together.length;
  return (
    <SectionCard
      flush
      title="Saved examples"
      description={
        left > 0
          ? `Run all skips ${left === 1 ? 'one example that writes' : `${left} examples that write`}. Run ${left === 1 ? 'it' : 'them'} individually.`
          : undefined
      }
      actions={
        <Button
          size="sm"
          icon={<Play />}
          loading={busy}
          disabledReason={together.length === 0 ? 'All examples write data. Run them individually.' : undefined}
          onClick={() => void run(together)}
        >
          Run all
        </Button>
      }
    >
      <ul aria-live="polite" className="divide-y divide-line">
        {examples.map((example) => (
          <li key={example.id} className="flex flex-col gap-2 px-4 py-2.5">
            <div className="flex min-w-0 items-center gap-2">
              <span className="min-w-0 flex-1">
                <button type="button" onClick={() => onOpen(example)} className="rounded-xs text-left font-medium hover:underline">
                  {example.name}
                </button>
                <span className="block truncate font-mono text-ink-3 text-xs">
                  {example.method} {example.path}
                </span>
              </span>
              <Outcome run={runs.get(example.id)} assertions={example.assertions.length} />
              <Button size="sm" icon={<Play />} disabled={busy} onClick={() => void run([example])}>
                Run<span className="sr-only"> {example.name}</span>
              </Button>
              <Menu
                trigger={<IconButton size="sm" label={`Actions for ${example.name}`} icon={<MoreHorizontal />} />}
                entries={[
                  { label: 'Open', icon: <Pencil />, onSelect: () => onOpen(example) },
                  {
                    label: 'Delete',
                    icon: <Trash2 />,
                    danger: true,
                    onSelect: () => remove.mutate({ id: routeId, exampleId: example.id }),
                  },
                ]}
              />
            </div>
            <Told run={runs.get(example.id)} />
          </li>
        ))}
      </ul>
    </SectionCard>
  );
}

function Outcome({ run, assertions }: { run: Run | 'running' | undefined; assertions: number }) {
  if (run === undefined) return <span className="text-ink-3 text-xs max-sm:hidden">{counted(assertions, 'assertion')}</span>;
  if (run === 'running') return <Status state="pending">Running</Status>;
  if (run.problem !== null) return <Status state="failing">Not sent</Status>;
  const failed = run.judged.filter(({ verdict }) => verdict === 'fails').length;
  const unknown = run.judged.filter(({ verdict }) => verdict === 'unknown').length;
  if (failed > 0) return <Status state="failing">{failed} failed</Status>;
  if (unknown > 0) return <Status state="pending">{unknown} not checked</Status>;
  return run.judged.length === 0 ? <Badge>{run.status ?? 'No response'}</Badge> : <Status state="ok">Passed</Status>;
}

function Told({ run }: { run: Run | 'running' | undefined }) {
  if (run === undefined || run === 'running') return null;
  if (run.problem !== null) return <p className="text-bad-ink">{run.problem}</p>;
  return run.judged.length > 0 ? <Verdicts judged={run.judged} /> : null;
}
