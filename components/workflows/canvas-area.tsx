'use client';

import { type ComponentType, lazy, Suspense } from 'react';
import { useSettled } from '#components/ui/use-settled.ts';
import type { CanvasProps } from './canvas.tsx';
import { StepList } from './step-list.tsx';

const Canvas: ComponentType<CanvasProps> = lazy(async () => ({ default: (await import('./canvas.tsx')).Canvas }));

/** The canvas, whose code comes once the page has settled; until then, and on a phone always, the steps as a list. */
export function CanvasArea(props: CanvasProps) {
  const settled = useSettled();
  const [chosen] = props.selected;
  const list = (
    <div className="min-w-0 flex-1 overflow-y-auto p-3">
      <StepList
        doc={props.doc}
        selected={chosen}
        {...(props.marks ? { marks: props.marks } : {})}
        onSelect={(id) => props.onSelect([id], [])}
      />
    </div>
  );
  if (!settled) return list;
  return (
    <>
      <div className="hidden min-w-0 flex-1 md:block">
        <Suspense fallback={list}>
          <Canvas {...props} />
        </Suspense>
      </div>
      <div className="flex min-w-0 flex-1 md:hidden">{list}</div>
    </>
  );
}
