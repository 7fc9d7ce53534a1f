'use client';

import { Eraser, X } from 'lucide-react';
import { usePathname } from 'next/navigation';
import { useState } from 'react';
import { forgetCalls, useRecordedCalls } from '#components/trpc/recorder.ts';
import { IconButton } from '#components/ui/button.tsx';
import { lazyTab } from '#components/ui/lazy.tsx';
import { ResizeHandle } from '#components/ui/resize-handle.tsx';
import { Scroll } from '#components/ui/scroll.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import { Calls } from './calls.tsx';
import { ofPage } from './describe-call.ts';
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
  const failed = calls.filter(({ error }) => error);
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
      <ResizeHandle side="top" label="Developer pane height" size={height} onSize={onHeight} least={160} most={0.8} />
      <header className="flex min-w-0 items-center gap-2 border-line border-b px-3 py-1.5 lg:px-5">
        <h2 className="font-medium text-sm max-sm:sr-only">Developer</h2>
        <div className="min-w-0 overflow-x-auto [scrollbar-width:none] [&_[role=radio]]:shrink-0 [&_[role=radio]]:whitespace-nowrap">
          <Segmented
            label="View"
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
          {!ASIDE.has(which) && <IconButton size="sm" label="Clear" icon={<Eraser />} onClick={forgetCalls} />}
          <IconButton size="sm" label="Close developer pane" keys="escape" icon={<X />} onClick={onClose} />
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
      {which === 'id' && <Inspector key={looked} start={looked} />}
      {which === 'keys' && (
        <Scroll className="min-h-0 flex-1 overflow-y-auto p-4 lg:px-5">
          <Keys />
        </Scroll>
      )}
      {!ASIDE.has(which) && (
        <Calls
          calls={which === 'page' ? ofPage(calls, pathname) : which === 'failed' ? failed : calls}
          none={which === 'failed' ? 'No failed calls in this tab.' : 'No calls yet. They appear here as the page makes them.'}
          chosen={chosen}
          onChoose={setChosen}
        />
      )}
    </section>
  );
}
