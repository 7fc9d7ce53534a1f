'use client';

import { Download, KeyRound } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Button } from './button.tsx';
import { Checkbox } from './choices.tsx';
import { cn } from './cn.ts';
import { CopyButton } from './copy.tsx';
import { Dialog } from './dialog.tsx';
import { Scroll } from './scroll.tsx';

export type ShownOnceProps = {
  /** The value, or undefined when there is nothing to show. Keep it nowhere else: not in a query cache, not in a URL. */
  value: string | undefined;
  title: ReactNode;
  /** What it is: "API key". */
  label: string;
  /** Name of the downloaded file, e.g. `ci-key.txt`. */
  filename: string;
  description?: ReactNode;
  /** What to do with it next, e.g. a code block with the value's place left as a variable. */
  children?: ReactNode;
  /** Drop the value now. Called when the person says it is stored, when they navigate away, and after the tab was hidden for five minutes. */
  onGone: (why: 'stored' | 'left' | 'hidden') => void;
};

/** What everybody must know who is shown a value once. */
export const onceOnly = (label: string): string => `Copy the ${label} now. You won’t be able to see it again.`;

const HIDDEN_LIMIT_MS = 5 * 60_000;

/** A value that exists once. Neither Esc nor a click outside closes it, and afterwards nothing on the page still holds it. */
export function ShownOnce({ value, title, label, filename, description, children, onGone }: ShownOnceProps) {
  const [stored, setStored] = useState(false);
  const [seen, setSeen] = useState(value !== undefined);
  // Only whether there was a value is remembered, never the value.
  if ((value !== undefined) !== seen) {
    setSeen(value !== undefined);
    setStored(false);
  }
  useForgetting(value !== undefined, onGone);
  return (
    <Dialog
      open={value !== undefined}
      onOpenChange={() => undefined}
      dismissible={false}
      size="md"
      title={
        <span className="flex items-center gap-2">
          <KeyRound aria-hidden className="size-4.5 text-accent-ink" />
          {title}
        </span>
      }
      description={description ?? onceOnly(label)}
      footer={
        <Button
          variant="primary"
          disabledReason={stored ? undefined : 'Confirm that you saved it first.'}
          onClick={() => {
            // Another value may follow, which is another tick.
            setStored(false);
            onGone('stored');
          }}
        >
          Done
        </Button>
      }
    >
      {value !== undefined && (
        <>
          <div className="rounded-lg border border-line-strong bg-subtle">
            <Scroll
              as="pre"
              className={cn(
                'max-h-48 rounded-t-lg overflow-auto whitespace-pre-wrap break-all px-3 py-3 font-mono',
                value.includes('\n') ? 'text-2xs' : 'text-sm',
              )}
            >
              {value}
            </Scroll>
            <div className="flex gap-2 border-line border-t p-2">
              <CopyButton value={value} label={label} text="Copy" />
              <Button size="sm" icon={<Download />} onClick={() => download(value, filename)}>
                Download
              </Button>
            </div>
          </div>
          {children}
          <Checkbox checked={stored} onCheckedChange={setStored} label={`I saved the ${label} somewhere safe`} />
        </>
      )}
    </Dialog>
  );
}

/** Calls back when the value must go: the page is being left, or its tab stayed hidden too long. */
function useForgetting(active: boolean, onGone: ShownOnceProps['onGone']): void {
  const gone = useRef(onGone);
  useEffect(() => {
    gone.current = onGone;
  });
  useEffect(() => {
    if (!active) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const watch = () => {
      clearTimeout(timer);
      if (document.hidden) timer = setTimeout(() => gone.current('hidden'), HIDDEN_LIMIT_MS);
    };
    const leave = () => gone.current('left');
    document.addEventListener('visibilitychange', watch);
    // pagehide also runs when the page goes into the back-forward cache, where the value would come back to life.
    window.addEventListener('pagehide', leave);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', watch);
      window.removeEventListener('pagehide', leave);
    };
  }, [active]);
}

function download(value: string, filename: string): void {
  const url = URL.createObjectURL(new Blob([value, '\n'], { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = filename;
  link.click();
  URL.revokeObjectURL(url);
}
