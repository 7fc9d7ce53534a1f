'use client';

import { Eraser, X } from 'lucide-react';
import { usePathname } from 'next/navigation';
import { useRef, useState } from 'react';
import { useListedOperations } from '#components/trpc/listed-operations.ts';
import { QueryError } from '#components/trpc/query-error.tsx';
import { forgetCalls, useRecordedCalls } from '#components/trpc/recorder.ts';
import { IconButton } from '#components/ui/button.tsx';
import { Edge } from '#components/ui/edge.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import { CallDetails } from './call-details.tsx';
import { CallLine } from './call-line.tsx';
import { described, ofPage } from './described.ts';
import { Inspector } from './inspector.tsx';

type Which = 'page' | 'failed' | 'all' | 'id';

/** The calls this tab made, as anybody could make them with an API key: what a page does is never more than what the API does. */
export function DevPane({ height, onHeight, onClose }: { height: number; onHeight: (height: number) => void; onClose: () => void }) {
  const pathname = usePathname();
  const calls = useRecordedCalls();
  const [which, setWhich] = useState<Which>('page');
  const [chosen, setChosen] = useState<string>();
  const pane = useRef<HTMLElement>(null);
  const operations = useListedOperations();
  const failed = calls.filter(({ error }) => error);
  const shown = { page: ofPage(calls, pathname), failed, all: calls, id: [] }[which];
  const open = calls.find(({ key }) => key === chosen);
  const table = operations.data ?? [];
  return (
    <section
      ref={pane}
      aria-label="Developer pane"
      style={{ height: `${height.toString()}px` }}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && !event.defaultPrevented) onClose();
      }}
      className="sticky bottom-0 z-20 flex max-h-[80dvh] min-w-0 flex-col border-line-strong border-t bg-canvas"
    >
      <Edge side="top" label="Height of the developer pane" size={height} onSize={onHeight} least={160} most={0.8} />
      <header className="flex min-w-0 flex-wrap items-center gap-2 border-line border-b px-3 py-1.5 lg:px-5">
        <h2 className="font-medium text-sm max-sm:sr-only">Developer</h2>
        <Segmented
          label="What the pane shows"
          size="sm"
          options={[
            { value: 'page', label: 'This page' },
            { value: 'failed', label: failed.length > 0 ? `Failed (${failed.length.toString()})` : 'Failed' },
            { value: 'all', label: 'All' },
            { value: 'id', label: 'Inspector' },
          ]}
          value={which}
          onValueChange={setWhich}
        />
        <span className="ml-auto flex">
          {which !== 'id' && <IconButton size="sm" label="Clear the list" icon={<Eraser />} onClick={forgetCalls} />}
          <IconButton size="sm" label="Close the developer pane" keys="escape" icon={<X />} onClick={onClose} />
        </span>
      </header>
      {which === 'id' ? (
        <Inspector />
      ) : operations.error && !operations.data ? (
        <div className="overflow-y-auto p-4">
          <QueryError query={operations} what="What the calls are called in the API" />
        </div>
      ) : (
        <div className="min-h-0 flex-1 max-md:overflow-y-auto md:grid md:grid-cols-[minmax(0,2fr)_minmax(0,3fr)]">
          {/* biome-ignore lint/a11y/useSemanticElements: a section would add a landmark inside a landmark. */}
          <div role="group" aria-label="Calls, newest first" className="min-h-0 border-line md:overflow-y-auto md:border-r">
            {shown.length === 0 && (
              <p className="px-5 py-6 text-ink-3 text-sm">
                {which === 'failed'
                  ? 'No call failed since this tab was opened.'
                  : 'Nothing yet: calls appear here as the page makes them.'}
              </p>
            )}
            <ul>
              {shown.map((call) => (
                <li key={call.key}>
                  <CallLine
                    call={call}
                    line={described(call, table)}
                    open={call.key === open?.key}
                    onOpen={() => setChosen(call.key === open?.key ? undefined : call.key)}
                  />
                  {call.key === open?.key && (
                    <div className="border-line border-b md:hidden">
                      <CallDetails call={call} line={described(call, table)} />
                    </div>
                  )}
                </li>
              ))}
            </ul>
          </div>
          <div className="min-h-0 overflow-y-auto max-md:hidden">
            {open ? (
              <CallDetails call={open} line={described(open, table)} />
            ) : (
              <p className="px-5 py-6 text-ink-3 text-sm">
                Choose a call to see it as code, to try it in the explorer, and to find what it left in the audit log.
              </p>
            )}
          </div>
        </div>
      )}
    </section>
  );
}
