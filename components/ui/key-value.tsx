import type { ReactNode } from 'react';
import { cn } from './cn.ts';
import { CopyText } from './copy.tsx';

export type KeyValueItem = {
  label: ReactNode;
  /** Undefined and null show as a dash. */
  value: ReactNode;
  /** Makes the value copy itself; the text that is copied. */
  copy?: string;
  hint?: ReactNode;
};

/** Facts of one object as a description list; two columns where there is room. */
export function KeyValueList({ items, columns = 1, className }: { items: readonly KeyValueItem[]; columns?: 1 | 2; className?: string }) {
  return (
    <dl className={cn('grid grid-cols-[minmax(0,1fr)] gap-x-8', columns === 2 && 'lg:grid-cols-2', className)}>
      {items.map((item, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: items are a fixed description of one object.
        <div key={index} className="flex min-h-9 items-start gap-4 border-line border-b py-1.5 last:border-b-0">
          <dt className="w-26 shrink-0 py-0.5 text-ink-3 sm:w-[min(10rem,38%)]">{item.label}</dt>
          <dd className="min-w-0 flex-1 py-0.5 [overflow-wrap:anywhere]">
            {item.copy === undefined ? (
              (item.value ?? <span className="text-ink-3">—</span>)
            ) : (
              <CopyText
                value={item.copy}
                display={typeof item.value === 'string' ? item.value : item.copy}
                label={typeof item.label === 'string' ? item.label : 'value'}
              />
            )}
            {item.hint && <p className="mt-0.5 text-ink-3 text-xs [&>a]:inline-block [&>a]:py-1">{item.hint}</p>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
