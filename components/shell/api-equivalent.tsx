'use client';

import { Terminal } from 'lucide-react';
import { useState } from 'react';
import { lazyTab } from '#components/ui/lazy.tsx';
import type { ApiEquivalentProps } from './api-code.tsx';

const ApiCode = lazyTab(() => import('./api-code.tsx').then((module) => module.ApiCode));

/** "Do this with the API": the exact call a form makes, as a program of six languages. The key stays in the environment; for a secret the form gives a mark. */
export function ApiEquivalent(call: ApiEquivalentProps) {
  const { method, path } = call;
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)} className="group/api rounded-lg border border-line-strong bg-subtle">
      <summary className="flex h-9 cursor-pointer select-none items-center gap-2 rounded-lg px-3 text-ink-2 text-xs hover:text-ink">
        <Terminal aria-hidden className="size-3.5 shrink-0" /> <span className="shrink-0">API equivalent</span>
        <span className="ml-auto truncate font-mono text-ink-3">
          {method} {path}
        </span>
      </summary>
      {open && <ApiCode {...call} />}
    </details>
  );
}
