import { cn } from '#components/ui/cn.ts';
import { counted } from '#components/ui/numbers.ts';
import { Scroll } from '#components/ui/scroll.tsx';
import type { ImportedOperation } from '#server/domain/import/schema.ts';

export type OperationListProps = {
  operations: readonly ImportedOperation[];
  /** With `onChoose` every operation is a button. */
  chosen?: ImportedOperation | undefined;
  onChoose?: (operation: ImportedOperation) => void;
};

/** Every operation of an imported description: method, path and summary. */
export function OperationList({ operations, chosen, onChoose }: OperationListProps) {
  return (
    <section aria-label="Operations" className="flex min-w-0 flex-col gap-1.5">
      <p className="text-ink-2 text-xs">{counted(operations.length, 'operation')}</p>
      <Scroll className="max-h-64 overflow-auto rounded-md border border-line-strong py-1">
        <ul>
          {operations.map((one) => {
            const row = <Row {...one} />;
            const look = 'flex w-full items-baseline gap-3 px-3 py-1 text-left text-xs';
            return (
              <li key={`${one.method} ${one.path}`}>
                {onChoose ? (
                  <button
                    type="button"
                    aria-pressed={one === chosen}
                    onClick={() => onChoose(one)}
                    className={cn(
                      look,
                      'focus-visible:-outline-offset-2',
                      one === chosen ? 'bg-subtle font-medium' : 'hoverable:bg-subtle',
                    )}
                  >
                    {row}
                  </button>
                ) : (
                  <span className={look}>{row}</span>
                )}
              </li>
            );
          })}
        </ul>
      </Scroll>
    </section>
  );
}

function Row({ method, path, summary }: ImportedOperation) {
  return (
    <>
      <span className="w-14 shrink-0 font-mono text-ink-2">{method}</span>
      <span className="min-w-0 break-all font-mono">{path}</span>
      {summary && <span className="ml-auto min-w-0 truncate text-ink-3 max-sm:hidden">{summary}</span>}
    </>
  );
}
