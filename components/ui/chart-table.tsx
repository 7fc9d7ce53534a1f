import { grouped } from './numbers.ts';
import { Scroll } from './scroll.tsx';

export type ChartTableProps = {
  /** For screen readers: "calls by day". */
  caption: string;
  /** Over the names of the rows: "Day (UTC)". */
  corner: string;
  columns: readonly string[];
  rows: readonly { key: string; name: string; values: readonly number[] }[];
  /** How a number is written; in groups of three digits unless told otherwise. */
  figure?: (value: number) => string;
};

/** The numbers of a chart, for whoever cannot see or use the bars. */
export function ChartTable({ caption, corner, columns, rows, figure = grouped }: ChartTableProps) {
  return (
    <Scroll className="max-h-64 overflow-auto rounded-md border border-line-strong">
      <table className="figures w-full text-right text-xs">
        <caption className="sr-only">{caption}</caption>
        <thead className="sticky top-0 bg-subtle text-ink-3">
          <tr>
            <th scope="col" className="px-2 py-1 text-left font-medium">
              {corner}
            </th>
            {columns.map((label) => (
              <th key={label} scope="col" className="px-2 py-1 font-medium">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, name, values }) => (
            <tr key={key} className="border-line border-t">
              <th scope="row" className="whitespace-nowrap px-2 py-1 text-left font-normal">
                {name}
              </th>
              {columns.map((label, index) => (
                <td key={label} className="px-2 py-1">
                  {figure(values[index] ?? 0)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
