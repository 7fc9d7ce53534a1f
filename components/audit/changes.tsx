import { Scroll } from '#components/ui/scroll.tsx';
import type { Change } from './entry-text.ts';

/** Field by field: what it was and what it became. Values that were withheld when written say so. */
export function Changes({ changes }: { changes: readonly Change[] }) {
  return (
    <Scroll
      as="section"
      aria-label="Changed fields, scrolls sideways"
      className="shrink-0 overflow-x-auto rounded-lg border border-line-strong"
    >
      <table className="w-full text-left text-xs">
        <caption className="sr-only">Changed fields</caption>
        <thead className="bg-subtle text-ink-3">
          <tr>
            <th scope="col" className="px-3 py-1.5 font-medium">
              Field
            </th>
            <th scope="col" className="px-3 py-1.5 font-medium">
              Before
            </th>
            <th scope="col" className="px-3 py-1.5 font-medium">
              After
            </th>
          </tr>
        </thead>
        <tbody>
          {changes.map((change) => (
            <tr key={change.field} className="border-line border-t align-top">
              <th scope="row" className="whitespace-nowrap px-3 py-1.5 font-mono font-normal">
                {change.field}
              </th>
              {change.changed ? (
                <td colSpan={2} className="px-3 py-1.5 text-ink-3">
                  changed; the values are not recorded
                </td>
              ) : (
                <>
                  <Value value={change.from} look="text-bad-ink line-through decoration-bad-line" />
                  <Value value={change.to} look="text-good-ink" />
                </>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function Value({ value, look }: { value: unknown; look: string }) {
  const none = value === null || value === undefined || value === '';
  return (
    <td className={`px-3 py-1.5 font-mono [overflow-wrap:anywhere] ${none ? 'text-ink-3' : look}`}>
      {none ? (value === '' ? 'empty' : 'none') : typeof value === 'string' ? value : JSON.stringify(value)}
    </td>
  );
}
