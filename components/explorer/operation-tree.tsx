'use client';

import { Lock, Search } from 'lucide-react';
import { useState } from 'react';
import { useScope } from '#components/trpc/provider.tsx';
import { cn } from '#components/ui/cn.ts';
import { Input } from '#components/ui/input.tsx';
import type { ApiOperation } from './document.ts';
import { forbiddenCall } from './forbidden.ts';

/** The operations by family, narrowed by what is typed. */
export function OperationTree({
  operations,
  chosen,
  onChoose,
}: {
  operations: readonly ApiOperation[];
  chosen: string;
  onChoose: (id: string) => void;
}) {
  const { role } = useScope();
  const [query, setQuery] = useState('');
  const wanted = query.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = operations.filter((op) => {
    const text = `${op.method} ${op.path} ${op.summary} ${op.id} ${op.tag}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
  return (
    <nav aria-label="Operations" className="flex min-w-0 flex-col gap-3">
      <Input
        icon={<Search aria-hidden />}
        aria-label="Filter operations"
        placeholder="Filter operations"
        value={query}
        onChange={(event) => setQuery(event.target.value)}
      />
      {shown.length === 0 && <p className="px-1 text-ink-3">No matching operations.</p>}
      {[...Map.groupBy(shown, ({ tag }) => tag)].map(([tag, list]) => (
        <div key={tag}>
          <h2 className="px-1 pb-1 font-medium text-ink-3 text-xs">{tag}</h2>
          <ul>
            {list.map((op) => (
              <li key={op.id}>
                <button
                  type="button"
                  aria-current={op.id === chosen ? 'true' : undefined}
                  onClick={() => onChoose(op.id)}
                  className={cn(
                    'flex w-full min-w-0 items-baseline gap-2 rounded-md px-1 py-1 text-left text-xs hover:bg-subtle',
                    op.id === chosen && 'bg-pressed/80 font-medium',
                  )}
                >
                  <span className="w-12 shrink-0 font-mono text-2xs text-ink-3">{op.method}</span>
                  <span className="min-w-0 flex-1 truncate" title={op.path}>
                    {op.summary}
                  </span>
                  {forbiddenCall(role, op) && (
                    <>
                      <Lock aria-hidden className="size-3 shrink-0 self-center text-ink-3" />
                      <span className="sr-only">, not available to your role</span>
                    </>
                  )}
                </button>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}
