'use client';

import { cn } from '#components/ui/cn.ts';
import { type Document, outletOf } from './document.ts';
import { kindOf, outletsOf } from './step-kinds.ts';
import { StatusIcon, type StepMark } from './step-mark.tsx';
import { summaryOf } from './step-summary.ts';

type Props = {
  doc: Document;
  selected?: string | undefined;
  marks?: ReadonlyMap<string, StepMark>;
  onSelect: (id: string) => void;
};

/** The steps of a workflow as a list, in the order in which they run: on a phone, and until the canvas is there. */
export function StepList({ doc, selected, marks, onSelect }: Props) {
  return (
    <ol className="flex flex-col gap-1.5" aria-label="Steps">
      {inOrder(doc).map((step) => {
        const { label, icon: Icon } = kindOf(step.type);
        const mark = marks?.get(step.id);
        const ways = doc.edges.filter(({ source }) => source === step.id);
        return (
          <li key={step.id}>
            <button
              type="button"
              aria-pressed={selected === step.id}
              onClick={() => onSelect(step.id)}
              className={cn(
                'flex w-full items-center gap-3 rounded-lg border border-line-strong bg-surface px-3 py-2 text-left hoverable:border-line-control',
                selected === step.id && 'border-accent bg-accent-soft',
              )}
            >
              <Icon aria-hidden className="size-4 shrink-0 text-ink-2" />
              <span className="min-w-0 flex-1">
                <span className="block truncate font-medium">{step.name || label}</span>
                <span className="block truncate text-ink-2 text-xs">{mark?.detail ?? summaryOf(step)}</span>
                {ways.length > 0 && (
                  <span className="block truncate text-ink-3 text-xs">
                    {ways
                      .map((edge) => {
                        const outlet = outletsOf(step).find(({ id }) => id === outletOf(edge));
                        const target = doc.nodes.find(({ id }) => id === edge.target);
                        return `${outlet && outlet.id !== 'out' ? `${outlet.label} ` : ''}→ ${target?.name || target?.id || edge.target}`;
                      })
                      .join(', ')}
                  </span>
                )}
              </span>
              {mark?.status && <StatusIcon status={mark.status} />}
              {mark?.problems?.length ? <span className="text-bad-ink text-xs">{mark.problems.length}</span> : null}
            </button>
          </li>
        );
      })}
    </ol>
  );
}

/** From the trigger on, breadth first; what nothing leads to comes last. */
function inOrder(doc: Document) {
  const order: string[] = [];
  const open = doc.nodes.filter(({ id }) => !doc.edges.some(({ target }) => target === id)).map(({ id }) => id);
  for (const id of open) {
    if (order.includes(id)) continue;
    order.push(id);
    for (const edge of doc.edges) if (edge.source === id) open.push(edge.target);
  }
  const rest = doc.nodes.filter(({ id }) => !order.includes(id)).map(({ id }) => id);
  return [...order, ...rest].flatMap((id) => doc.nodes.find((step) => step.id === id) ?? []);
}
