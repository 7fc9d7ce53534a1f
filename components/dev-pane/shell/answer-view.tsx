'use client';

import { CopyButton } from '#components/ui/copy.tsx';
import { textLink } from '#components/ui/layout.tsx';
import { Scroll } from '#components/ui/scroll.tsx';
import { Time } from '#components/ui/time.tsx';
import { ClickableText } from './clickable-text.tsx';
import { columnsOf, lineOf, type Row, type Shown } from './output.ts';
import { isId } from './resource-names.ts';

/** More is too long to look at here; it is copied whole. */
const MOST_TEXT = 20_000;

type Props = { shown: Shown; as: 'table' | 'json'; status: number; ms: number; onId: (id: string) => void; onType: (line: string) => void };

/** An answer as a table, as names and values, or as the JSON it is. An id opens the inspector. */
export function AnswerView({ shown, as, status, ms, onId, onType }: Props) {
  const { rows, data, warnings, more, text } = shown;
  const isPlain = as === 'json' || typeof data !== 'object' || data === null || (Array.isArray(data) && !rows);
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      {isPlain ? (
        <Json text={text} />
      ) : rows ? (
        rows.length > 0 && <Table rows={rows} onId={onId} />
      ) : (
        <Members row={data as Row} onId={onId} />
      )}
      {warnings.map((warning) => (
        <p key={warning} className="text-warn-ink">
          {warning}
        </p>
      ))}
      <p className="text-ink-3">
        {more && !isPlain && (
          <>
            <ClickableText text={more} onType={onType} />
            {' · '}
          </>
        )}
        {status} in <span className="figures">{Math.round(ms)}</span> ms
      </p>
    </div>
  );
}

function Json({ text }: { text: string }) {
  return (
    <div className="relative rounded-md border border-line-strong bg-surface">
      <CopyButton value={text} label="response" className="absolute top-1 right-1" />
      <Scroll as="pre" className="max-h-80 overflow-auto whitespace-pre-wrap break-words px-3 py-2 pr-10 font-mono">
        {text.slice(0, MOST_TEXT)}
      </Scroll>
      {text.length > MOST_TEXT && <p className="border-line border-t px-3 py-1 text-ink-3">Truncated. Copy to get the full response.</p>}
    </div>
  );
}

function Table({ rows, onId }: { rows: readonly Row[]; onId: (id: string) => void }) {
  const columns = columnsOf(rows);
  return (
    <Scroll role="group" aria-label="Rows" className="overflow-x-auto">
      <table className="font-mono">
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col" className="whitespace-nowrap pr-5 text-left font-medium text-ink-3">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: an answer never changes once it is here.
            <tr key={i}>
              {columns.map((name) => (
                <td key={name} className="max-w-72 truncate whitespace-nowrap pr-5 align-top">
                  <Value name={name} value={row[name]} onId={onId} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function Members({ row, onId }: { row: Row; onId: (id: string) => void }) {
  return (
    <dl className="grid gap-x-4 font-mono sm:grid-cols-[auto_minmax(0,1fr)]">
      {Object.entries(row).map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-ink-3">{name}</dt>
          <dd className="min-w-0 whitespace-pre-wrap break-words max-sm:pb-1 max-sm:pl-4">
            <Value name={name} value={value} onId={onId} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Value({ name, value, onId }: { name: string; value: unknown; onId: (id: string) => void }) {
  const line = lineOf(value);
  if (line === undefined)
    return (
      <Scroll as="pre" className="max-h-40 overflow-auto whitespace-pre-wrap break-words rounded-sm bg-subtle px-2 font-mono">
        {JSON.stringify(value, null, 2)}
      </Scroll>
    );
  if (typeof value === 'string' && isId(value) && /(?:^|_)id$/.test(name))
    return (
      <button type="button" onClick={() => onId(value)} aria-label={`Inspect ${value}`} className={`${textLink} min-h-6 text-left`}>
        {value}
      </button>
    );
  if (typeof value === 'string' && /(?:_at|^ts)$/.test(name) && !Number.isNaN(Date.parse(value)))
    return <Time value={value} format="datetime" />;
  return <span title={line.length > 40 ? line : undefined}>{line}</span>;
}
