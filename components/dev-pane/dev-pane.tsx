'use client';

import { Eraser, X } from 'lucide-react';
import { usePathname } from 'next/navigation';
import { useState } from 'react';
import { useListedOperations } from '#components/trpc/listed-operations.ts';
import { QueryError } from '#components/trpc/query-error.tsx';
import { forgetCalls, useRecordedCalls } from '#components/trpc/recorder.ts';
import { IconButton } from '#components/ui/button.tsx';
import { Edge } from '#components/ui/edge.tsx';
import { lazyTab } from '#components/ui/lazily.tsx';
import { Scroll } from '#components/ui/scroll.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import { CallDetails } from './call-details.tsx';
import { CallLine } from './call-line.tsx';
import { described, ofPage } from './described.ts';
import { Inspector } from './inspector.tsx';

const Shell = lazyTab(() => import('./shell/shell.tsx').then((module) => module.Shell));
const Keys = lazyTab(() => import('#components/shell/shortcut-sheet.tsx').then((module) => module.ShortcutList));

type Which = 'page' | 'failed' | 'all' | 'id' | 'shell' | 'keys';
/** What the pane shows besides calls. */
const ASIDE: ReadonlySet<Which> = new Set(['id', 'shell', 'keys']);

/** The calls this tab made, as anybody could make them with an API key: what a page does is never more than what the API does. */
export function DevPane({ height, onHeight, onClose }: { height: number; onHeight: (height: number) => void; onClose: () => void }) {
  const pathname = usePathname();
  const calls = useRecordedCalls();
  const [which, setWhich] = useState<Which>('page');
  const [chosen, setChosen] = useState<string>();
  // What the shell wrote stays while another tab is in front; before it was opened, not even its code is here.
  const [withShell, setWithShell] = useState(false);
  const [looked, setLooked] = useState('');
  const choose = (next: Which) => {
    setWhich(next);
    setWithShell(withShell || next === 'shell');
  };
  const operations = useListedOperations();
  const failed = calls.filter(({ error }) => error);
  const shown = which === 'page' ? ofPage(calls, pathname) : which === 'failed' ? failed : calls;
  const open = calls.find(({ key }) => key === chosen);
  const table = operations.data ?? [];
  return (
    <section
      aria-label="Developer pane"
      style={{ height: `${height.toString()}px` }}
      onKeyDown={(event) => {
        // Not of a dialog that was opened from here, which is elsewhere in the document.
        const isHere = event.currentTarget.contains(event.target as Node);
        if (event.key === 'Escape' && isHere && !event.defaultPrevented) onClose();
      }}
      className="sticky bottom-0 z-20 flex max-h-[80dvh] min-w-0 flex-col border-line-strong border-t bg-canvas"
    >
      <Edge side="top" label="Height of the developer pane" size={height} onSize={onHeight} least={160} most={0.8} />
      <header className="flex min-w-0 items-center gap-2 border-line border-b px-3 py-1.5 lg:px-5">
        <h2 className="font-medium text-sm max-sm:sr-only">Developer</h2>
        <div className="min-w-0 overflow-x-auto [scrollbar-width:none] [&_[role=radio]]:shrink-0 [&_[role=radio]]:whitespace-nowrap">
          <Segmented
            label="What the pane shows"
            size="sm"
            options={[
              { value: 'page', label: 'This page' },
              { value: 'failed', label: failed.length > 0 ? `Failed (${failed.length.toString()})` : 'Failed' },
              { value: 'all', label: 'All' },
              { value: 'id', label: 'Inspector' },
              { value: 'shell', label: 'Shell' },
              { value: 'keys', label: 'Keys' },
            ]}
            value={which}
            onValueChange={choose}
          />
        </div>
        <span className="ml-auto flex shrink-0">
          {!ASIDE.has(which) && <IconButton size="sm" label="Clear the list" icon={<Eraser />} onClick={forgetCalls} />}
          <IconButton size="sm" label="Close the developer pane" keys="escape" icon={<X />} onClick={onClose} />
        </span>
      </header>
      {withShell && (
        <div hidden={which !== 'shell'} className="flex min-h-0 flex-1 flex-col">
          <Shell
            active={which === 'shell'}
            onId={(id) => {
              setLooked(id);
              setWhich('id');
            }}
          />
        </div>
      )}
      {which === 'shell' ? null : which === 'keys' ? (
        <Scroll className="min-h-0 flex-1 overflow-y-auto p-4 lg:px-5">
          <Keys />
        </Scroll>
      ) : which === 'id' ? (
        <Inspector key={looked} start={looked} />
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
