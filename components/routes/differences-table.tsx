import type { ReactNode } from 'react';

export type DifferenceRow = { key: string; label: ReactNode; from: ReactNode; to: ReactNode; action?: ReactNode };

/** Two versions of the same settings beside each other, only where they differ. */
export function DifferencesTable({
  caption,
  from,
  to,
  rows,
  actions,
}: {
  caption: string;
  /** What the columns of values are called. */
  from: ReactNode;
  to: ReactNode;
  rows: readonly DifferenceRow[];
  /** Whether there is a column of actions. */
  actions?: boolean;
}) {
  return (
    <div className="relative overflow-x-auto">
      <table className="w-full text-left max-sm:table-fixed sm:min-w-140">
        <caption className="sr-only">{caption}</caption>
        <thead className="text-ink-3 text-xs">
          <tr>
            <th scope="col" className="py-1.5 pr-4 font-medium">
              Setting
            </th>
            <th scope="col" className="py-1.5 pr-4 font-medium">
              {from}
            </th>
            <th scope="col" className="py-1.5 pr-4 font-medium">
              {to}
            </th>
            {actions && (
              <th scope="col" className="max-sm:hidden">
                <span className="sr-only">Action</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.key} className="border-line border-t align-top">
              <th scope="row" className="py-2 pr-4 font-normal">
                {row.label}
              </th>
              <td className="py-2 pr-4 font-mono text-ink-2 text-xs [overflow-wrap:anywhere]">{row.from}</td>
              <td className="py-2 pr-4 font-mono text-xs [overflow-wrap:anywhere]">{row.to}</td>
              {actions && <td className="py-1 text-right max-sm:hidden">{row.action}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
